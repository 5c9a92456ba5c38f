import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readOwn, resolveOwn } from '../open-own.ts';

/** A larger file is no journal, and would take the memory. */
const mostMebibytes = 256;

export interface JournalFile {
  path: string;
  number: number;
  bytes?: Buffer; // set if it has been read already
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

export const readFile = (path: string, roomFor?: (size: number) => Buffer): Buffer =>
  readOwn(path, mostMebibytes, roomFor).bytes;

/** When a file begins, ISO 8601; `~`, which sorts last, if its first line is foreign. Throws as `readOwn` does. */
export function begunAt(path: string): string {
  const start = readFile(path, () => Buffer.alloc(64)).toString('latin1');
  return /^\n*\{"schema":1,"at":"([^"]+)"/.exec(start)?.[1] ?? '~';
}

interface FileFilter {
  oldestFirst?: boolean; // else the newest comes first
  since?: string; // ISO 8601: files that hold nothing from then on are left out
  files?(): JournalFile[] | undefined;
}

export interface LineFilter extends FileFilter {
  needle?: string | RegExp; // an expression is global, and sees each byte as a character
}

/** The lines of the journal. A file that cannot be read is left out, and reported unless it does not exist. */
export function* readLines(folder: string, filter: LineFilter, onError: (error: unknown) => void): Generator<string> {
  for (const bytes of readFiles(folder, filter, onError)) {
    const lines = linesWith(filter.needle ?? '', bytes);
    for (const line of filter.oldestFirst ? lines : lines.reverse()) if (line !== '') yield line;
  }
}

/** The contents of the files, as for `readLines`. Each buffer is overwritten when the next one is asked for. */
export function* readFiles(folder: string, filter: FileFilter, onError: (error: unknown) => void): Generator<Buffer> {
  const { since, oldestFirst } = filter;
  const files = filter.files?.() ?? attempt(() => filesIn(folder)) ?? [];
  const oldest = since ? files.findIndex(({ path }) => (attempt(() => begunAt(path)) ?? '~') < since) : -1;
  const wanted = oldest === -1 ? files : files.slice(0, oldest + 1);
  // New memory for each file would take longer than to read it.
  let room = Buffer.alloc(0);
  const roomFor = (size: number) => {
    if (room.length < size) room = Buffer.allocUnsafe(2 * size);
    return room;
  };
  for (const { path, bytes: known } of oldestFirst ? wanted.toReversed() : wanted) {
    const bytes = known ?? attempt(() => readFile(path, roomFor));
    if (bytes) yield bytes;
  }

  function attempt<T>(action: () => T): T | undefined {
    try {
      return action();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') onError(error);
      return undefined;
    }
  }
}

/** Searching the raw bytes is ten times as fast as taking them apart. */
function linesWith(needle: string | RegExp, bytes: Buffer): string[] {
  if (needle === '') return bytes.toString().split('\n');
  const lines: string[] = [];
  const next = searchIn(bytes, needle);
  for (let at = next(0); at !== -1; ) {
    const lineBreak = bytes.indexOf('\n', at);
    const end = lineBreak === -1 ? bytes.length : lineBreak;
    lines.push(bytes.toString('utf8', bytes.lastIndexOf('\n', at) + 1, end));
    at = next(end);
  }
  return lines;
}

function searchIn(bytes: Buffer, needle: string | RegExp): (from: number) => number {
  if (typeof needle === 'string') {
    const needleBytes = Buffer.from(needle);
    return (from) => bytes.indexOf(needleBytes, from);
  }
  const text = bytes.toString('latin1');
  return (from) => {
    needle.lastIndex = from;
    return needle.exec(text)?.index ?? -1;
  };
}
