import { Command } from 'commander';
import { define } from '../cli/command.ts';
import type { CommandContext } from '../context.ts';
import type { CommandResult } from '../output/command-result.ts';
import { renderFields } from '../output/fields.ts';
import type { Theme } from '../output/theme.ts';
import { infoOutcome } from '../run/outcome.ts';
import { usageProblem } from '../run/problem.ts';
import { plainSentence } from '../run/quote.ts';
import { readConfigFile } from '../settings/config-file.ts';
import { resolveConfigFile, resolveStateFolder } from '../settings/folders.ts';
import { requireConfigFile, shortSource } from '../settings/profile.ts';
import { maskSecrets, resolveForDisplay, type SettingFlags } from '../settings/resolve.ts';
import {
  configSettingNames,
  parseConfigSettingName,
  type Resolved,
  settingTable,
  usageOf,
} from '../settings/table.ts';
import type { JsonObject } from '../system/json.ts';
import { sanitizeLine } from '../system/sanitize.ts';
import { configSet, configUnset, warnOfOverridden } from './config-change.ts';

const keyHelp = configSettingNames.join(', ');
const whenMissing = () => `settings: ${keyHelp}`;

const getCommand = define(
  new Command('get').description('print a setting').argument('<key>', keyHelp),
  {
    whenMissing,
    run: ([key], options, context) => configGet(key, options, context),
  },
);

const setCommand = define(
  new Command('set')
    .description('store a setting; `set apiKey` asks for it, or reads it from a pipe')
    .argument('<key>', keyHelp)
    .argument('[value]', 'what to store'),
  {
    whenMissing,
    whenExcess: 'put quotes around a value that has spaces',
    run: ([key, value], options, context) => configSet(key, value, options, context),
  },
);

const unsetCommand = define(
  new Command('unset').description('remove a stored setting').argument('<key>', keyHelp),
  {
    whenMissing,
    run: ([key], options, context) => configUnset(key, options, context),
  },
);

const listCommand = define(
  new Command('list').description('show every setting and where it comes from'),
  {
    run: (_, options, context) => configList(options, context),
  },
);

const pathCommand = define(
  new Command('path').description(
    'print the path of the config file, and the folder of the journal',
  ),
  { run: (_, __, context) => configPath(context) },
);

const command = new Command('config')
  .description('set up runctl: enter the settings and check them')
  .helpCommand('help [command]', 'show help for a command')
  .addCommand(getCommand)
  .addCommand(setCommand)
  .addCommand(unsetCommand)
  .addCommand(listCommand)
  .addCommand(pathCommand);

export const config = define(command, {
  examples: [
    ['runctl config', 'enter the settings and check them'],
    ['runctl config set apiKey < key.txt', 'store the API key from a file'],
    [
      'runctl config set baseUrl https://staging.example.com --profile staging',
      'store a setting in another profile',
    ],
    ['runctl config list', 'show every setting and where it comes from'],
  ],
  run: (_, options, context) => setUp(options, context),
});

/** `runctl config` alone: asks for the settings, stores and tries them. Returns the exit code. */
export async function setUp(options: SettingFlags, context: CommandContext): Promise<number> {
  const { askSettings, trySettings } = await import('./config-setup.ts');
  const stored = await askSettings(options, context);
  await warnOfOverridden(stored, options, context);
  return trySettings(options, context);
}

/** `runctl config get <key>`: the current value of a setting. An API key is masked. */
async function configGet(
  name: string,
  options: SettingFlags,
  context: CommandContext,
): Promise<CommandResult> {
  const key = parseConfigSettingName(name);
  const { [key]: setting } = maskSecrets(await resolveForDisplay(options, context));
  if (setting.problem) throw setting.problem;
  const { text } = setting;
  if (text === undefined) {
    const hint = `set ${settingTable[key].env[0]}, or store it: \`runctl config set ${usageOf(key)}\``;
    throw usageProblem(`${key} is not set`, hint);
  }
  return {
    outcomes: [infoOutcome({ config: { [key]: documentOfSetting(setting) } })],
    forPeople: { raw: text },
  };
}

/** `runctl config list`: every setting and where it comes from. An API key is masked. */
async function configList(options: SettingFlags, context: CommandContext): Promise<CommandResult> {
  const shown = maskSecrets(await resolveForDisplay(options, context));
  const settings = Object.entries(shown);
  const document = Object.fromEntries(
    settings.map(([name, setting]) => [name, documentOfSetting(setting)]),
  );
  const rowsOf = (theme: Theme) =>
    settings.map(([name, setting]) => [name, settingText(setting, theme)] as const);
  const { config } = readConfigFile(resolveConfigFile(context.env));
  const others = Object.keys(config.profiles ?? {}).filter((name) => name !== shown.profile.value);
  return {
    outcomes: [infoOutcome({ config: document })],
    forPeople: {
      text: (theme, lines) => renderFields(rowsOf(theme), theme, lines),
      note:
        others.length > 0
          ? `Other profiles: ${others.join(', ')} (choose one with \`--profile\`).`
          : undefined,
    },
  };
}

function documentOfSetting({ text, source, problem }: Resolved): JsonObject {
  return {
    value: text ?? null,
    source: source ?? null,
    problem: problem && plainSentence(problem.message),
  };
}

function settingText({ text, source, problem }: Resolved, theme: Theme): string {
  if (problem) return theme.bad(`refused: ${sanitizeLine(problem.message)}`);
  if (text === undefined) return theme.dim('not set');
  return `${sanitizeLine(text)} ${theme.dim(`(${sanitizeLine(shortSource(source))})`)}`;
}

/**
 * `runctl config path`: the path of the config file and the folder of the journal, whether or not
 * they exist.
 */
async function configPath(context: CommandContext): Promise<CommandResult> {
  const path = requireConfigFile(context);
  const journal = resolveStateFolder(context.env);
  const lines = journal === undefined ? [path] : [path, journal];
  return {
    outcomes: [infoOutcome({ config: { path, journal } })],
    forPeople: { raw: lines.join('\n') },
  };
}
