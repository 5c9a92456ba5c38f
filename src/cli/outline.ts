import { version } from '../../package.json';
import { type Setting, settingTable } from '../config/setting-table.ts';
import { exitCodes } from '../problems/exit-codes.ts';
import type { JsonObject } from '../runs/json.ts';
import type { ArgumentDefinition, CommandDefinition, OptionDefinition, Options } from './define-command.ts';
import { longNameOf, namesOf } from './flags.ts';

const otherVariables = {
  RUNCTL_CI: '`0` turns off annotations, job summary and outputs in GitHub Actions',
  RUNCTL_IN_HOOK: 'set to 1 in commands that a hook runs; there, only hooks given by a flag are run',
  HTTPS_PROXY: 'proxy for reaching the service (default: ALL_PROXY)',
  NO_PROXY: 'hosts that need no proxy',
  NODE_EXTRA_CA_CERTS: 'a file of additional certificate authorities to trust',
  NO_COLOR: 'turns colors off',
  FORCE_COLOR: 'turns colors on, even in a pipe',
};

/** Everything that a command line may hold, as data, from the definitions that the parser uses. */
export function outlineOf(program: CommandDefinition): JsonObject {
  const settings = Object.entries<Setting>(settingTable);
  const variables = settings.flatMap(([setting, { env, about }]) => env.map((name) => ({ name, setting, about })));
  const others = Object.entries(otherVariables).map(([name, about]) => ({ name, setting: null, about }));
  return {
    version,
    commands: commandsOf(program),
    settings: settings.map(([key, { flag, env, isStored, default: fallback, about }]) => ({
      name: key,
      flag: flag?.split(' ')[0] ?? null,
      environment: [...env],
      isStored: isStored === true,
      default: fallback ?? null,
      about,
    })),
    environment: [...variables, ...others],
    exitCodes: exitCodes.map(({ code, name, meaning, advice }) => ({ code, outcome: name, meaning, advice })),
  };
}

/** The commands that can be run, each named with its group: `config set`. */
function commandsOf({ commands = [] }: CommandDefinition, group = ''): JsonObject[] {
  return commands.flatMap((command) => {
    const { name, alias, about, arguments: args = {}, options = {}, examples = [], run } = command;
    const path = group + name;
    const own = {
      name: path,
      alias: alias ?? null,
      about,
      arguments: Object.values(args).map(argumentJson),
      options: Object.values(options).map((option) => optionJson(option, options)),
      examples: examples.map(([line, about]) => ({ line, about })),
    };
    return [...(run ? [own] : []), ...commandsOf(command, `${path} `)];
  });
}

function argumentJson({ form, about, choices = [] }: ArgumentDefinition): JsonObject {
  return {
    name: form.replace(/[[\]<>.]/g, ''),
    isRequired: form.startsWith('<'),
    isRepeatable: form.includes('...'),
    choices: [...choices],
    about,
  };
}

/** The types of values by the names that help gives them. */
const types: Readonly<Record<string, string>> = { n: 'integer', number: 'number', factor: 'number' };

function optionJson(
  { flags, about, choices = [], refuses = [], needs = '' }: OptionDefinition,
  all: Options,
): JsonObject {
  const flagsOf = (names: readonly string[]) => names.flatMap((name) => (all[name] ? longNameOf(all[name]) : []));
  const names = namesOf({ flags, about });
  const [, value] = /<([^>]+)>/.exec(flags) ?? [];
  const [, fallback] = /\(default: ([^;)]+)/.exec(about) ?? [];
  return {
    name: names.at(-1) ?? '',
    short: names.length > 1 ? (names[0] ?? null) : null,
    type: value === undefined ? 'boolean' : choices.length > 0 ? 'choice' : (types[value] ?? value),
    choices: [...choices],
    default: fallback ?? null,
    isRepeatable: about.includes('(repeatable)'),
    refuses: flagsOf(refuses),
    needs: flagsOf([needs])[0] ?? null,
    about,
  };
}
