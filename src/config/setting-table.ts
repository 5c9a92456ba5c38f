import { usageProblem } from '../problems/problem.ts';
import {
  type Parsed,
  parseApiKey,
  parseApiKeyCommand,
  parseBaseUrl,
  parseProject,
  parseRequestTimeout,
} from './parse.ts';

export type StoredKey = 'apiKey' | 'apiKeyCommand' | 'baseUrl' | 'project' | 'requestTimeout' | 'onExit';
export type SettingKey = StoredKey | 'profile';
export type SettingName = SettingKey | 'configFolder' | 'stateFolder';

/** A setting and every way to give it. */
export interface Setting {
  name: string;
  flag?: string;
  shortFlag?: string;
  flagAbout?: string;
  /** The variables that give it, the one that wins first. */
  env: readonly [string, ...string[]];
  isStored?: boolean;
  default?: string;
  about: string;
}

interface StoredSetting extends Setting {
  isStored: true;
  /** A secret is shown by its last characters only, and never taken from the command line itself. */
  isSecret?: boolean;
  parse(text: string): Parsed;
  hint: string;
}

export const defaultProfile = 'default';

/** Every setting. Flags, help, the manual, refusals, `runctl config` and the reading of settings take theirs from here. */
export const settingTable: Record<StoredKey, StoredSetting> & Record<SettingName, Setting> = {
  apiKey: {
    name: 'API key',
    flag: '--api-key-file <path>',
    flagAbout: 'read the API key from a file (- reads standard input)',
    env: ['RUNCTL_API_KEY', 'RUNCTL_API_KEY_FILE'],
    isStored: true,
    isSecret: true,
    about: 'sent with every request; required; the path `-` means standard input',
    parse: parseApiKey,
    hint: 'copy it again, alone and whole',
  },
  apiKeyCommand: {
    name: 'API key command',
    env: ['RUNCTL_API_KEY_COMMAND'],
    isStored: true,
    about: 'a shell command whose first line of output is the API key; run when the first request is due',
    parse: parseApiKeyCommand,
    hint: 'a command looks like `pass show runctl`',
  },
  baseUrl: {
    name: 'base URL',
    flag: '--base-url <url>',
    flagAbout: 'base URL of the service',
    env: ['RUNCTL_BASE_URL'],
    isStored: true,
    about: 'the address of the service; required; https, except on this machine',
    parse: parseBaseUrl,
    hint: 'a base URL looks like https://api.example.com',
  },
  project: {
    name: 'project',
    flag: '--project <uuid>',
    shortFlag: '-p',
    flagAbout: 'project of the automations',
    env: ['RUNCTL_PROJECT'],
    isStored: true,
    about: 'the UUID of the project that holds the automations which are given by name alone',
    parse: parseProject,
    hint: 'a project looks like 123e4567-e89b-42d3-a456-426614174000',
  },
  profile: {
    name: 'profile',
    flag: '--profile <name>',
    flagAbout: 'profile of the config file',
    env: ['RUNCTL_PROFILE'],
    isStored: true,
    default: defaultProfile,
    about: 'the name of the group of stored settings that is used',
  },
  configFolder: {
    name: 'config folder',
    env: ['RUNCTL_CONFIG_DIR'],
    default: 'the XDG config folder + runctl',
    about: 'where config.json is',
  },
  stateFolder: {
    name: 'state folder',
    env: ['RUNCTL_STATE_DIR'],
    default: 'the XDG state folder + runctl',
    about: 'where the journal is',
  },
  requestTimeout: {
    name: 'request timeout',
    flag: '--request-timeout <duration>',
    flagAbout: 'timeout of one request',
    env: ['RUNCTL_REQUEST_TIMEOUT'],
    isStored: true,
    default: '30s',
    about: 'how long one request may take, from 100ms to 10m',
    parse: parseRequestTimeout,
    hint: 'a duration looks like 500ms, 30s or 5m',
  },
  onExit: {
    name: 'hook for every exit',
    flag: '--on-exit <command>',
    flagAbout: 'shell command to run when this command ends, whatever the exit code; an empty one switches it off',
    env: ['RUNCTL_ON_EXIT'],
    isStored: true,
    about: 'a command that the shell runs when `trigger`, `watch` or `recover` ends, whatever the exit code',
    parse: (text) => ({ value: text }),
    hint: 'a command looks like notify.sh',
  },
};

const names = Object.keys(settingTable) as SettingName[];
export const settingKeys = names.filter((name): name is SettingKey => settingTable[name].isStored === true);
export const storedKeys = settingKeys.filter((key): key is StoredKey => key !== 'profile');

/** A key as `runctl config` takes it. Throws a usage problem that lists them. */
export function parseSettingKey(text: string): SettingKey {
  const key = settingKeys.find((candidate) => candidate.toLowerCase() === text.toLowerCase());
  if (key) return key;
  throw usageProblem(`there is no setting ${JSON.stringify(text)}`, `settings: ${settingKeys.join(', ')}`);
}
