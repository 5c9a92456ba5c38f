import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ownFolder, readOwn } from '../system/own-file.ts';

/** A larger file isn't a journal, and would take too much memory. */
const maxMebibytes = 256;

/** A larger file is followed by another. */
export const fullFileBytes = 256 * 1024;

/**
 * So many of the newest files are always read and never removed, as a clock may have dated what
 * they hold wrongly.
 */
export const alwaysKept = 4;

interface JournalFile {
  path: string;
  number: number;
}

export const fileNameOf = (number: number) =>
  number === 0 ? 'journal.jsonl' : `journal-${number}.jsonl`;

/**
 * Returns the journal's files, newest first, or none if there is no such folder. Throws the errors
 * of `ownFolder` and `readdir`.
 */
export function filesIn(path: string): JournalFile[] {
  try {
    const folder = ownFolder(path);
    return numberedNames(readdirSync(folder))
      .map(({ name, number }) => ({ path: join(folder, name), number }))
      .sort((a, b) => b.number - a.number);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/**
 * Returns the names of the journal's files, whoever can write to the folder, or none if it can't be
 * read.
 */
export function journalFileNames(folder: string): string[] {
  try {
    return numberedNames(readdirSync(folder)).map(({ name }) => name);
  } catch {
    return [];
  }
}

function numberedNames(names: readonly string[]): { name: string; number: number }[] {
  const numberOf = (name: string) => Number(/^journal(?:-(\d+))?\.jsonl$/.exec(name)?.[1] ?? 0);
  return names
    .map((name) => ({ name, number: numberOf(name) }))
    .filter(({ name, number }) => name === fileNameOf(number));
}

/** Reads a file of the journal. Throws the errors of `readOwn`. */
export const readFile = (path: string, roomFor?: (size: number) => Buffer): Buffer =>
  readOwn(path, maxMebibytes, roomFor).bytes;
