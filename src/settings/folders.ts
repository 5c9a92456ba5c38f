import { isAbsolute, join } from 'node:path';
import { usageProblem } from '../run/problem.ts';
import { shellWord } from '../run/quote.ts';
import type { Env } from '../system/env.ts';
import { partOwnedByRoot } from '../system/own-file.ts';
import { settingTable } from './table.ts';
import { flawOfWrapped } from './wrapped-text.ts';

/**
 * The variables whose folders contain ours, in order of priority, and the path from there to ours.
 */
const bases = {
  configFolder: { XDG_CONFIG_HOME: '', HOME: '.config' },
  stateFolder: { XDG_STATE_HOME: '', HOME: '.local/state' },
} as const;

/** The folder of config.json; undefined if there is no home folder. */
export const findConfigFolder = (env: Env) => findFolder('configFolder', env);

export const findStateFolder = (env: Env) => findFolder('stateFolder', env);

export const resolveStateFolder = (env: Env): string | undefined => findStateFolder(env)?.value;

export function resolveConfigFile(env: Env): string | undefined {
  const folder = findConfigFolder(env);
  return folder && join(folder.value, 'config.json');
}

function findFolder(name: keyof typeof bases, env: Env) {
  const [own] = settingTable[name].env;
  if (env[own]) return { value: absolute(clean(env[own], own), own), source: own };
  // XDG Base Directory Specification: a relative path is invalid and to be ignored. Where cron sets
  // no home there is none: os.homedir() would make one up from the password file.
  for (const [source, way] of Object.entries(bases[name])) {
    const base = env[source];
    if (base && isAbsolute(base))
      return { value: join(clean(base, source), way, 'runctl'), source };
  }
  return undefined;
}

/**
 * With a carriage return at its end, for instance, it would be another folder, which looks the
 * same.
 */
function clean(path: string, source: string): string {
  const wrapped = flawOfWrapped(path);
  if (wrapped) throw usageProblem(`${source} ${wrapped.flaw}`, wrapped.hint);
  if (/\p{Cc}/u.test(path))
    throw usageProblem(`${source} contains a control character`, 'give a path without it');
  if (path !== path.trim())
    throw usageProblem(`${source} begins or ends with a space`, 'give a path without it');
  return path;
}

/**
 * From another folder, a relative path (or a `~` that no shell has replaced) would be another
 * place.
 */
function absolute(path: string, source: string): string {
  if (isAbsolute(path)) return path;
  throw usageProblem(`${source} isn't an absolute path`, 'give a path that begins with /');
}

/**
 * What to do about a path that the user may not read or write. Undefined unless root owns a part of
 * it in the user's folder.
 */
export function hintForRootOwned(path: string): string | undefined {
  const part = partOwnedByRoot(path);
  if (part === undefined) return undefined;
  return `root owns it, perhaps since a command with sudo. To take it back:\n\`sudo chown -R $(id -u) ${shellWord(part)}\``;
}
