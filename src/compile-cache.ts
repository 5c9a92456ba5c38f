import {
  closeSync,
  fsyncSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, isAbsolute, join, parse } from 'node:path';
import { geteuid } from 'node:process';
import { Script } from 'node:vm';
import type { Env } from './context.ts';
import { makeFolder } from './make-folder.ts';
import { withoutFlags } from './v8-flags.ts';

export interface CompileCacheOptions {
  env: Env;
  /** Tells builds of the program and versions of Node apart. */
  build: string;
  /** What of the program is used differs from command to command. */
  command: string;
}

/**
 * Keeps what V8 has compiled of the program's other files in the user's cache folder: a third of the time of `status`.
 * Node keeps it, too, from 22.8 on, but only what is compiled as a file is loaded: less than half. Returns a function to
 * be called when the program ends, which writes what was not kept yet.
 */
export function useCompileCache({ env, build, command }: CompileCacheOptions): () => void {
  const caches = env.XDG_CACHE_HOME || (env.HOME && join(env.HOME, '.cache'));
  const folder = caches && join(caches, 'runctl', build);
  if (env.NODE_DISABLE_COMPILE_CACHE || !folder || !isAbsolute(folder) || !isOurs(folder)) return () => {};
  const compiled: { file: string; script: Script }[] = [];

  const { extensions } = createRequire(join(import.meta.dirname, 'main.cjs'));
  const load = extensions['.cjs'] ?? extensions['.js'];
  extensions['.cjs'] = (module, path) => {
    // Somebody's `--require` may load files of its own.
    if (dirname(path) !== import.meta.dirname) return load(module, path);
    const file = join(folder, `${command}-${parse(path).name}`);
    const cachedData = read(file);
    const source = `(function (exports, require, module, __dirname) {${readFileSync(path, 'utf8')}\n})`;
    const script = withoutFlags(() => new Script(source, { filename: path, cachedData }));
    if (!cachedData || script.cachedDataRejected) compiled.push({ file, script });
    script.runInThisContext()(module.exports, (id: string) => module.require(id), module, dirname(path));
  };

  return () => {
    if (compiled.length === 0) return;
    try {
      makeFolder(folder);
      if (!isOurs(folder)) return;
      withoutFlags(() => {
        for (const { file, script } of compiled) write(file, script.createCachedData());
      });
    } catch {
      // A folder that cannot be written, or is full: the program starts as it would without.
    }
  };
}

/**
 * What is kept is run. So nothing is read or written where another user has a say: in folders that others can write to or
 * own (`sudo` with the HOME of a user), or behind a link.
 */
function isOurs(folder: string): boolean {
  const user = geteuid?.();
  if (user === undefined) return true;
  try {
    const own = [folder, dirname(folder)].map((path) => lstatSync(path, { throwIfNoEntry: false }));
    if (own.some((stats) => stats && !(stats.isDirectory() && stats.uid === user && (stats.mode & 0o022) === 0)))
      return false;
    const caches = dirname(dirname(folder));
    const place = [caches, dirname(caches)].map((path) => statSync(path, { throwIfNoEntry: false })).find(Boolean);
    return place?.uid === user;
  } catch {
    return false;
  }
}

/** It stands there twice: V8 would crash on what a disk has garbled, and node:zlib takes 3 ms to load for a checksum. */
function read(file: string): Buffer | undefined {
  try {
    const twice = readFileSync(file);
    const code = twice.subarray(0, twice.length / 2);
    return code.equals(twice.subarray(code.length)) ? code : undefined;
  } catch {
    return undefined;
  }
}

/** Whole or not at all, also when the machine stops. */
function write(file: string, code: Buffer): void {
  const data = Buffer.concat([code, code]);
  const part = `${file}.${Math.random().toString(36).slice(2)}`;
  try {
    const descriptor = openSync(part, 'wx', 0o600);
    try {
      for (let at = 0; at < data.length; ) at += writeSync(descriptor, data, at);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(part, file);
  } finally {
    rmSync(part, { force: true });
  }
}
