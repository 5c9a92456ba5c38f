import { closeSync, existsSync, openSync, realpathSync, rmSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { CommandContext } from '../context.ts';
import { exitNameOfSignal } from '../run/exit-codes.ts';
import { interruptedProblem, Problem, usageProblem } from '../run/problem.ts';
import { shellWord } from '../run/quote.ts';
import { isJsonObject, type JsonObject } from '../system/json.ts';
import {
  fileAndFolder,
  groupVolumeHint,
  makeOwnFolder,
  readOwn,
  repairableOf,
  UnsafePathError,
} from '../system/own-file.ts';
import { hintForRootOwned } from './folders.ts';
import { type StoredSettingName, storedSettingNames } from './table.ts';

export type Profile = { [Name in StoredSettingName]?: string };

/** The content of config.json. Unknown fields are kept, because a newer version may need them. */
export interface ConfigFile {
  profile?: string;
  profiles?: Record<string, Profile>;
}

export interface ReadConfig {
  path: string | undefined;
  config: ConfigFile;
  /** Whether the file contains an API key and its mode lets others read it. */
  isExposed: boolean;
  /** Why the file isn't used: others can change it. */
  untrustedProblem?: Problem;
}

const maxMebibytes = 16;
const fixHint = 'fix it by hand, or move it away. It was not changed';

/**
 * Reads config.json. Without one, or if others can change it, nothing is set. Throws a usage
 * problem if it is invalid.
 */
export function readConfigFile(path: string | undefined): ReadConfig {
  const nothing = { path, config: {}, isExposed: false };
  if (path === undefined) return nothing;
  try {
    const { bytes, mode } = readOwn(path, maxMebibytes);
    const config = parseConfig(bytes.toString(), path);
    const holdsKey = Object.values(config.profiles ?? {}).some(({ apiKey }) => apiKey);
    return { path, config, isExposed: holdsKey && (mode & 0o077) !== 0 };
  } catch (error) {
    if (error instanceof UnsafePathError)
      return { ...nothing, untrustedProblem: unsafeProblem(error, path) };
    if (error instanceof Problem) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    // Some users set RUNCTL_CONFIG_DIR=/dev/null to have no config file.
    if (code === 'ENOENT' || code === 'ENOTDIR') return nothing;
    throw usageProblem(
      `the config file ${path} can't be read (${code ?? message})`,
      hintForRootOwned(path) ?? 'check its owner and its mode',
    );
  }
}

function unsafeProblem({ message, isOfGroupVolume }: UnsafePathError, path: string): Problem {
  const elsewhere = 'name a folder of your own with RUNCTL_CONFIG_DIR';
  const wrong = repairableOf(fileAndFolder(path));
  const repair = `\`chmod go-w ${wrong.map(shellWord).join(' ')}\``;
  const hint = isOfGroupVolume ? groupVolumeHint(repair) : `${elsewhere}, or: ${repair}`;
  return usageProblem(
    `${message}, and the config file says what to run and where to send the API key`,
    wrong.length > 0 ? hint : elsewhere,
  );
}

const maxTries = 100;
const betweenTriesMs = 50;

/**
 * Replaces the file in one step, and keeps a link to it. Commands that change it at the same time
 * do so one after the other. Throws a usage problem if it can't be read or written, and the
 * interrupted problem.
 */
export async function changeConfigFile(
  path: string,
  change: (config: ConfigFile) => ConfigFile,
  context: Pick<CommandContext, 'clock' | 'signal'>,
): Promise<void> {
  // Loaded here because it takes long to load, and only commands that change the file need it.
  const { default: Conf } = await import('conf');
  try {
    const file = existsSync(path) ? realpathSync(path) : path;
    const folder = makeOwnFolder(dirname(file));
    const lock = `${file}.lock`;
    await waitForLock(lock, path, context);
    try {
      const { config, untrustedProblem } = readConfigFile(path);
      if (untrustedProblem) throw untrustedProblem;
      const conf = new Conf<ConfigFile>({
        cwd: folder,
        configName: basename(file),
        fileExtension: '',
        configFileMode: 0o600,
        deserialize: (text) => parseConfig(text, path),
        serialize: (changed) => `${JSON.stringify(changed, null, 2)}\n`,
      });
      conf.store = change(config);
    } finally {
      rmSync(lock, { force: true });
    }
  } catch (error) {
    throw error instanceof Problem ? error : unwritableProblem(error, path);
  }
}

function unwritableProblem(error: unknown, path: string): Problem {
  const { code, message } = error as NodeJS.ErrnoException;
  const rootHint = code === 'EACCES' ? hintForRootOwned(path) : undefined;
  return usageProblem(
    `the config file ${path} can't be written (${code ?? message})`,
    rootHint ??
      'set RUNCTL_CONFIG_DIR to a folder that only you can write to, or use the environment variable of the setting',
  );
}

/** Creates the lock as soon as no other command has it. Throws after some time. */
async function waitForLock(
  lock: string,
  path: string,
  { clock, signal }: Pick<CommandContext, 'clock' | 'signal'>,
): Promise<void> {
  for (let tries = 1; !createLock(lock); tries += 1) {
    if (signal.aborted) throw interruptedProblem(exitNameOfSignal(signal));
    if (tries === maxTries) throw busyProblem(path, lock);
    await clock.sleep(betweenTriesMs, signal);
  }
}

/**
 * Creates the file that keeps other commands from changing the config file. Returns false if there
 * is one already.
 */
function createLock(path: string): boolean {
  try {
    closeSync(openSync(path, 'wx', 0o600));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

const busyProblem = (path: string, lock: string) =>
  usageProblem(
    `${path} is being changed by another command, so nothing was stored`,
    `try again. If no other command is at work, one was killed:\n\`rm ${shellWord(lock)}\``,
  );

/** Throws a usage problem that names the path. */
function parseConfig(text: string, path: string): ConfigFile {
  let value: unknown;
  try {
    // Windows editors begin a file with a byte order mark.
    value = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    // The parser's message may quote the API key.
    throw usageProblem(`the config file ${path} is not JSON`, fixHint);
  }
  const flaw = flawOfConfig(value);
  if (flaw) throw usageProblem(`the config file ${path} is invalid: ${flaw}`, fixHint);
  return value as ConfigFile;
}

function flawOfConfig(config: unknown): string | undefined {
  if (!isJsonObject(config)) return 'it is not an object';
  if (!isAbsentOrText(config, 'profile')) return 'profile is not a string';
  const { profiles = {} } = config;
  if (!isJsonObject(profiles)) return 'profiles is not an object';
  for (const [name, profile] of Object.entries(profiles)) {
    if (!isJsonObject(profile)) return `profiles.${name} is not an object`;
    const wrongKey = storedSettingNames.find((field) => !isAbsentOrText(profile, field));
    if (wrongKey) return `profiles.${name}.${wrongKey} is not a string`;
  }
  return undefined;
}

const isAbsentOrText = (object: JsonObject, field: string) =>
  !Object.hasOwn(object, field) || typeof object[field] === 'string';
