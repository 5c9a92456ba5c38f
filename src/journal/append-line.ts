import {
  closeSync,
  constants,
  existsSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { activeFile, nextSegment } from './segments.ts';

// Not blocking: a named pipe in the file's place must fail, not hang.
const appending = constants.O_WRONLY | constants.O_APPEND | constants.O_NONBLOCK;

export interface AppendOptions {
  /** On disk when the call returns. */
  durable: boolean;
  rotateAtBytes: number;
  nowMs: number;
}

/**
 * Appends a line to the journal in `folder` with one write, so that the lines of several processes never mix. The line
 * break before it keeps it apart from a line that a crash left torn. Throws the errors of node:fs.
 */
export function appendLine(folder: string, line: string, options: AppendOptions): void {
  // Opened each time: a descriptor kept for hours would write into a segment that was set aside long ago.
  const { fd, isNew } = openWithRoom(folder, options);
  try {
    const bytes = Buffer.from(`\n${line}\n`);
    const written = writeSync(fd, bytes);
    if (written < bytes.length) throw new Error(`only ${written} of ${bytes.length} bytes were written`);
    if (options.durable) fdatasyncSync(fd);
  } finally {
    closeSync(fd);
  }
  if (isNew) syncFolder(folder);
}

interface Opened {
  fd: number;
  isNew: boolean;
}

function openWithRoom(folder: string, { rotateAtBytes, nowMs }: AppendOptions): Opened {
  const file = activeFile(folder);
  const opened = openToAppend(file);
  if (fstatSync(opened.fd).size <= rotateAtBytes || !setAside(opened.fd, folder, nowMs)) return opened;
  closeSync(opened.fd);
  return openToAppend(file);
}

function openToAppend(file: string): Opened {
  try {
    return { fd: openSync(file, appending), isNew: false };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  makeFolder(dirname(file));
  return { fd: openSync(file, appending | constants.O_CREAT, 0o600), isNew: true };
}

/** `mkdir -p`. Node's own never returns where a folder exists but takes none (`/proc`). */
function makeFolder(folder: string): void {
  const parent = dirname(folder);
  if (!existsSync(parent) && parent !== folder) makeFolder(parent);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/**
 * Renames the file behind `fd`, unless another process was faster. Whoever still holds it open writes into the renamed
 * one: nothing is lost. False where it cannot be renamed: it just grows on.
 */
function setAside(fd: number, folder: string, nowMs: number): boolean {
  const file = activeFile(folder);
  try {
    const segment = nextSegment(folder, nowMs);
    if (statSync(file).ino === fstatSync(fd).ino) renameSync(file, segment);
    return true;
  } catch {
    return false;
  }
}

/** A new file is only safe once its name is. Not every system can do this (Windows): then there is no more to do. */
function syncFolder(folder: string): void {
  try {
    const fd = openSync(folder, constants.O_RDONLY);
    try {
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  } catch {}
}
