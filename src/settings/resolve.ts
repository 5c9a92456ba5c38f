import type { Context } from '../context.ts';
import { Problem } from '../run/report.ts';
import { parseDuration } from '../text/duration.ts';
import { findApiKey } from './api-key.ts';
import { type ConfigFile, profileIn, readConfigFile } from './config-file.ts';
import { findFolder } from './folders.ts';
import type { ApiKeySource, Setting, Settings } from './settings.ts';
import { type ProfileKey, type SettingRow, settingTable } from './table.ts';
import { checkSetting } from './values.ts';

/**
 * Takes each setting from flag, environment, profile or default. A profile that `--profile` names
 * beats the environment.
 */
export function resolveSettings(context: Context): Settings {
  const { env } = context;
  const configFile = lazy(() => readConfigFile(findFolder('configDir', env)));
  const profile = lazy(() => profileInForce(context, configFile()));
  const text: Settings['text'] = (key) => findText(key, profile().value, configFile(), context);
  const settings: Settings = {
    text,
    get profile() {
      return profile();
    },
    get baseUrl() {
      return text('baseUrl');
    },
    get project() {
      return text('project');
    },
    get requestTimeoutMs() {
      const { value, source } = text('requestTimeout') as Setting<string>;
      return { value: parseDuration(value) as number, source };
    },
    get idempotencyKeys() {
      return text('idempotencyKeys') as Settings['idempotencyKeys'];
    },
    get apiKey() {
      return apiKey();
    },
    get configDir() {
      return findFolder('configDir', env);
    },
    get stateDir() {
      return findFolder('stateDir', env);
    },
    get configFile() {
      return configFile();
    },
  };
  // Found once, because a pipe can be read only once.
  const apiKey = lazy(() => findApiKey(settings, context));
  return settings;
}

/** Throws a `Problem` if the text isn't allowed. */
function findText(
  key: ProfileKey,
  profile: string,
  file: ConfigFile,
  { env, flags }: Context,
): Setting<string> | undefined {
  const { flag = '', env: variables, default: byDefault }: SettingRow = settingTable[key];
  const [variable = ''] = variables;
  const [flagName = ''] = /--[\w-]+/.exec(flag) ?? [];
  const ofFlag = { value: flags[key as 'baseUrl' | 'project'], source: flagName };
  const ofVariable = { value: env[variable] || undefined, source: variable };
  const ofProfile = {
    value: profileIn(file, profile)[key],
    source: `profile ${profile} in ${file.path}`,
  };
  const others = flags.profile === undefined ? [ofVariable, ofProfile] : [ofProfile, ofVariable];
  const found = firstGiven([ofFlag, ...others, { value: byDefault, source: 'default' }]);
  return found && { ...found, value: checkSetting(key, found.value, found.source) };
}

interface Given {
  value: string | undefined;
  source: string;
}

const firstGiven = (each: readonly Given[]): Setting<string> | undefined =>
  each.find((given): given is Setting<string> => given.value !== undefined);

function profileInForce({ command, env, flags }: Context, file: ConfigFile): Setting<string> {
  const { path, profiles } = file;
  const profile = firstGiven([
    { value: flags.profile, source: '--profile' },
    { value: env.RUNCTL_PROFILE || undefined, source: 'RUNCTL_PROFILE' },
    { value: file.profile, source: path },
  ]) ?? { value: settingTable.profile.default, source: 'default' };
  const { value, source } = profile;
  if (value === 'default' || Object.hasOwn(profiles, value)) return profile;
  if (command === 'config' || command === 'config set') {
    return { value: checkSetting('profile', value, source), source };
  }
  const names = Object.keys(profiles).join(', ') || 'no profile';
  throw new Problem(`there is no profile ${value} (${source}); ${path} has ${names}`, {
    command: 'runctl config',
  });
}

/** Makes a value when it is first asked for. */
function lazy<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** Throws a `Problem` if there is no base URL. */
export const requireBaseUrl = (settings: Settings): string =>
  settings.baseUrl?.value ?? missing(settings);

/** Throws a `Problem` if there is no project. */
export const requireProject = (settings: Settings): string =>
  settings.project?.value ?? missing(settings);

/** Throws a `Problem` if nothing gives the API key. */
export const requireApiKey = (settings: Settings): ApiKeySource =>
  settings.apiKey ?? missing(settings);

/** Names all that is missing, so that nobody has to find out one by one. */
function missing(settings: Settings): never {
  const names = (['baseUrl', 'apiKey', 'project'] as const).filter((name) => !settings[name]);
  const texts = names.map((name) => `${settingTable[name].label} (${settingTable[name].env[0]})`);
  throw new Problem(`not set: ${texts.join(', ')}`, { command: 'runctl config' });
}
