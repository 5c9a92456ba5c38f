import type { Env, Invocation } from '../context.ts';
import { type Problem, usageProblem } from '../problems/problem.ts';
import type { WarningName } from '../runs/events.ts';
import { type KeyTreatment, keyTreatments } from '../runs/service.ts';
import { parseDuration } from '../runs/time-text.ts';
import { maskApiKey, resolveApiKey } from './api-key.ts';
import { findConfigFolder, findStateFolder } from './paths.ts';
import { type ProfileInForce, readProfileInForce } from './profile.ts';
import {
  defaultProfile,
  flagSource,
  parseSetting,
  type Resolved,
  type SettingName,
  type StoredKey,
  settingTable,
  unset,
  valueIfGiven,
} from './setting-table.ts';

export interface SettingFlags {
  apiKeyFile?: string;
  baseUrl?: string;
  project?: string;
  profile?: string;
  requestTimeout?: string;
  onExit?: string;
}

/** The current value of every setting, or what is wrong with it. Only settings that a command requires can stop it. */
export type Settings = Readonly<Record<SettingName, Resolved>>;

/**
 * Takes each setting from flag, environment, profile or default. Throws for a bad config file, for one that others can
 * change, and for an interruption.
 */
export async function resolveSettings(flags: SettingFlags, context: Invocation): Promise<Settings> {
  refuseUntrusted(readProfileInForce(flags.profile, context.env));
  return showSettings(flags, context);
}

/** The same for commands that only show or change settings. Only warns about a file that others can change. */
export async function showSettings(flags: SettingFlags, context: Invocation): Promise<Settings> {
  const { env, reporter } = context;
  const profile = readProfileInForce(flags.profile, env);
  const { exposedPath, distrust, stored, storedSource } = profile;
  const warn = (name: WarningName, message: string) => reporter.observe({ event: 'warning', name, message });
  if (distrust) warn('config_untrusted', `${distrust.message}: ${distrust.hint}`);
  else if (exposedPath)
    warn('exposed_api_key', `others can read the API key in ${exposedPath}: chmod 600 ${exposedPath}`);
  const others = resolveOthers(flags, env, profile);
  const ofProfile = { apiKey: stored.apiKey, source: storedSource };
  const apiKey = await resolveApiKey(flags.apiKeyFile, others.apiKeyCommand, ofProfile, context);
  const isStored = (apiKey.value ?? apiKey.command) !== undefined && apiKey.source === storedSource;
  const problem = isStored ? misuseOfStoredKey(profile, others.baseUrl) : undefined;
  return { apiKey: problem ? { source: storedSource, problem } : apiKey, ...others };
}

function refuseUntrusted({ distrust }: ProfileInForce): void {
  if (distrust) throw usageProblem(distrust.message, distrust.hint);
}

/** Why a profile's API key must not be sent to the current base URL: it is only for the one stored with it. */
function misuseOfStoredKey({ name, stored, storedSource }: ProfileInForce, inForce: Resolved): Problem | undefined {
  if (inForce.value === undefined) return undefined;
  const others = `give the API key for ${inForce.value} with \`--api-key-file <path>\` or RUNCTL_API_KEY`;
  if (!stored.baseUrl) {
    return usageProblem(
      `the API key in ${storedSource} has no base URL stored with it, so it isn't sent to ${inForce.value} (${inForce.source})`,
      `store it with \`runctl config set baseUrl <url> --profile ${name}\`, or ${others}`,
    );
  }
  const { value: own, problem } = parseSetting('baseUrl', stored.baseUrl, storedSource);
  if (problem || inForce.value === own) return problem;
  return usageProblem(
    `the API key in ${storedSource} is for ${own}, so it isn't sent to ${inForce.value} (${inForce.source})`,
    `${others}, or choose the profile that holds it with \`--profile <name>\``,
  );
}

/** The settings without the API key, which isn't read. Throws like `resolveSettings`. */
export function resolveWithoutApiKey(flags: SettingFlags, env: Env): Omit<Settings, 'apiKey'> {
  const profile = readProfileInForce(flags.profile, env);
  refuseUntrusted(profile);
  return resolveOthers(flags, env, profile);
}

function resolveOthers(flags: SettingFlags, env: Env, { name, source, stored, storedSource }: ProfileInForce) {
  const resolve = (key: Exclude<StoredKey, 'apiKey'>): Resolved => {
    const { [key]: typed }: { [key in StoredKey]?: string } = flags;
    if (typed !== undefined) return parseSetting(key, typed, flagSource(key));
    const { default: fallback, env: variables } = settingTable[key];
    const [variable] = variables;
    if (env[variable]) return parseSetting(key, env[variable], variable);
    if (stored[key]) return parseSetting(key, stored[key], storedSource);
    return fallback === undefined ? unset(key, env) : parseSetting(key, fallback, 'default');
  };
  const baseUrl = resolve('baseUrl');
  const isOfOtherService = stored.baseUrl && parseSetting('baseUrl', stored.baseUrl, '').value !== baseUrl.value;
  const idempotencyKeys = resolve('idempotencyKeys');
  return {
    apiKeyCommand: resolve('apiKeyCommand'),
    baseUrl,
    project: resolve('project'),
    requestTimeout: resolve('requestTimeout'),
    // What a profile says about its service doesn't hold for another base URL.
    idempotencyKeys: isOfOtherService && idempotencyKeys.source === storedSource ? {} : idempotencyKeys,
    // A runctl inside a hook only runs a hook if its own flag says so. Otherwise hooks would run each other forever.
    onExit: flags.onExit === undefined && env.RUNCTL_IN_HOOK ? {} : resolve('onExit'),
    profile: { value: name, source },
    configFolder: findConfigFolder(env) ?? {},
    stateFolder: findStateFolder(env) ?? {},
  };
}

/** The settings as shown, without the API key. */
export function maskSecrets(settings: Settings): Settings {
  const { value, command, ...apiKey } = settings.apiKey;
  const shown = command === undefined ? value && maskApiKey(value) : `what \`${command}\` prints`;
  return { ...settings, apiKey: { ...apiKey, value: shown } };
}

/** Each of these throws a usage problem if there is no valid value. */
export const requireApiKey = (settings: Settings) => requireSetting('apiKey', settings);

export const requireBaseUrl = (settings: Omit<Settings, 'apiKey'>) => requireSetting('baseUrl', settings);

export const requireProject = (settings: Omit<Settings, 'apiKey'>) => requireSetting('project', settings);

export function requireRequestTimeoutMs(settings: Settings): number {
  return parseDuration(requireSetting('requestTimeout', settings)) as number;
}

/** What the user says about the service's idempotency keys. Throws a usage problem for another value. */
export function keyTreatmentIn({ idempotencyKeys }: Pick<Settings, 'idempotencyKeys'>): KeyTreatment | undefined {
  const value = valueIfGiven(idempotencyKeys);
  return keyTreatments.find((treatment) => treatment === value);
}

function requireSetting<Key extends StoredKey>(
  key: Key,
  settings: Pick<Settings, Key | 'profile' | 'configFolder'>,
): string {
  const value = valueIfGiven(settings[key]);
  if (value !== undefined) return value;
  const { name, flag, env } = settingTable[key];
  const { alike } = settings[key];
  if (alike) throw usageProblem(`no ${name} is set, but ${alike} is`, `did you mean ${env[0]}?`);
  const profile = settings.profile.value ?? defaultProfile;
  const where = profile === defaultProfile ? '' : ` --profile ${profile}`;
  const others = `set ${env[0]} or \`${flag}\``;
  throw usageProblem(
    `no ${name} is set`,
    settings.configFolder.value === undefined ? others : `run \`runctl config${where}\`, or ${others}`,
  );
}
