import { accessSync, constants, readFileSync, statfsSync } from 'node:fs';

const path = '/dev/shm';
const leastBytes = 1e9;

/**
 * A folder in memory, where the many small files of the tests, and their syncing, cost next to nothing. Undefined where
 * there is none, or where it is small or starts no scripts, as in most containers.
 */
export function memoryFolder(): string | undefined {
  try {
    accessSync(path, constants.W_OK);
    const { bavail, bsize } = statfsSync(path);
    const [, options = ''] = /^\S+ \/dev\/shm tmpfs (\S+)/m.exec(readFileSync('/proc/mounts', 'utf8')) ?? [];
    return /^rw\b/.test(options) && !/\bnoexec\b/.test(options) && bavail * bsize >= leastBytes ? path : undefined;
  } catch {
    return undefined;
  }
}
