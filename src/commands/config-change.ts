import { readApiKeyInput } from '../config/api-key.ts';
import { type ConfigFile, readConfigFile } from '../config/config-file.ts';
import {
  changeConfig,
  checkProfileName,
  chooseProfile,
  requireConfigFile,
  sourceOf,
  storedProfile,
  storeInProfile,
  withProfile,
} from '../config/profile.ts';
import { defaultProfile, parseSettingKey, type StoredKey, settingTable } from '../config/setting-table.ts';
import { resolveSettings, type SettingFlags } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { Problem, quote, shellWord, usageProblem } from '../problems/problem.ts';
import { printSentence } from '../render/output.ts';

/** `runctl config set <key> [value]`: stores a setting in the profile in force, which need not exist yet. */
export async function configSet(
  name: string,
  value: string | undefined,
  options: SettingFlags,
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

/** Notes which stored settings have no effect, because something else overrides them. */
export async function warnOfOverrides(
  stored: readonly StoredKey[],
  options: SettingFlags,
  context: Context,
): Promise<void> {
  const settings = await resolveSettings(options, context).catch((error: unknown) => {
    // The setting is stored, even if the settings cannot be read again.
    if (!(error instanceof Problem) || error.facts.name !== 'usage') throw error;
  });
  if (!settings) return;
  for (const key of stored) {
    const { source, value } = settings[key === 'apiKeyCommand' ? 'apiKey' : key];
    if (source?.startsWith('RUNCTL_')) {
      printSentence(`Note: ${source} in the environment overrides the stored ${key}.`, context);
    } else if (key === 'apiKeyCommand' && value !== undefined) {
      printSentence(
        'Note: the stored apiKey overrides the stored apiKeyCommand: `runctl config unset apiKey`.',
        context,
      );
    }
  }
}

/** `runctl config unset <key>`: removes a stored setting; it is no error if there is none. */
export async function configUnset(name: string, options: SettingFlags, context: Context): Promise<number> {
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
  // JSON has no undefined: the field is left out.
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
    `create it with \`runctl config --profile ${shellWord(name)}\``,
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
  if (value === undefined) {
    const { value: apiKey, problem } = await readApiKeyInput('standard input', context);
    if (problem) throw problem;
    return apiKey;
  }
  const { name, parse, hint } = settingTable[key];
  const parsed = parse(value);
  if ('flaw' in parsed) throw usageProblem(`the ${name} ${parsed.flaw}`, hint);
  return parsed.value;
}

function missingValue(key: string) {
  return usageProblem(`no value was given for ${key}`, `\`runctl config set ${key} <value>\``);
}
