import type { Context, SettingFlags } from '../context.ts';
import { Problem } from '../core/report.ts';
import { parseDuration } from '../text/duration.ts';
import { type ApiKeySource, findApiKey } from './api-key.ts';
import { type ConfigFile, profileIn, readConfigFile } from './config-file.ts';
import { checkSetting, type ProfileKey, type SettingRow, settingTable } from './table.ts';

/** A setting's value and where it came from: `--base-url`, `RUNCTL_BASE_URL`, `default`, a profile. */
export interface Setting<T> {
  value: T;
  source: string;
}

/** Reading a property throws a `Problem` if the setting is wrong, so a command needs only its own. */
export interface Settings {
  readonly profile: Setting<string>;
  /** Without a slash or `/v0` at its end. */
  readonly baseUrl?: Setting<string> | undefined;
  /** A UUID in lower case. */
  readonly project?: Setting<string> | undefined;
  readonly requestTimeoutMs: Setting<number>;
  readonly idempotencyKeys: Setting<'honored' | 'ignored'>;
  readonly apiKey?: ApiKeySource | undefined;
  readonly configDir: string;
  readonly stateDir: string;
  readonly configFile: ConfigFile;
  /** A setting as text, as `config get` shows it. */
  text(key: Exclude<ProfileKey, 'apiKey'>): Setting<string> | undefined;
}

/**
 * Takes each setting from flag, environment, profile or default. A profile that `--profile` names
 * beats the environment. Throws a `Problem` if the config file or the profile can't be used.
 */
export function resolveSettings(context: Context): Settings {
  const configDir = findFolder('configDir', context.env);
  const configFile = readConfigFile(`${configDir}/config.json`);
  const profile = profileInForce(context, configFile);
  const text: Settings['text'] = (key) => findText(key, profile.value, configFile, context);
  const settings: Settings = {
    profile,
    configDir,
    configFile,
    text,
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
      return findApiKey(settings, context);
    },
    get stateDir() {
      return findFolder('stateDir', context.env);
    },
  };
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
  const ofFlag = { value: flags[key as keyof SettingFlags], source: flagName };
  const ofVariable = { value: env[variable] || undefined, source: variable };
  const ofProfile = {
    value: profileIn(file, profile)[key],
    source: `profile ${profile} in ${file.path}`,
  };
  const others = flags.profile === undefined ? [ofVariable, ofProfile] : [ofProfile, ofVariable];
  const found = firstGiven([ofFlag, ...others, { value: byDefault, source: 'default' }]);
  return found && { ...found, value: checkSetting(key, found.value, found.source) };
}

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

const firstGiven = (each: readonly Partial<Setting<string>>[]) =>
  each.find((given): given is Setting<string> => given.value !== undefined);

const folders = {
  configDir: { base: 'XDG_CONFIG_HOME', belowHome: '.config' },
  stateDir: { base: 'XDG_STATE_HOME', belowHome: '.local/state' },
};

/** The path of a folder, which may not exist yet. Throws a `Problem` if nothing says where it is. */
export function findFolder(name: 'configDir' | 'stateDir', env: Context['env']): string {
  const [variable] = settingTable[name].env;
  const path = env[variable];
  if (path) return checkSetting(name, path, variable);
  const { base, belowHome } = folders[name];
  // XDG Base Directory Specification: relative paths are invalid and to be ignored.
  if (env[base]?.startsWith('/')) return `${env[base]}/runctl`;
  if (env.HOME?.startsWith('/')) return `${env.HOME}/${belowHome}/runctl`;
  throw new Problem(`there is no home folder: set HOME or ${variable}`);
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
