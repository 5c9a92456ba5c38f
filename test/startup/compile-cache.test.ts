import { chmodSync, chownSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isPrivateCache } from '../../src/startup/compile-cache.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

interface Row {
  title: string;
  umask?: number;
  /** What is done to an installation in which everything is as it should be. */
  change?(program: string, cache: string): void;
  isUsed: boolean;
}

const rows: Row[] = [
  { title: 'a program and a cache of its owner alone', isUsed: true },
  { title: 'a program that has no cache yet', change: (_, cache) => rmSync(cache, { recursive: true }), isUsed: true },
  {
    title: 'a program in a folder that everybody can write to',
    change: (program) => chmodSync(program, 0o777),
    isUsed: false,
  },
  {
    title: 'a program in a folder that its group can write to',
    change: (program) => chmodSync(program, 0o775),
    isUsed: false,
  },
  { title: 'a cache that everybody can write to', change: (_, cache) => chmodSync(cache, 0o1777), isUsed: false },
  {
    title: 'a cache whose inner folder everybody can write to',
    change: (_, cache) => chmodSync(join(cache, 'v24'), 0o777),
    isUsed: false,
  },
  {
    title: 'an inner folder that is a link',
    change: (_, cache) => symlinkSync('/tmp', join(cache, 'v25')),
    isUsed: false,
  },
  {
    title: 'a file in place of an inner folder',
    change: (_, cache) => writeFileSync(join(cache, 'v25'), ''),
    isUsed: false,
  },
  { title: 'a umask that opens what is made', umask: 0o002, isUsed: false },
];

test.each(rows)('$title: the compiled code is kept and run: $isUsed', ({ umask = 0o022, change, isUsed }) => {
  const { program, cache } = install();
  change?.(program, cache);
  expect(isPrivateCache(program, cache, umask)).toBe(isUsed);
});

test.runIf(process.geteuid?.() === 0)('a cache of another user than the owner of the program is not used', () => {
  const { program, cache } = install();
  chownSync(cache, 54_321, 54_321);
  expect(isPrivateCache(program, cache, 0o022)).toBe(false);
});

function install() {
  const program = temporaryFolder();
  const cache = join(program, '.cache');
  for (const folder of [cache, join(cache, 'v24')]) mkdirSync(folder, { mode: 0o755 });
  return { program, cache };
}
