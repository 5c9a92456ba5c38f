import {
  appendFileSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

/** Files with a number in their name, of which every process writes to the newest. */
export interface JournalFile {
  number: number;
  path: string;
}

const maxFileBytes = 256 * 1024;
const maxFiles = 400; // 100 MB

/** The files in the folder, oldest first. Throws the errors of node:fs. */
export const filesIn = (folder: string): JournalFile[] =>
  orIfMissing(() => readdirSync(folder), [])
    .filter((name) => /^\d{8}\.jsonl$/.test(name))
    .sort()
    .map((name) => ({ number: Number.parseInt(name, 10), path: join(folder, name) }));

/** Empty if another process has just removed the file. Throws the other errors of node:fs. */
export const readBytes = ({ path }: JournalFile): Buffer =>
  orIfMissing(() => readFileSync(path), Buffer.alloc(0));

function orIfMissing<T>(read: () => T, missing: T): T {
  try {
    return read();
  } catch (error) {
    if (isErrorWithCode(error, 'ENOENT')) return missing;
    throw error;
  }
}

export const isErrorWithCode = (error: unknown, ...codes: string[]): boolean =>
  error instanceof Error && 'code' in error && codes.includes(String(error.code));

/**
 * Appends one line in one write, so that lines of several processes never mix. It begins with a
 * line feed, so that a torn line swallows nothing. `isDurable`: it is on disk on return. Returns
 * the number of the file. Throws the errors of node:fs.
 */
export function appendLine(folder: string, line: string, isDurable: boolean): number {
  makeFolder(folder);
  const newest = filesIn(folder).at(-1);
  if (newest && statSync(newest.path).size < maxFileBytes) {
    try {
      append(newest.path, line, isDurable);
      return newest.number;
    } catch (error) {
      // After one `sudo runctl` the newest file is root's, so this user begins the next one.
      if (!isErrorWithCode(error, 'EACCES', 'EPERM')) throw error;
    }
  }
  const number = (newest?.number ?? 0) + 1;
  append(join(folder, `${String(number).padStart(8, '0')}.jsonl`), line, isDurable);
  // A new file survives a crash of the machine only if its name is on disk, too.
  if (isDurable) syncFolder(folder);
  for (const { path } of filesIn(folder).slice(0, -maxFiles)) rmSync(path, { force: true });
  return number;
}

const append = (path: string, line: string, isDurable: boolean) =>
  appendFileSync(path, `\n${line}\n`, { mode: 0o600, flush: isDurable });

/** Throws the errors of node:fs if nothing can be written. */
export function checkWritable(folder: string): void {
  makeFolder(folder);
  const path = join(folder, 'check');
  // On a full disk, a file that is empty can still be written.
  writeFileSync(path, ' ', { mode: 0o600, flush: true });
  rmSync(path, { force: true }); // another doctor may have removed it
}

/** On Node 20, a recursive mkdirSync below /proc never returns. */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  makeFolder(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (!isErrorWithCode(error, 'EEXIST')) throw error;
  }
}

function syncFolder(folder: string): void {
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } catch {
    // Some file systems can't do this with a folder.
  } finally {
    closeSync(fd);
  }
}
