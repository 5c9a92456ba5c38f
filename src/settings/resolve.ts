import type { CommandContext } from '../context.ts';
import type { WarningName } from '../run/events.ts';
import { type Problem, usageProblem } from '../run/problem.ts';
import { shellWord } from '../run/quote.ts';
import type { Env } from '../system/env.ts';
import { acceptApiKey, maskApiKey, resolveApiKey } from './api-key.ts';
import { findConfigFolder, findStateFolder } from './folders.ts';
import { type CurrentProfile, profileFlag, readCurrentProfile } from './profile.ts';
import {
  defaultProfile,
  flagSource,
  optionalValue,
  parseSetting,
  type Resolved,
  type ResolvedApiKey,
  type Setting,
  type SettingName,
  type SettingValueOf,
  type StoredSettingName,
  settingTable,
  storedSettingNames,
} from './table.ts';

/** What was given with the flags of settings, by the name of the setting. */
export type SettingFlags = { apiKeyFile?: string } & {
  [Name in Exclude<SettingName, 'apiKey'>]?: string;
};

/**
 * The current value of every setting, or what is wrong with it. A setting that is wrong only stops
 * commands that need it.
 */
export type Settings = { readonly [Name in SettingName]: Resolved<SettingValueOf<Name>> } & {
  readonly apiKey: ResolvedApiKey;
};

/** All of them but the API key, which may come from a command that takes a while. */
type SettingsWithoutApiKey = Omit<Settings, 'apiKey'>;

/**
 * Takes each setting from flag, environment, profile or default. Throws for a bad config file, for
 * one that others can change, and for an interruption.
 */
export async function resolveSettings(
  flags: SettingFlags,
  context: CommandContext,
): Promise<Settings> {
  const profile = readCurrentProfile(flags.profile, context.env);
  refuseUntrusted(profile);
  return resolveAll(flags, profile, context);
}

/**
 * Resolves settings for commands that only show or change them. It warns of a file that others can
 * change, and doesn't refuse it, so that these commands can still be used to repair it.
 */
export async function resolveForDisplay(
  flags: SettingFlags,
  context: CommandContext,
): Promise<Settings> {
  return resolveAll(flags, readCurrentProfile(flags.profile, context.env), context);
}

async function resolveAll(
  flags: SettingFlags,
  profile: CurrentProfile,
  context: CommandContext,
): Promise<Settings> {
  warnOfProfile(profile, context);
  const others = resolveOthers(flags, context.env, profile);
  const apiKey = await resolveApiKey(flags.apiKeyFile, others.apiKeyCommand, profile, context);
  const isStored =
    (apiKey.value ?? apiKey.command) !== undefined && apiKey.source === profile.storedSource;
  return {
    apiKey: isStored ? boundToBaseUrl(apiKey, profile, others.baseUrl, context) : apiKey,
    ...others,
  };
}

function warnOfProfile(
  { exposedPath, untrustedProblem, unknown }: CurrentProfile,
  { reporter, stderr }: CommandContext,
): void {
  const warn = (name: WarningName, message: string) =>
    reporter.emit({ event: 'warning', name, message });
  if (untrustedProblem)
    warn('config_untrusted', `${untrustedProblem.message}: ${untrustedProblem.facts.hint}`);
  else if (exposedPath)
    warn(
      'exposed_api_key',
      `others can read the API key in ${exposedPath}: \`chmod 600 ${shellWord(exposedPath)}\``,
    );
  if (unknown && stderr.isTTY) warn('unknown_setting', `${unknown.message}: ${unknown.advice}`);
}

/** The API key of the profile, or the problem that it must not be sent to the current base URL. */
function boundToBaseUrl(
  apiKey: ResolvedApiKey,
  profile: CurrentProfile,
  baseUrl: Resolved<string>,
  context: CommandContext,
): ResolvedApiKey {
  const { name, storedSource } = profile;
  const problem = wrongBaseUrlProblem(profile, baseUrl);
  if (problem) return { source: storedSource, problem };
  if (apiKey.command !== undefined) return apiKey;
  const reread = async () => {
    const now = readCurrentProfile(name, context.env);
    const isUsable =
      now.stored.apiKey && !now.untrustedProblem && !wrongBaseUrlProblem(now, baseUrl);
    return isUsable ? acceptApiKey(now.stored.apiKey ?? '', storedSource, context) : undefined;
  };
  return { ...apiKey, reread };
}

function refuseUntrusted({ untrustedProblem }: CurrentProfile): void {
  if (untrustedProblem) throw untrustedProblem;
}

/**
 * The problem that the API key of a profile is only for the base URL that is stored with it, and
 * the current one is another.
 */
function wrongBaseUrlProblem(
  { name, stored, storedSource }: CurrentProfile,
  baseUrl: Resolved<string>,
): Problem | undefined {
  if (baseUrl.value === undefined) return undefined;
  const others = `give the API key for ${baseUrl.value} with \`--api-key-file <path>\` or RUNCTL_API_KEY`;
  if (!stored.baseUrl) {
    return usageProblem(
      `the API key in ${storedSource} has no base URL stored with it, so it isn't sent to ${baseUrl.value} (${baseUrl.source})`,
      `${others}, or store its base URL: \`runctl config set baseUrl <url>${profileFlag(name)}\``,
    );
  }
  const { value: own, problem } = parseSetting('baseUrl', stored.baseUrl, storedSource);
  if (problem || baseUrl.value === own) return problem;
  return usageProblem(
    `the API key in ${storedSource} is for ${own}, so it isn't sent to ${baseUrl.value} (${baseUrl.source})`,
    `${others}, or choose the profile that holds it with \`--profile <name>\``,
  );
}

/** The settings without the API key, which isn't read. Throws like `resolveSettings`. */
export function resolveWithoutApiKey(flags: SettingFlags, env: Env): SettingsWithoutApiKey {
  const profile = readCurrentProfile(flags.profile, env);
  refuseUntrusted(profile);
  return resolveOthers(flags, env, profile);
}

function resolveOthers(
  flags: SettingFlags,
  env: Env,
  profile: CurrentProfile,
): SettingsWithoutApiKey {
  const names = storedSettingNames.filter((name) => name !== 'apiKey');
  const others = Object.fromEntries(
    names.map((name) => [name, resolveOne(name, flags, env, profile)]),
  ) as SettingsWithoutApiKey;
  const isOfOtherService = isForOtherBaseUrl(others.idempotencyKeys, profile, others.baseUrl);
  return {
    ...others,
    idempotencyKeys: isOfOtherService ? defaultOf('idempotencyKeys') : others.idempotencyKeys,
    profile: asShown({ value: profile.name, source: profile.source }),
    configFolder: asShown(findConfigFolder(env)),
    stateFolder: asShown(findStateFolder(env)),
  };
}

function resolveOne<Name extends StoredSettingName>(
  name: Name,
  flags: { [Flag in StoredSettingName]?: string },
  env: Env,
  { stored, storedSource }: CurrentProfile,
): Resolved<SettingValueOf<Name>> {
  const typed = flags[name];
  if (typed !== undefined) return parseSetting(name, typed, flagSource(name));
  const [variable] = settingTable[name].env;
  if (env[variable]) return parseSetting(name, env[variable], variable);
  if (stored[name]) return parseSetting(name, stored[name], storedSource);
  return defaultOf(name);
}

/** What a profile says about its service isn't true for another base URL. */
function isForOtherBaseUrl(
  setting: Resolved,
  { stored, storedSource }: CurrentProfile,
  baseUrl: Resolved<string>,
): boolean {
  if (setting.source !== storedSource || !stored.baseUrl) return false;
  return parseSetting('baseUrl', stored.baseUrl, storedSource).value !== baseUrl.value;
}

function defaultOf<Name extends StoredSettingName>(name: Name): Resolved<SettingValueOf<Name>> {
  const { default: text }: Setting = settingTable[name];
  return text === undefined ? {} : parseSetting(name, text, 'default');
}

const asShown = (setting: Resolved<string> = {}): Resolved<string> => ({
  ...setting,
  text: setting.value,
});

/** The settings as they are shown, with the API key masked. */
export function maskSecrets(settings: Settings): Settings {
  const { value, command, source, problem } = settings.apiKey;
  const text = command === undefined ? value && maskApiKey(value) : `what '${command}' prints`;
  return { ...settings, apiKey: { source, problem, text } };
}

/**
 * The value of a setting that a command can't do without. Throws a usage problem if there is none.
 */
export function requiredValue<Name extends StoredSettingName>(
  name: Name,
  settings: Pick<Settings, Name | 'profile' | 'configFolder'>,
): SettingValueOf<Name> {
  const value = optionalValue(settings[name] as Resolved<SettingValueOf<Name>>);
  if (value !== undefined) return value;
  const { label, flag, env }: Setting = settingTable[name];
  const where = profileFlag(settings.profile.value ?? defaultProfile);
  const others = `set ${env[0]} or \`${flag}\``;
  throw usageProblem(
    `no ${label} is set`,
    settings.configFolder.value === undefined
      ? `${others} (no config file is read, because HOME isn't set)`
      : `${others}, or store it: \`runctl config${where}\``,
  );
}
