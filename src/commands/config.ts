import { argument, defineCommand, flag, option } from '../cli/define-command.ts';
import { groupHelp } from '../cli/help.ts';
import { settingOptions } from '../cli/options.ts';
import { readApiKeyInput } from '../config/api-key.ts';
import { type ConfigFile, readConfigFile } from '../config/config-file.ts';
import { checkProfileName, chooseProfile, sourceOf, storedProfile } from '../config/profile.ts';
import {
  defaultProfile,
  parseSetting,
  parseSettingKey,
  type Resolved,
  type StoredKey,
  settingKeys,
  settingTable,
  valueIfGiven,
} from '../config/setting-table.ts';
import { maskSecrets, resolveSettings, type SettingFlags } from '../config/settings.ts';
import { changeConfig, requireConfigFile, storeInProfile, withProfile } from '../config/store-profile.ts';
import type { Context } from '../context.ts';
import { usageProblem } from '../problems/problem.ts';
import { quote } from '../problems/quote.ts';
import { documentOf } from '../render/document.ts';
import { fields } from '../render/fields.ts';
import { printData, printDocuments, printSentence, themeOf, wrapOptionsOf } from '../render/output.ts';
import { cleanLine } from '../render/sanitize.ts';
import type { Theme } from '../render/theme.ts';
import type { JsonObject } from '../runs/json.ts';

const profileOptions = { profile: option('--profile <name>', 'profile to read or write') };
const json = flag('--json', 'print one JSON document');
const keyArgument = argument('<key>', settingKeys.join(', '));

const getCommand = defineCommand({
  name: 'get',
  about: 'print a setting',
  arguments: { key: keyArgument },
  options: { ...profileOptions, json },
  run: ({ key }, options, context) => configGet(key, options, context),
});

const setCommand = defineCommand({
  name: 'set',
  about: 'store a setting; `set apiKey` asks for it, or reads it from a pipe',
  arguments: { key: keyArgument, value: argument('[value]') },
  options: profileOptions,
  run: ({ key, value }, options, context) => configSet(key, value, options, context),
});

const unsetCommand = defineCommand({
  name: 'unset',
  about: 'remove a stored setting',
  arguments: { key: keyArgument },
  options: profileOptions,
  run: ({ key }, options, context) => configUnset(key, options, context),
});

const listCommand = defineCommand({
  name: 'list',
  about: 'show every setting in force and where it comes from',
  options: { json, ...settingOptions },
  run: (_, options, context) => configList(options, context),
});

const pathCommand = defineCommand({
  name: 'path',
  about: 'print the path of the config file',
  options: { json },
  run: (_, options, context) => configPath(options, context),
});

export const config = defineCommand({
  name: 'config',
  about: 'set up runctl: asks for the settings and checks them',
  options: profileOptions,
  examples: [
    ['runctl config', 'asks for everything that is needed, and checks it'],
    ['runctl config set apiKey < key.txt', 'stores the API key that is in a file'],
    ['runctl config set baseUrl https://staging.example.com --profile staging', 'stores a setting in another profile'],
    ['runctl config list', 'shows every setting in force and where it comes from'],
  ],
  commands: [getCommand, setCommand, unsetCommand, listCommand, pathCommand, groupHelp],
  async run(_, options, context) {
    const { askSettings, trySettings } = await import('./config-setup.ts');
    const stored = await askSettings(options, context);
    await warnOfOverrides(stored, options, context);
    return trySettings(options, context);
  },
});

export interface ConfigOptions extends SettingFlags {
  json?: boolean;
}

/** `runctl config get <key>`: the setting in force; a key masked. */
export async function configGet(name: string, options: ConfigOptions, context: Context): Promise<number> {
  const key = parseSettingKey(name);
  const { [key]: setting } = maskSecrets(await resolveSettings(options, context));
  const value = valueIfGiven(setting);
  if (value === undefined) {
    throw usageProblem(
      `${key} is not set`,
      `store it with \`runctl config set ${key}${key === 'apiKey' ? '' : ' <value>'}\``,
    );
  }
  if (options.json) printDocuments([configDocument({ [key]: factsOf(setting) }, context)], options, context);
  else printData(value, context);
  return 0;
}

/** `runctl config list`: every setting in force and where it comes from; a key masked. */
export async function configList(options: ConfigOptions, context: Context): Promise<number> {
  const { stdout } = context;
  const settings = Object.entries(maskSecrets(await resolveSettings(options, context)));
  if (options.json) {
    const document = Object.fromEntries(settings.map(([name, setting]) => [name, factsOf(setting)]));
    printDocuments([configDocument(document, context)], options, context);
    return 0;
  }
  const theme = themeOf(stdout, context);
  stdout.write(
    fields(
      settings.map(([name, setting]) => [name, lineOf(setting, theme)]),
      theme,
      wrapOptionsOf(stdout),
    ),
  );
  return 0;
}

const configDocument = (config: JsonObject, context: Context) => documentOf({ report: { config } }, context);

function factsOf({ value, source, problem }: Resolved): JsonObject {
  return { value: value ?? null, source: source ?? null, ...(problem && { problem: problem.message }) };
}

function lineOf({ value, source, problem }: Resolved, theme: Theme): string {
  if (problem) return theme.bad(`refused: ${cleanLine(problem.message)}`);
  if (value === undefined) return theme.dim('not set');
  return `${cleanLine(value)} ${theme.dim(`(${cleanLine(source ?? '')})`)}`;
}

/** `runctl config path`: the path of the config file, whether or not it exists. */
export async function configPath(options: ConfigOptions, context: Context): Promise<number> {
  const path = requireConfigFile(context);
  if (options.json) printDocuments([configDocument({ path }, context)], options, context);
  else printData(path, context);
  return 0;
}

/** `runctl config set <key> [value]`: stores a setting in the profile in force, which need not exist yet. */
export async function configSet(
  name: string,
  value: string | undefined,
  options: ConfigOptions,
  context: Context,
): Promise<number> {
  const key = parseSettingKey(name);
  const path = requireConfigFile(context);
  const file = readConfigFile(path);
  const profile = chooseProfile(options.profile, context.env, file);
  if (key === 'profile') {
    checkIsThere(value, file.config);
    await changeConfig(path, (config) => ({ ...config, profile: value }));
    printSentence(`Profile ${quote(value)} is in force from now on.`, context);
    return 0;
  }
  checkProfileName(profile);
  const text = await valueToStore(key, value, context);
  await storeInProfile(path, profile, { [key]: text });
  printSentence(`Stored ${key} for ${sourceOf(profile.name, path)}.`, context);
  await warnOfOverrides([key], options, context);
  return 0;
}

/** The environment overrides the file: nobody would see why a stored setting has no effect. */
async function warnOfOverrides(stored: readonly StoredKey[], options: ConfigOptions, context: Context): Promise<void> {
  const settings = await resolveSettings(options, context);
  for (const key of stored) {
    const { source } = settings[key];
    if (source?.startsWith('RUNCTL_')) {
      printSentence(`Note: ${source} in the environment goes before the stored ${key}.`, context);
    }
  }
}

/** `runctl config unset <key>`: removes a stored setting; one that is not there is no error. */
export async function configUnset(name: string, options: ConfigOptions, context: Context): Promise<number> {
  const key = parseSettingKey(name);
  const path = requireConfigFile(context);
  const file = readConfigFile(path);
  const profile = chooseProfile(options.profile, context.env, file);
  const isTop = key === 'profile';
  const stored = isTop ? file.config.profile : storedProfile(profile.name, file.config)?.[key];
  const where = isTop ? path : sourceOf(profile.name, path);
  if (stored === undefined) {
    printSentence(`${key} was not stored for ${where}.`, context);
    return 0;
  }
  // JSON has no undefined: the field goes.
  await changeConfig(path, (config) =>
    isTop ? { ...config, profile: undefined } : withProfile(config, profile, { [key]: undefined }),
  );
  printSentence(`Removed ${key} from ${where}.`, context);
  return 0;
}

function checkIsThere(name: string | undefined, config: ConfigFile): asserts name is string {
  if (name === undefined) throw missingValue('profile');
  if (name === defaultProfile || storedProfile(name, config)) return;
  throw usageProblem(
    `there is no profile ${quote(name)}`,
    `create it with \`runctl config set baseUrl <url> --profile ${name}\``,
  );
}

/** The value as it is to be stored, checked; the API key never comes from the command line. */
async function valueToStore(key: StoredKey, value: string | undefined, context: Context): Promise<string> {
  if (settingTable[key].isSecret && value !== undefined) {
    throw usageProblem(
      'every user of this machine can read an API key on the command line; nothing was stored',
      '`runctl config set apiKey` asks for it, or reads it from a pipe or a file: `runctl config set apiKey < <file>`',
    );
  }
  if (value === undefined && key !== 'apiKey') throw missingValue(key);
  const { value: checked, problem } =
    value === undefined
      ? await readApiKeyInput('standard input', context)
      : parseSetting(key, value, `config set ${key}`);
  if (problem) throw problem;
  return checked;
}

function missingValue(key: string) {
  return usageProblem(`no value was given for ${key}`, `\`runctl config set ${key} <value>\``);
}
