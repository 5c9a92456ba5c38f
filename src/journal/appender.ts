import {
  closeSync,
  constants,
  existsSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  openSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from '../make-folder.ts';
import { segmentFile, segmentsOf } from './segments.ts';

// Not blocking: a named pipe in the file's place must fail, not hang.
const appending = constants.O_WRONLY | constants.O_APPEND | constants.O_NONBLOCK;

export interface Appender {
  /** Appends a line. A `durable` one is on disk when the call returns. Throws the errors of node:fs. */
  append(line: string, options: { durable: boolean }): void;
}

/**
 * Appends to the journal in `folder`, each line with one write, so that those of several processes never mix. The line
 * break before it keeps it apart from a line that a crash left torn. A file larger than `segmentBytes` is left as it is,
 * and the next one begun.
 */
export function createAppender(folder: string, segmentBytes: number): Appender {
  let newest: string | undefined;

  return {
    append(line, { durable }) {
      const { fd, isNew } = openNewest();
      try {
        const bytes = Buffer.from(`\n${line}\n`);
        const written = writeSync(fd, bytes);
        if (written < bytes.length) throw new Error(`only ${written} of ${bytes.length} bytes were written`);
        if (durable) fdatasyncSync(fd);
      } finally {
        closeSync(fd);
      }
      if (isNew) syncFolder(folder);
    },
  };

  /** As long as a file is not full nobody begins the next one, so that the folder need not be asked again. */
  function openNewest(): { fd: number; isNew: boolean } {
    const fd = newest === undefined ? undefined : openExisting(newest);
    if (fd !== undefined) {
      if (fstatSync(fd).size <= segmentBytes) return { fd, isNew: false };
      closeSync(fd);
    }
    newest = fileToAppend(folder, segmentBytes);
    return openToAppend(newest);
  }
}

/**
 * Nothing is ever renamed, so that two processes that begin the next file at once begin the same one, and a line that
 * comes late to a full one is not lost.
 */
function fileToAppend(folder: string, segmentBytes: number): string {
  if (!existsSync(folder)) return segmentFile(folder, 0);
  const [newest] = segmentsOf(folder);
  if (!newest) return segmentFile(folder, 0);
  return statSync(newest.file).size <= segmentBytes ? newest.file : segmentFile(folder, newest.number + 1);
}

function openToAppend(file: string): { fd: number; isNew: boolean } {
  const fd = openExisting(file);
  if (fd !== undefined) return { fd, isNew: false };
  makeFolder(dirname(file));
  return { fd: openSync(file, appending | constants.O_CREAT, 0o600), isNew: true };
}

function openExisting(file: string): number | undefined {
  try {
    return openSync(file, appending);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
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
