// The emulator in a process of its own, which Node 20 cannot run from its TypeScript.
import { fork } from 'node:child_process';
import { join } from 'node:path';
import { buildSync } from 'esbuild';

/** Runs a module that may import the program's sources by their path from the project's root; `folder` is for its bundle. */
export function forkEmulator(contents, folder) {
  const outfile = join(folder, 'emulator.mjs');
  buildSync({
    stdin: { contents, resolveDir: join(import.meta.dirname, '../..') },
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile,
    logLevel: 'error',
  });
  return fork(outfile, { execArgv: [] });
}
