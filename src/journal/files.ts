import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ownFolder, readOwn } from '../system/own-file.ts';

/** A larger file isn't a journal, and would take too much memory. */
const mostMebibytes = 256;

/** A larger file is followed by another. */
export const fullFileBytes = 256 * 1024;

/** So many of the newest files are always read and never removed, as a clock may have dated what they hold wrongly. */
export const alwaysKept = 4;

interface JournalFile {
  path: string;
  number: number;
}

export const fileNameOf = (number: number) => (number === 0 ? 'journal.jsonl' : `journal-${number}.jsonl`);

/** Newest first; none if there is no such folder. Throws the errors of `ownFolder` and `readdir`. */
export function filesIn(path: string): JournalFile[] {
  try {
    const folder = ownFolder(path);
    const numberOf = (name: string) => Number(/^journal(?:-(\d+))?\.jsonl$/.exec(name)?.[1] ?? 0);
    return readdirSync(folder)
      .map((name) => ({ path: join(folder, name), name, number: numberOf(name) }))
      .filter(({ name, number }) => name === fileNameOf(number))
      .sort((a, b) => b.number - a.number);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Throws the errors of `readOwn`. */
export const readFile = (path: string, roomFor?: (size: number) => Buffer): Buffer =>
  readOwn(path, mostMebibytes, roomFor).bytes;
