import type { CommandUnknownOpts, Option } from 'commander';
import { documentSchema } from '../src/output/schemas.ts';
import { program } from '../src/program.ts';
import { exitCodes } from '../src/run/exit-codes.ts';
import { type Setting, settingTable } from '../src/settings/table.ts';

const document = documentSchema as Shape;
// The other fields are the service's.
const { runctl = {}, executionId = {}, projectId = {}, automationName = {} } = document.properties ?? {};

/** What every 1.x keeps (docs/reference.md, Stability), one fact per line. */
export const stableSurface = (): string[] => [
  ...program.options.flatMap((option) => ofOption(option, 'runctl')),
  ...program.commands
    .filter((command) => command.name() !== 'agent')
    .flatMap((command) => ofCommand(command, 'runctl')),
  ...Object.entries<Setting>(settingTable).flatMap(([key, { env, isStored }]) => [
    ...env.map((variable) => `variable ${variable}`),
    ...(isStored ? [`config key ${key}`] : []),
  ]),
  ...variables.map((name) => `variable ${name}`),
  ...exitCodes.map(({ code, outcome, repeat }) => `exit code ${code} ${outcome}, repeat: ${repeat}`),
  ...ofShape('document', { ...document, properties: { runctl, executionId, projectId, automationName } }),
];

/** Variables that are no settings: what hooks get. */
const variables = ['EXIT_CODE', 'OUTCOME', 'STARTED', 'STATUS', 'EXECUTION_ID', 'AUTOMATION', 'COMMAND'].map(
  (name) => `RUNCTL_${name}`,
);

function ofCommand(command: CommandUnknownOpts, above: string): string[] {
  const line = `${above} ${command.name()}`;
  // The name of a value may change: `<duration>` is `<>`.
  const forms = command.registeredArguments.map(({ required, variadic }) => {
    const dots = variadic ? '...' : '';
    return required ? `<${dots}>` : `[${dots}]`;
  });
  return [
    [line, ...forms].join(' '),
    ...command.aliases().map((alias) => `${above} ${alias}`),
    ...command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices.map((choice) => `${line} ${choice}`)),
    ...command.options.flatMap((option) => ofOption(option, line)),
    ...command
      .createHelp()
      .visibleCommands(command)
      .flatMap((inner) => ofCommand(inner, line)),
  ];
}

function ofOption({ short, long, required, argChoices = [] }: Option, line: string): string[] {
  const names = [short, long].filter((name) => name !== undefined);
  return [
    ...names.map((name) => `${line} ${name}${required ? ' <>' : ''}`),
    ...argChoices.map((choice) => `${line} ${long} ${choice}`),
  ];
}

interface Shape {
  type?: string | string[];
  enum?: (string | number)[];
  const?: string | number;
  items?: Shape;
  anyOf?: Shape[];
  properties?: Record<string, Shape>;
  required?: string[];
  additionalProperties?: Shape;
}

/** `?`: the field may be absent. */
function ofShape(path: string, shape: Shape): string[] {
  const { type = [], items, anyOf = [], properties = {}, required = [], additionalProperties } = shape;
  const types = [type].flat().filter((each) => each !== 'object' && each !== 'array');
  return [
    ...(types.length > 0 ? [`${path}: ${types.join(' or ')}`] : []),
    ...[shape.const ?? [], shape.enum ?? []].flat().map((value) => `${path} = ${value}`),
    ...(items ? ofShape(`${path}[]`, items) : []),
    ...(additionalProperties ? ofShape(`${path}.*`, additionalProperties) : []),
    ...anyOf.flatMap((each) => ofShape(path, each)),
    ...Object.entries(properties).flatMap(([name, each]) =>
      ofShape(`${path}.${name}${required.includes(name) ? '' : '?'}`, each),
    ),
  ];
}
