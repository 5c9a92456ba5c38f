import { Problem } from '../core/report.ts';
import { isUuid } from '../core/run.ts';
import { parseDuration } from '../text/duration.ts';
import { isLoopback } from '../text/loopback.ts';

/** A setting and every way to give it. */
export interface SettingRow {
  /** How a sentence names it. */
  label: string;
  /** With the name of its value. */
  flag?: string;
  env: readonly string[];
  default?: string;
  /** For help and the reference: lower case, without a full stop. */
  description: string;
  /** What a value must be. */
  allowed: string;
  /** What is used and stored of a text. Undefined if the text isn't allowed. */
  parse(text: string): string | undefined;
}

/**
 * Every setting, by its key in the config file. Help, messages and `config list` are made from this
 * table, and a test holds the reference to it. Its flags are declared in `cli.ts`.
 */
export const settingTable = {
  apiKey: {
    label: 'API key',
    flag: '--api-key-file <path>',
    env: ['RUNCTL_API_KEY', 'RUNCTL_API_KEY_FILE'],
    description: 'the secret that is sent with every request',
    allowed: 'one line of visible ASCII characters, and nothing else',
    // The end of a line belongs to the file or the pipe that the API key comes from.
    parse: (text) => /^([!-~]+)(\r?\n)*$/.exec(text)?.[1],
  },
  apiKeyCommand: {
    label: 'API key command',
    env: [],
    description: 'a shell command whose first line of output is the API key',
    allowed: 'a shell command',
    parse: (text) => matching(/\S/, text),
  },
  baseUrl: {
    label: 'base URL',
    flag: '--base-url <url>',
    env: ['RUNCTL_BASE_URL'],
    description: "the service's address, https except on this machine",
    allowed:
      'an https URL such as https://api.example.com, without password, query and fragment (http only for localhost)',
    parse: parseBaseUrl,
  },
  project: {
    label: 'project',
    flag: '-p, --project <uuid>',
    env: ['RUNCTL_PROJECT'],
    description: 'the project of automations that are given by name alone',
    allowed: 'a UUID such as 123e4567-e89b-42d3-a456-426614174000',
    parse: (text) => (isUuid(text) ? text.toLowerCase() : undefined),
  },
  profile: {
    label: 'profile',
    flag: '--profile <name>',
    env: ['RUNCTL_PROFILE'],
    default: 'default',
    description: 'a named group of settings in the config file',
    allowed: 'a name without spaces that begins with no dash',
    parse: (text) => matching(/^[^\p{C}\p{Z}\p{Dash}][^\p{C}\p{Z}]*$/u, text),
  },
  requestTimeout: {
    label: 'request timeout',
    env: ['RUNCTL_REQUEST_TIMEOUT'],
    default: '30s',
    description: 'the time limit of one request',
    allowed: 'a duration with a unit, such as 500ms, 30s or 2m',
    parse: (text) => (parseDuration(text) ? text : undefined),
  },
  idempotencyKeys: {
    label: 'idempotency keys',
    env: ['RUNCTL_IDEMPOTENCY_KEYS'],
    default: 'honored',
    description: 'what the service does with them: honored or ignored',
    allowed: 'honored or ignored',
    parse: (text) => matching(/^(honored|ignored)$/, text),
  },
  configDir: {
    label: 'config folder',
    env: ['RUNCTL_CONFIG_DIR'],
    default: '$XDG_CONFIG_HOME/runctl, or ~/.config/runctl',
    description: 'the folder of config.json',
    allowed: 'an absolute path',
    parse: absolutePath,
  },
  stateDir: {
    label: 'state folder',
    env: ['RUNCTL_STATE_DIR'],
    default: '$XDG_STATE_HOME/runctl, or ~/.local/state/runctl',
    description: 'the folder of the journal',
    allowed: 'an absolute path',
    parse: absolutePath,
  },
} as const satisfies Record<string, SettingRow>;

export type SettingName = keyof typeof settingTable;

/** The keys of a profile. */
export const profileKeys = [
  'apiKey',
  'apiKeyCommand',
  'baseUrl',
  'project',
  'requestTimeout',
  'idempotencyKeys',
] as const satisfies readonly SettingName[];

export type ProfileKey = (typeof profileKeys)[number];

/** What `config get`, `set` and `unset` take. The profile stands at the top of the config file. */
export const configKeys = [...profileKeys, 'profile'] as const;

/**
 * What is used of a setting's text. Throws a `Problem` that names the source and says what is
 * allowed. It doesn't quote the text, which may be an API key at the wrong place.
 */
export function checkSetting(name: SettingName, text: string, source: string): string {
  const { label, allowed, parse } = settingTable[name];
  const value = parse(text);
  if (value !== undefined) return value;
  throw new Problem(`the ${label} (${source}) must be ${allowed}`);
}

const matching = (form: RegExp, text: string) => (form.test(text) ? text : undefined);

function parseBaseUrl(text: string): string | undefined {
  // The parser drops line breaks, and takes `user` for the host in `https://user:1/2@host`.
  if (/[\s?#@]/.test(text) || !URL.canParse(text)) return undefined;
  const { protocol, hostname, origin, pathname } = new URL(text);
  const isSafe = protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
  return isSafe ? origin + pathname.replace(/\/+$/, '').replace(/\/+v0$/, '') : undefined;
}

// A relative path, or a `~` that no shell has replaced, would be another folder in each place.
function absolutePath(text: string): string | undefined {
  return matching(/^\//, text);
}
