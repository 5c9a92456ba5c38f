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

/** The folder of the journal; undefined if there is no home folder. */
export const findStateFolder = (env: Env) => findFolder('stateFolder', env);

/** The path of the journal's folder. Throws a usage problem if the variable is invalid. */
export const resolveStateFolder = (env: Env): string | undefined => findStateFolder(env)?.value;

/** The path of config.json. Throws a usage problem if the variable is invalid. */
export function resolveConfigFile(env: Env): string | undefined {
  const folder = findConfigFolder(env);
  return folder && join(folder.value, 'config.json');
}

function findFolder(name: keyof typeof bases, env: Env) {
  const [variable] = settingTable[name].env;
  const path = env[variable];
  if (path) return { value: checkedAbsolute(path, variable), source: variable };
  // XDG Base Directory Specification: a relative path is invalid and to be ignored. Where cron sets
  // no home there is none: os.homedir() would make one up from the password file.
  for (const [source, subfolder] of Object.entries(bases[name])) {
    const base = env[source];
    if (base && isAbsolute(base)) {
      return { value: join(checkedPath(base, source), subfolder, 'runctl'), source };
    }
  }
  return undefined;
}

/**
 * Throws a usage problem for a path that looks like another one, for instance with a carriage
 * return at its end.
 */
function checkedPath(path: string, source: string): string {
  const wrapped = flawOfWrapped(path);
  if (wrapped) throw usageProblem(`${source} ${wrapped.flaw}`, wrapped.hint);
  const hint = 'give a path without it';
  if (/\p{Cc}/u.test(path)) throw usageProblem(`${source} contains a control character`, hint);
  if (path !== path.trim()) throw usageProblem(`${source} begins or ends with a space`, hint);
  return path;
}

/**
 * Throws a usage problem for a relative path (or a `~` that no shell has replaced), because from
 * another folder it would be another place.
 */
function checkedAbsolute(path: string, source: string): string {
  if (isAbsolute(checkedPath(path, source))) return path;
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
