import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readOwn, resolveOwn } from '../open-own.ts';

/** A larger file isn't a journal, and would take too much memory. */
const mostMebibytes = 256;

interface JournalFile {
  path: string;
  number: number;
}

export const fileNameOf = (number: number) => (number === 0 ? 'journal.jsonl' : `journal-${number}.jsonl`);

/** Newest first; none if there is no such folder. Throws `ForeignPathError` and the other errors of `readdir`. */
export function filesIn(folder: string): JournalFile[] {
  try {
    return filesInOwn(resolveOwn(folder).path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** The same for a folder that `resolveOwn` has returned. */
export function filesInOwn(folder: string): JournalFile[] {
  const numberOf = (name: string) => Number(/^journal(?:-(\d+))?\.jsonl$/.exec(name)?.[1] ?? 0);
  return readdirSync(folder)
    .map((name) => ({ name, path: join(folder, name), number: numberOf(name) }))
    .filter(({ name, number }) => name === fileNameOf(number))
    .sort((a, b) => b.number - a.number);
}

/** Throws the errors of `readOwn`. */
export const readFile = (path: string, roomFor?: (size: number) => Buffer): Buffer =>
  readOwn(path, mostMebibytes, roomFor).bytes;
