import {
  closeSync,
  existsSync,
  fsyncSync,
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
import { makeFolder } from './make-folder.ts';
import { restoreFlags } from './v8-flags.ts';

export interface CompileCacheOptions {
  env: Readonly<Record<string, string | undefined>>;
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
  if (env.NODE_DISABLE_COMPILE_CACHE || !caches || !isAbsolute(caches) || !existsSync(dirname(caches))) return () => {};
  const folder = join(caches, 'runctl', build);
  if (!isOurs(folder)) return () => {};
  const compiled: { file: string; script: Script }[] = [];

  createRequire(join(import.meta.dirname, 'main.cjs')).extensions['.cjs'] = (module, path) => {
    const file = join(folder, `${command}-${parse(path).name}`);
    const cachedData = read(file);
    const source = `(function (exports, require, module, __dirname) {${readFileSync(path, 'utf8')}\n})`;
    const script = new Script(source, { filename: path, cachedData });
    if (!cachedData || script.cachedDataRejected) compiled.push({ file, script });
    script.runInThisContext()(module.exports, (id: string) => module.require(id), module, dirname(path));
  };

  return () => {
    if (compiled.length === 0) return;
    restoreFlags();
    try {
      makeFolder(folder);
      for (const { file, script } of compiled) write(file, script.createCachedData());
    } catch {
      // A folder that cannot be written, or is full: the program starts as it would without.
    }
  };
}

/** What is kept is run: of a folder that others can write to, or that another user lent us (`sudo`), nothing is. */
function isOurs(folder: string): boolean {
  try {
    const { uid, mode } = statSync(folder);
    return geteuid === undefined || (uid === geteuid() && (mode & 0o022) === 0);
  } catch {
    return true;
  }
}

function read(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}

/** Whole or not at all, also when the machine stops: V8 believes what it reads. */
function write(file: string, data: Buffer): void {
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
