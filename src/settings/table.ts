import { didYouMean } from '../run/near-words.ts';
import { type Problem, usageProblem } from '../run/problem.ts';
import { quote } from '../run/quote.ts';
import {
  type Parsed,
  parseApiKey,
  parseApiKeyCommand,
  parseBaseUrl,
  parseKeyTreatment,
  parseProject,
  parseRequestTimeout,
} from './values.ts';
import { flawOfWrapped } from './wrapped-text.ts';

// A text passes through these types: `Setting` says where it may come from, `parse` of a
// `StoredSetting` makes a `Parsed` of it (the value or a flaw), `parseSetting` a `Given` (with the
// source, or with a problem), and `resolveSettings` takes one `Given` of several as `Resolved`.

/** A setting and every way to set it. */
export interface Setting {
  /** How a sentence names it, such as `base URL`. */
  label: string;
  flag?: string;
  /** The variables that set it, highest priority first. */
  env: readonly [string, ...string[]];
  isStored?: boolean;
  /**
   * Suggested commands get the flag of this setting, so that they use the same service and project.
   * False by default.
   */
  isForwarded?: boolean;
  default?: string;
  description: string;
}

interface StoredSetting<Value> extends Setting {
  isStored: true;
  parse(text: string): Parsed<Value>;
  hint: string;
}

const stored = <Value>(setting: Omit<StoredSetting<Value>, 'isStored'>): StoredSetting<Value> => ({
  ...setting,
  isStored: true,
});

export const defaultProfile = 'default';

/**
 * All settings. Flags, help, the man page, error messages, `runctl config` and the reading of
 * settings are made from this table.
 */
export const settingTable = {
  apiKey: stored({
    label: 'API key',
    flag: '--api-key-file <path>',
    env: ['RUNCTL_API_KEY', 'RUNCTL_API_KEY_FILE'],
    description: 'required, sent with every request (`-` reads it from standard input)',
    parse: parseApiKey,
    hint: 'copy it again: the whole API key and nothing else',
  }),
  apiKeyCommand: stored({
    label: 'API key command',
    env: ['RUNCTL_API_KEY_COMMAND'],
    description: 'a shell command that prints the API key, run before the first request',
    parse: parseApiKeyCommand,
    hint: 'use a command like `pass show runctl`',
  }),
  baseUrl: stored({
    isForwarded: true,
    label: 'base URL',
    flag: '--base-url <url>',
    env: ['RUNCTL_BASE_URL'],
    description: 'required, with https except for localhost',
    parse: parseBaseUrl,
    hint: 'use a URL like https://api.example.com',
  }),
  project: stored({
    isForwarded: true,
    label: 'project',
    flag: '--project <uuid>',
    env: ['RUNCTL_PROJECT'],
    description: 'the default project (UUID), used when you give only a name',
    parse: parseProject,
    hint: 'use a UUID like 123e4567-e89b-42d3-a456-426614174000',
  }),
  profile: {
    isForwarded: true,
    label: 'profile',
    flag: '--profile <name>',
    env: ['RUNCTL_PROFILE'],
    isStored: true,
    default: defaultProfile,
    description: 'a named group of stored settings',
  },
  configFolder: {
    label: 'config folder',
    env: ['RUNCTL_CONFIG_DIR'],
    default: '`~/.config/runctl`, or `runctl` in `$XDG_CONFIG_HOME`',
    description: 'where config.json is',
  },
  stateFolder: {
    label: 'state folder',
    env: ['RUNCTL_STATE_DIR'],
    default: '`~/.local/state/runctl`, or `runctl` in `$XDG_STATE_HOME`',
    description: 'where the journal is',
  },
  requestTimeout: stored({
    label: 'request timeout',
    flag: '--request-timeout <duration>',
    env: ['RUNCTL_REQUEST_TIMEOUT'],
    default: '30s',
    description: 'time limit for one request, from 100ms to 10m',
    parse: parseRequestTimeout,
    hint: 'use a duration like 500ms, 30s or 5m',
  }),
  idempotencyKeys: stored({
    label: 'setting idempotencyKeys',
    env: ['RUNCTL_IDEMPOTENCY_KEYS'],
    default: 'honored',
    description:
      '`honored` or `ignored`: what the service does with idempotency keys (`runctl doctor --try-key` finds out)',
    parse: parseKeyTreatment,
    hint: 'use `honored` or `ignored`',
  }),
} satisfies Record<string, Setting>;

export type SettingName = keyof typeof settingTable;
/** The settings that a profile stores. */
export type StoredSettingName = {
  [Name in SettingName]: (typeof settingTable)[Name] extends StoredSetting<infer _> ? Name : never;
}[SettingName];
/** The settings that `runctl config` shows and changes. */
type ConfigSettingName = StoredSettingName | 'profile';
export type SettingValueOf<Name> = Name extends StoredSettingName
  ? (typeof settingTable)[Name] extends StoredSetting<infer Value>
    ? Value
    : never
  : string;

const entries = Object.entries<Setting>(settingTable) as [SettingName, Setting][];
export const configSettingNames = entries.flatMap(([name, { isStored }]) =>
  isStored ? (name as ConfigSettingName) : [],
);
export const storedSettingNames = configSettingNames.filter(
  (name): name is StoredSettingName => name !== 'profile',
);

/** The name of a setting as `runctl config` accepts it. Throws a usage problem that lists them. */
export function parseConfigSettingName(text: string): ConfigSettingName {
  const plain = (word: string) => word.toLowerCase().replaceAll(/[-_]/g, '');
  const [typed = '', value] = text.split('=');
  const name = configSettingNames.find((each) => plain(each) === plain(typed));
  if (!name)
    throw usageProblem(
      `there is no setting ${quote(typed)}`,
      didYouMean(typed, configSettingNames) ?? `settings: ${configSettingNames.join(', ')}`,
    );
  if (value !== undefined)
    throw usageProblem(
      'a setting and its value are two arguments',
      `\`runctl config set ${usageOf(name)}\``,
    );
  return name;
}

/**
 * The name and the value of a setting, as `config set` takes them. The API key has no value here,
 * because it is never typed on a command line.
 */
export const usageOf = (name: ConfigSettingName) => (name === 'apiKey' ? name : `${name} <value>`);

/**
 * A setting that was set: its value, or why it is refused. The source names the flag, the variable
 * or the profile.
 */
export type Given<Value> =
  | { value: Value; text: string; source: string; problem?: undefined }
  | { value?: undefined; text?: undefined; source: string; problem: Problem };

/** The current value of a setting: from a source that gave it, or the default. */
export interface Resolved<Value = unknown> {
  value?: Value;
  /** The value as it is shown and stored. */
  text?: string;
  source?: string;
  problem?: Problem;
}

/** The API key, which may be replaced while runctl runs, and which a command may print. */
export interface ResolvedApiKey extends Resolved<string> {
  /**
   * Reads the API key again, because it may have been replaced. Undefined for a source that can't
   * change, such as a variable.
   */
  reread?(): Promise<Given<string> | undefined>;
  /** The shell command that prints the API key, in place of a value. */
  command?: string;
}

/**
 * Checks the text of a setting. Never throws, because a refused setting only stops commands that
 * need it.
 */
export function parseSetting<Name extends StoredSettingName>(
  name: Name,
  text: string,
  source: string,
): Given<SettingValueOf<Name>> {
  const parsed = parseText(name, text);
  if ('value' in parsed)
    return { value: parsed.value, text: parsed.text ?? String(parsed.value), source };
  const { label, hint }: StoredSetting<unknown> = settingTable[name];
  return {
    source,
    problem: usageProblem(`the ${label} (${source}) ${parsed.flaw}`, parsed.hint ?? hint),
  };
}

/** The value of a text, from whatever source, or what is wrong with it. */
export function parseText<Name extends StoredSettingName>(
  name: Name,
  text: string,
): Parsed<SettingValueOf<Name>> {
  const { parse } = settingTable[name] as unknown as StoredSetting<SettingValueOf<Name>>;
  // A file ends with a line break, and a shell command may begin with an assignment or with quotes.
  const value = name === 'apiKey' ? text.replace(/(\r?\n)+$/, '') : text;
  const flaw = name === 'apiKeyCommand' ? undefined : flawOfWrapped(value);
  return flaw ?? parse(value);
}

/**
 * The value of a setting that a command can do without; undefined if it isn't set. Throws a usage
 * problem if its text was refused.
 */
export function optionalValue<Value>({ value, problem }: Resolved<Value>): Value | undefined {
  if (problem) throw problem;
  return value;
}

/** The source of a setting that a flag gave, such as `flag --base-url`. */
export const flagSource = (name: ConfigSettingName) =>
  `flag ${(settingTable[name] as Setting).flag?.split(' ')[0]}`;
