import type { CommandContext } from '../context.ts';
import type { CommandResult, OutputOptions } from '../output/command-result.ts';
import { infoOutcome } from '../run/outcome.ts';
import { Problem, usageProblem } from '../run/problem.ts';
import { quote, shellWord } from '../run/quote.ts';
import { readApiKeyInput } from '../settings/api-key.ts';
import { type ConfigFile, changeConfigFile } from '../settings/config-file.ts';
import {
  checkProfileName,
  openProfile,
  sourceOf,
  storedProfile,
  unknownKeysIn,
  withProfile,
} from '../settings/profile.ts';
import { resolveForDisplay, type SettingFlags } from '../settings/resolve.ts';
import {
  defaultProfile,
  parseConfigSettingName,
  parseText,
  type StoredSettingName,
  settingTable,
} from '../settings/table.ts';

type ChangeOptions = SettingFlags & OutputOptions;

/**
 * `runctl config set <key> [value]`: stores a setting in the current profile, which may not exist
 * yet.
 */
export async function configSet(
  name: string,
  value: string | undefined,
  options: ChangeOptions,
  context: CommandContext,
): Promise<CommandResult> {
  const key = parseConfigSettingName(name);
  const { path, config, profile } = openProfile(options.profile, context);
  if (key === 'profile') {
    checkProfileExists(value, config);
    await changeConfigFile(path, (config) => ({ ...config, profile: value }), context);
    return changedResult(path, `Now using profile ${quote(value)}.`, options);
  }
  checkProfileName(profile);
  const text = await valueToStore(key, value, context);
  await changeConfigFile(path, (config) => withProfile(config, profile, { [key]: text }), context);
  await warnOfOverridden([key], options, context);
  return changedResult(path, `Stored ${key} for ${sourceOf(profile.name, path)}.`, options);
}

/**
 * Warns for each of these stored settings that has no effect, because a flag or a variable
 * overrides it.
 */
export async function warnOfOverridden(
  stored: readonly StoredSettingName[],
  options: SettingFlags,
  context: CommandContext,
): Promise<void> {
  const settings = await resolveForDisplay(options, context).catch((error: unknown) => {
    // The setting has been stored, so this doesn't fail if the settings can't be read again.
    if (!(error instanceof Problem) || error.facts.name !== 'usage') throw error;
  });
  const warn = (message: string) =>
    context.reporter.emit({ event: 'warning', name: 'setting_overridden', message });
  for (const key of stored) {
    // A command that prints the API key is resolved as the API key.
    const resolvedKey = key === 'apiKeyCommand' ? 'apiKey' : key;
    const { source, value } = settings?.[resolvedKey] ?? {};
    if (source?.startsWith('RUNCTL_')) {
      warn(`${source} in the environment overrides the stored ${key}`);
    } else if (key === 'apiKeyCommand' && value !== undefined) {
      warn('the stored apiKey overrides the stored apiKeyCommand: `runctl config unset apiKey`');
    }
  }
}

/**
 * `runctl config unset <key>`: removes the key from the profile. It succeeds even if the profile
 * doesn't have the key.
 */
export async function configUnset(
  name: string,
  options: ChangeOptions,
  context: CommandContext,
): Promise<CommandResult> {
  const { path, config, profile } = openProfile(options.profile, context);
  const isUnknown = unknownKeysIn(storedProfile(profile.name, config)).includes(name);
  const key = isUnknown ? (name as StoredSettingName) : parseConfigSettingName(name);
  const isTopLevel = key === 'profile';
  const stored = isTopLevel ? config.profile : storedProfile(profile.name, config)?.[key];
  const where = isTopLevel ? path : sourceOf(profile.name, path);
  if (stored === undefined)
    return changedResult(path, `Nothing to remove: ${where} has no ${key}.`, options);
  // JSON has no undefined, so the field is left out of the file.
  const remove = (config: ConfigFile) =>
    isTopLevel
      ? { ...config, profile: undefined }
      : withProfile(config, profile, { [key]: undefined });
  await changeConfigFile(path, remove, context);
  return changedResult(path, `Removed ${key} from ${where}.`, options);
}

function changedResult(path: string, note: string, { quiet }: ChangeOptions): CommandResult {
  return {
    outcomes: [infoOutcome({ config: { path } })],
    forPeople: { note: quiet ? undefined : note },
  };
}

function checkProfileExists(name: string | undefined, config: ConfigFile): asserts name is string {
  if (name === undefined) throw missingValue('profile');
  if (name === defaultProfile || storedProfile(name, config)) return;
  throw usageProblem(
    `there is no profile ${quote(name)}`,
    `create it: \`runctl config --profile ${shellWord(name)}\``,
  );
}

/** Returns the value to store, after it was checked. */
async function valueToStore(
  key: StoredSettingName,
  value: string | undefined,
  context: CommandContext,
): Promise<string> {
  if (key === 'apiKey') return apiKeyToStore(value, context);
  if (value === undefined) throw missingValue(key);
  const parsed = parseText<StoredSettingName>(key, value);
  const { label, hint } = settingTable[key];
  if ('flaw' in parsed) throw usageProblem(`the ${label} ${parsed.flaw}`, parsed.hint ?? hint);
  return parsed.text ?? String(parsed.value);
}

/**
 * The API key never comes from the command line. `-` means standard input, as for `--api-key-file`.
 */
async function apiKeyToStore(typed: string | undefined, context: CommandContext): Promise<string> {
  if (typed !== undefined && typed !== '-') {
    throw usageProblem(
      'every user of this machine can read an API key on the command line; nothing was stored',
      '`runctl config set apiKey` asks for it, or reads it from a pipe or a file: `runctl config set apiKey < <file>`',
    );
  }
  const { value, problem } = await readApiKeyInput('standard input', context);
  if (problem) throw problem;
  return value;
}

function missingValue(key: string) {
  return usageProblem(`no value was given for ${key}`, `\`runctl config set ${key} <value>\``);
}
