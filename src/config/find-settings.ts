import type { Context } from '../context.ts';
import { Problem } from '../problems/problem.ts';
import { readConfigFile } from './config-file.ts';
import { resolveConfigFile } from './paths.ts';
import { type ChosenProfile, chooseProfile, readProfile, sourceOf } from './profile.ts';
import { readKeyFile, readKeyInput } from './read-key.ts';
import { defaultRequestTimeout, type StoredKey, settingOf } from './setting-table.ts';

/** The flags of `--help`'s settings, as they were typed. */
export interface SettingFlags {
  /** `-` is standard input. */
  apiKeyFile?: string;
  baseUrl?: string;
  project?: string;
  profile?: string;
  requestTimeout?: string;
}

/** A setting as it was given, not yet checked; or why it could not even be read. */
export type Found = { source: string; text: string } | { source: string; problem: Problem };

export interface FoundSettings {
  profile: ChosenProfile;
  /** What nobody has given is not there. */
  given: { [key in StoredKey]?: Found } & { requestTimeout: Found };
}

/**
 * Looks for every setting: flag, then environment, then the profile in the file, then the default. Throws a usage problem
 * for a config file that cannot be read, and for a profile that is not in it; warns of a key that others can read.
 */
export async function findSettings(flags: SettingFlags, context: Context): Promise<FoundSettings> {
  const { env, secrets, stderr } = context;
  const file = readConfigFile(resolveConfigFile(env));
  if (file.isExposed) stderr.write(`runctl: others can read the API key in ${file.path}: chmod 600 ${file.path}\n`);
  const profile = chooseProfile(flags.profile, env, file);
  const stored = readProfile(profile, file);

  function find(key: StoredKey, flag: string | undefined): Found | undefined {
    const {
      flag: usage = '',
      env: [variable = ''],
    } = settingOf(key);
    if (flag !== undefined) return { source: `flag ${usage.split(' ')[0]}`, text: flag };
    if (env[variable]) return { source: variable, text: env[variable] };
    return stored[key] ? { source: sourceOf(profile.name, file.path), text: stored[key] } : undefined;
  }

  async function findApiKey(): Promise<Found | undefined> {
    const { apiKeyFile } = flags;
    if (apiKeyFile === '-') return read('flag --api-key-file', readKeyInput(context));
    if (apiKeyFile !== undefined) return read('flag --api-key-file', readKeyFile(apiKeyFile, context));
    const { RUNCTL_API_KEY: value, RUNCTL_API_KEY_FILE: path } = env;
    if (!value && path) return read('RUNCTL_API_KEY_FILE', readKeyFile(path, context));
    return find('apiKey', undefined);
  }

  const apiKey = await findApiKey();
  if (apiKey && 'text' in apiKey) secrets.protect(apiKey.text.trim());
  return {
    profile,
    given: {
      apiKey,
      baseUrl: find('baseUrl', flags.baseUrl),
      project: find('project', flags.project),
      requestTimeout: find('requestTimeout', flags.requestTimeout) ?? {
        source: 'default',
        text: defaultRequestTimeout,
      },
    },
  };
}

/** What was given, by one of the parsers; throws a usage problem. */
export function parse<T>(found: Found, parser: (text: string, source: string) => T): T {
  if ('problem' in found) throw found.problem;
  return parser(found.text, found.source);
}

/** A key that cannot be read stops only the commands that need one. */
async function read(source: string, reading: Promise<string>): Promise<Found> {
  try {
    return { source, text: await reading };
  } catch (error) {
    if (error instanceof Problem && error.facts.name === 'usage') return { source, problem: error };
    throw error;
  }
}
