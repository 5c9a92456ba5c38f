import { closeSync, fstatSync, lstatSync, openSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import Conf from 'conf';
import { makeOwnFolder, resolveOwn } from '../open-own.ts';
import { Problem, usageProblem } from '../problems/problem.ts';
import { type ConfigFile, parseConfig, readConfigFile } from './config-file.ts';

/** Replaces the file in one step and keeps a link to it. Throws a usage problem if it can't be read or written. */
export function changeConfigFile(path: string, change: (config: ConfigFile) => ConfigFile): void {
  try {
    const named = resolveOwn(path).path;
    const folder = makeOwnFolder(dirname(named));
    const file = join(folder, basename(named));
    withLock(`${file}.lock`, () => {
      const conf = new Conf<ConfigFile>({
        cwd: folder,
        configName: basename(file),
        fileExtension: '',
        projectSuffix: '',
        configFileMode: modeFor(file),
        // A profile's name may contain dots.
        accessPropertiesByDotNotation: false,
        deserialize: (text) => parseConfig(text, path),
        serialize: (config) => `${JSON.stringify(config, null, 2)}\n`,
      });
      conf.store = change(readConfigFile(path).config);
    });
  } catch (error) {
    if (error instanceof Problem) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    throw usageProblem(
      `the config file ${path} can't be written (${code ?? message})`,
      'set RUNCTL_CONFIG_DIR to a writable folder, or use the environment variable of the setting',
    );
  }
}

/** The file's mode: only for its owner. If the owner can only read it, that stays so. */
function modeFor(path: string): number {
  const mode = resolveOwn(path).stat?.mode ?? 0;
  // conf reads 0 as "not set", and then writes a file that everyone can read.
  return mode & 0o600 || 0o600;
}

/** If a process is killed while it has the lock, the lock is taken over after this long. */
const staleMs = 10_000;
const givenUpMs = 30_000;
const betweenMs = 10;

/** Runs `change` under the lock, and again if another process took the lock over. Throws the errors of node:fs. */
export function withLock(lock: string, change: () => void): void {
  for (;;) {
    const fd = takeLock(lock);
    let isOurs = true;
    try {
      change();
    } finally {
      isOurs = release(lock, fd);
    }
    if (isOurs) return;
  }
}

/** Returns whether the lock was still ours. A failure doesn't undo the change, because a lock that stays is taken over. */
function release(lock: string, fd: number): boolean {
  let isOurs = true;
  for (const step of [
    () => {
      isOurs = inodeOf(lock) === fstatSync(fd).ino;
    },
    () => closeSync(fd),
    () => isOurs && rmSync(lock, { force: true }),
  ]) {
    try {
      step();
    } catch {}
  }
  return isOurs;
}

function takeLock(lock: string): number {
  const endMs = Date.now() + givenUpMs;
  for (;;) {
    try {
      // `wx` creates the file and doesn't follow links. Whatever is already there is another process's lock.
      return openSync(lock, 'wx', 0o600);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    if (Date.now() > endMs) throw new Error(`another process holds ${lock}; if there is none, remove it`);
    const stat = lstatSync(lock, { throwIfNoEntry: false });
    if (stat?.isDirectory()) throw new Error(`${lock} is a folder: remove it`);
    if (stat && Date.now() - stat.mtimeMs > staleMs) rmSync(lock, { force: true });
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, betweenMs);
  }
}

const inodeOf = (path: string) => lstatSync(path, { throwIfNoEntry: false })?.ino;
