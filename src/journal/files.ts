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

/** Newest first. Throws `ForeignPathError` and the errors of `readdir`. */
export const filesIn = (folder: string): JournalFile[] => filesInOwn(resolveOwn(folder).path);

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
