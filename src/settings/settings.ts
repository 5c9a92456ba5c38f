import type { ConfigFile } from './config-file.ts';
import type { ProfileKey } from './table.ts';

/** A setting's value and where it came from: `--base-url`, `RUNCTL_BASE_URL`, `default`, a profile. */
export interface Setting<T> {
  value: T;
  source: string;
}

/**
 * Nothing is read or checked before it is asked for: reading a property throws a `Problem` if the
 * setting, or the config file that it comes from, is wrong.
 */
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

/** Where the API key comes from. It may be replaced while a command runs. */
export interface ApiKeySource {
  source: string;
  /**
   * Reads it (again), hides it in every output from then on, and returns it. Throws a `Problem`
   * that says what is wrong with the source.
   */
  read(): Promise<string>;
}
