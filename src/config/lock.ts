import { closeSync, fstatSync, lstatSync, openSync, rmSync } from 'node:fs';

/** A holder that was killed leaves its lock: after so long it is taken over. */
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

/** Returns whether the lock was still ours. A failure does not undo the change: a lock that stays is taken over. */
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
      // `wx` creates the file and follows no link: whatever is there already is the lock of another process.
      return openSync(lock, 'wx', 0o600);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    if (Date.now() > endMs) throw new Error(`${lock} is held by another process: if there is none, remove it`);
    const stat = lstatSync(lock, { throwIfNoEntry: false });
    if (stat?.isDirectory()) throw new Error(`${lock} is a folder: remove it`);
    if (stat && Date.now() - stat.mtimeMs > staleMs) rmSync(lock, { force: true });
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, betweenMs);
  }
}

const inodeOf = (path: string) => lstatSync(path, { throwIfNoEntry: false })?.ino;
