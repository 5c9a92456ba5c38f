import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { makeOwnFolder, openOwn, readOwn, resolveOwn } from '../open-own.ts';

const appending = fs.constants.O_WRONLY | fs.constants.O_APPEND | fs.constants.O_CREAT;
/** A larger file is no journal, and would take the memory. */
const mostMebibytes = 256;

export interface Sync {
  file(fd: number): void;
  folder(fd: number): void;
}

interface AppendOptions {
  folder: string;
  /** When a file is larger, the next one is begun. */
  fileBytes: number;
  durable: boolean;
  sync: Sync;
}

/**
 * With one write, so that lines of several processes never mix, and a line break before it, as a crash may have left a
 * torn line. Returns whether it began a new file. Throws the errors of node:fs and of `openOwn`.
 */
export function appendLine(line: string, { folder: named, fileBytes, durable, sync }: AppendOptions): boolean {
  const folder = makeOwnFolder(named);
  const [newest] = filesIn(folder);
  const isFull = newest !== undefined && (resolveOwn(newest.path).stat?.size ?? 0) > fileBytes;
  // Two processes that begin the next file at once begin the same one.
  const path = newest && !isFull ? newest.path : join(folder, nameOf(newest ? newest.number + 1 : 0));
  withFd(openOwn(path, appending), (fd) => {
    const bytes = Buffer.from(`\n${line}\n`);
    const written = fs.writeSync(fd, bytes);
    if (written < bytes.length) throw new Error(`only ${written} of ${bytes.length} bytes were written`);
    if (durable) sync.file(fd);
  });
  // A new file is only safe once its name is, and that of its folder, which may be new, too.
  const isNew = path !== newest?.path;
  if (isNew) for (const each of [folder, dirname(folder)]) syncFolder(each, sync);
  return isNew;
}

/** Windows cannot do this. */
function syncFolder(folder: string, sync: Sync): void {
  try {
    withFd(fs.openSync(folder, fs.constants.O_RDONLY), sync.folder);
  } catch {}
}

export interface LineFilter {
  needle?: string;
  /** Else the newest line comes first. */
  oldestFirst?: boolean;
  /** ISO 8601: reading from the end stops at the first file that was begun before it. */
  since?: string;
  /** In place of all, newest first. */
  files?(): JournalFile[] | undefined;
}

export interface JournalFile {
  path: string;
  number: number;
  /** Where it has been read. */
  bytes?: Buffer;
}

/** What cannot be read is given to `onError` and left out; what is not there is no error. */
export function* readLines(folder: string, filter: LineFilter, onError: (error: unknown) => void): Generator<string> {
  const { needle = '', oldestFirst = false, since = '' } = filter;
  const attempt = skippingErrors(onError);
  const files = filter.files?.() ?? attempt(() => filesIn(folder)) ?? [];
  const roomFor = createRoom();
  for (const { path, bytes: known } of oldestFirst ? files.reverse() : files) {
    const found = attempt(() => {
      const bytes = known ?? readFile(path, roomFor);
      return { lines: linesWith(needle, bytes), begunAt: timeOf(bytes) };
    });
    if (!found) continue;
    for (const line of oldestFirst ? found.lines : found.lines.reverse()) if (line !== '') yield line;
    if (found.begunAt < since) return;
  }
}

/** From a time on, ISO 8601, oldest first. Each buffer is overwritten when the next one is asked for. */
export function* readFiles(folder: string, since: string, onError: (error: unknown) => void): Generator<Buffer> {
  const attempt = skippingErrors(onError);
  const files = attempt(() => filesIn(folder)) ?? [];
  const isOld = ({ path }: JournalFile) => (attempt(() => begunAt(path)) ?? '~') < since;
  const oldest = files.findIndex(isOld);
  const roomFor = createRoom();
  for (const { path } of files.slice(0, oldest === -1 ? files.length : oldest + 1).reverse()) {
    const bytes = attempt(() => readFile(path, roomFor));
    if (bytes) yield bytes;
  }
}

/** New memory for each file would take longer than to read it. */
function createRoom(): (size: number) => Buffer {
  let room = Buffer.alloc(0);
  return (size) => {
    if (room.length < size) room = Buffer.allocUnsafe(2 * size);
    return room;
  };
}

/** But for that of a file which is not there. */
const skippingErrors =
  (onError: (error: unknown) => void) =>
  <T>(action: () => T): T | undefined => {
    try {
      return action();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') onError(error);
      return undefined;
    }
  };

/** Searching the raw bytes is ten times as fast as taking them apart. */
function linesWith(needle: string, bytes: Buffer): string[] {
  if (needle === '') return bytes.toString().split('\n');
  const lines: string[] = [];
  const needleBytes = Buffer.from(needle);
  for (let at = bytes.indexOf(needleBytes); at !== -1; ) {
    const lineBreak = bytes.indexOf('\n', at);
    const end = lineBreak === -1 ? bytes.length : lineBreak;
    lines.push(bytes.toString('utf8', bytes.lastIndexOf('\n', at) + 1, end));
    at = bytes.indexOf(needleBytes, end);
  }
  return lines;
}

/** ISO 8601; `~` sorts behind every time, where the first line is foreign. Throws the errors of `readOwn`. */
export const begunAt = (path: string): string => timeOf(readFile(path, () => Buffer.alloc(64)));

function timeOf(lines: Buffer): string {
  return /^\n*\{"schema":1,"at":"([^"]+)"/.exec(lines.toString('latin1', 0, 64))?.[1] ?? '~';
}

export const readFile = (path: string, roomFor?: (size: number) => Buffer): Buffer =>
  readOwn(path, mostMebibytes, roomFor).bytes;

function withFd(fd: number, act: (fd: number) => void): void {
  try {
    act(fd);
  } finally {
    fs.closeSync(fd);
  }
}

const nameOf = (number: number) => (number === 0 ? 'journal.jsonl' : `journal-${number}.jsonl`);

/** Newest first. Throws `ForeignPathError` and the errors of `readdir`. */
export function filesIn(named: string): JournalFile[] {
  const folder = resolveOwn(named).path;
  const numberOf = (name: string) => Number(/^journal(?:-(\d+))?\.jsonl$/.exec(name)?.[1] ?? 0);
  return fs
    .readdirSync(folder)
    .map((name) => ({ name, path: join(folder, name), number: numberOf(name) }))
    .filter(({ name, number }) => name === nameOf(number))
    .sort((a, b) => b.number - a.number);
}
