import { readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { Problem } from '../core/report.ts';
import { isJsonObject, type JsonObject } from '../core/run.ts';
import { type ProfileKey, profileKeys } from './table.ts';

export type Profile = { readonly [Key in ProfileKey]?: string };

export interface ConfigFile {
  path: string;
  /** Others can read or write it. */
  isShared: boolean;
  /** The profile in force if neither a flag nor the environment names one. */
  profile?: string;
  profiles: Readonly<Record<string, Profile>>;
}

/** Without the file nothing is set. Throws a `Problem` if it can't be used. */
export function readConfigFile(path: string): ConfigFile {
  try {
    const isShared = (statSync(path).mode & 0o066) !== 0;
    return { path, isShared, ...parseConfig(readFileSync(path, 'utf8'), path) };
  } catch (error) {
    if (error instanceof Problem) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return { path, isShared: false, profiles: {} };
    throw new Problem(`the config file ${path} can't be read (${code})`);
  }
}

/** What a profile has: nothing if there is no such profile. */
export const profileIn = ({ profiles }: ConfigFile, name: string): Profile =>
  (Object.hasOwn(profiles, name) && profiles[name]) || {};

/** Writes profile and profiles, for the user alone. Throws a `Problem` if that fails. */
export async function writeConfigFile({ path, profile, profiles }: ConfigFile): Promise<void> {
  try {
    const { default: Conf } = await import('conf');
    const conf = new Conf<JsonObject>({
      cwd: dirname(path),
      projectSuffix: '',
      configFileMode: 0o600,
      deserialize: (text) => ({ ...parseConfig(text, path) }),
      serialize: (config) => `${JSON.stringify(config, null, 2)}\n`,
    });
    conf.store = { ...(profile !== undefined && { profile }), profiles };
  } catch (error) {
    if (error instanceof Problem) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Problem(`the config file ${path} can't be written (${code ?? message})`);
  }
}

function parseConfig(text: string, path: string): Pick<ConfigFile, 'profile' | 'profiles'> {
  let config: unknown;
  try {
    // Some editors begin a file with a byte order mark.
    config = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    // The message of JSON.parse quotes the file, which may have an API key.
    throw new Problem(`the config file ${path} isn't valid JSON`);
  }
  const wrong = wrongPlaceIn(config);
  if (wrong === undefined) return { profiles: {}, ...(config as object) };
  throw new Problem(
    `the config file ${path} is wrong at ${wrong}: it must be { "profile": …, "profiles": { "default": { … } } }, and a profile has only ${profileKeys.join(', ')}, each a string`,
  );
}

/** The first key that isn't ours, is at the wrong place or has a value of the wrong type. */
function wrongPlaceIn(config: unknown): string | undefined {
  if (!isJsonObject(config)) return 'its beginning';
  const { profile = '', profiles = {}, ...others } = config;
  const [other] = Object.keys(others);
  if (other !== undefined) return other;
  if (typeof profile !== 'string') return 'profile';
  if (!isJsonObject(profiles)) return 'profiles';
  for (const [name, settings] of Object.entries(profiles)) {
    if (!isJsonObject(settings)) return `profiles.${name}`;
    const keys = Object.keys(settings);
    const wrong = keys.find(
      (key) => !profileKeys.includes(key as ProfileKey) || typeof settings[key] !== 'string',
    );
    if (wrong !== undefined) return `profiles.${name}.${wrong}`;
  }
  return undefined;
}
