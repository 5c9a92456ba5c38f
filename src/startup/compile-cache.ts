import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { platform } from 'node:process';

const othersMayWrite = 0o022;

/** May the cache hold code that Node runs? Only if nobody but the owner of the program can write to it. */
export function isPrivateCache(program: string, cache: string, umask: number): boolean {
  if (platform === 'win32') return true;
  if ((umask & othersMayWrite) !== othersMayWrite) return false;
  const { uid } = lstatSync(program);
  const isPrivate = (path: string) => {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (!stat) return true;
    return stat.isDirectory() && [0, uid].includes(stat.uid) && (stat.mode & othersMayWrite) === 0;
  };
  if (![program, cache].every(isPrivate)) return false;
  try {
    return readdirSync(cache).every((name) => isPrivate(join(cache, name)));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}
