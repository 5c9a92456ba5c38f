import { namesOf } from '../src/cli/check-flags.ts';
import type { CommandDefinition } from '../src/cli/define-command.ts';
import { documentSchema } from '../src/output/schemas.ts';
import { program } from '../src/program.ts';
import { exitCodes } from '../src/run/exit-codes.ts';
import { type Setting, settingTable } from '../src/settings/table.ts';

const document = documentSchema as Shape;
// The other fields are the service's.
const { runctl = {}, executionId = {}, projectId = {}, automationName = {} } = document.properties ?? {};

/** What every 1.x keeps (docs/reference.md, Stability), one fact per line. */
export const stableSurface = (): string[] => [
  ...(program.commands ?? []).filter(({ name }) => name !== 'agent').flatMap((command) => ofCommand(command, 'runctl')),
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

function ofCommand(
  { name, alias, arguments: args = {}, options = {}, commands = [] }: CommandDefinition,
  above: string,
) {
  const line = `${above} ${name}`;
  // The name of a value may change: `<duration>` is `<>`.
  const forms = Object.values(args).map(({ form }) => form.replaceAll(/[\w-]+/g, ''));
  const lines: string[] = [[line, ...forms].join(' '), ...(alias ? [`${above} ${alias}`] : [])];
  for (const { choices = [] } of Object.values(args)) lines.push(...choices.map((choice) => `${line} ${choice}`));
  for (const option of Object.values(options)) {
    const value = option.flags.includes('<') ? ' <>' : '';
    for (const flag of namesOf(option)) lines.push(`${line} ${flag}${value}`);
    lines.push(...(option.choices ?? []).map((choice) => `${line} ${namesOf(option).at(-1)} ${choice}`));
  }
  for (const inner of commands) lines.push(...ofCommand(inner, line));
  return lines;
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
