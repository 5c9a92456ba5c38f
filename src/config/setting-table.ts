import { usageProblem } from '../runs/problem.ts';

/** A setting and every way to give it (contract §2). This table is the only one: help, README and refusals read it. */
export interface Setting {
  name: string;
  /** With its argument, as `--help` shows it. */
  flag?: string;
  /** The stronger first. */
  env: readonly string[];
  /** Its name in the config file and in `runctl config`. */
  key?: string;
  default?: string;
  about: string;
}

export const defaultProfile = 'default';
export const defaultRequestTimeout = '30s';

export const settingTable = [
  {
    name: 'API key',
    flag: '--api-key-file <path>',
    env: ['RUNCTL_API_KEY', 'RUNCTL_API_KEY_FILE'],
    key: 'apiKey',
    about: 'the key that every request carries; required; `-` reads it from standard input',
  },
  {
    name: 'base address',
    flag: '--base-url <url>',
    env: ['RUNCTL_BASE_URL'],
    key: 'baseUrl',
    about: 'the address of the service; required; https, except on this machine',
  },
  {
    name: 'project',
    flag: '--project <uuid>',
    env: ['RUNCTL_PROJECT'],
    key: 'project',
    about: 'the project of automations that are given by name alone',
  },
  {
    name: 'profile',
    flag: '--profile <name>',
    env: ['RUNCTL_PROFILE'],
    key: 'profile',
    default: defaultProfile,
    about: 'which of the named groups of stored settings is in force',
  },
  {
    name: 'config folder',
    env: ['RUNCTL_CONFIG_DIR'],
    default: 'the XDG config folder + runctl',
    about: 'where config.json is',
  },
  {
    name: 'state folder',
    env: ['RUNCTL_STATE_DIR'],
    default: 'the XDG state folder + runctl',
    about: 'where the journal is',
  },
  {
    name: 'per-request limit',
    flag: '--request-timeout <duration>',
    env: ['RUNCTL_REQUEST_TIMEOUT'],
    key: 'requestTimeout',
    default: defaultRequestTimeout,
    about: 'how long one request may take, from 100ms to 10m',
  },
] as const satisfies readonly Setting[];

export type SettingKey = Extract<(typeof settingTable)[number], { key: string }>['key'];
/** Those that each profile has for itself; `profile` stands at the top of the file. */
export type StoredKey = Exclude<SettingKey, 'profile'>;

export const settingKeys: readonly SettingKey[] = settingTable.flatMap((row) => ('key' in row ? [row.key] : []));
export const storedKeys = settingKeys.filter((key): key is StoredKey => key !== 'profile');

/** A key as `runctl config` takes it. Throws a usage problem that lists them. */
export function parseSettingKey(text: string): SettingKey {
  const key = settingKeys.find((candidate) => candidate === text);
  if (key) return key;
  throw usageProblem(`there is no setting ${JSON.stringify(text)}`, `there are ${settingKeys.join(', ')}`);
}

/** The row of a key. */
export function settingOf(key: SettingKey): Setting {
  const row = settingTable.find((candidate) => 'key' in candidate && candidate.key === key);
  if (!row) throw new TypeError(`no setting ${key}`);
  return row;
}
