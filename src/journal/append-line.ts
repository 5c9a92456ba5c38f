import { closeSync, constants, openSync, statSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { systemErrorName } from '../system/error-name.ts';
import { makeOwnFolder, openOwn } from '../system/own-file.ts';
import { fileNameOf, filesIn } from './files.ts';

const appending = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT;

export interface Sync {
  file(fd: number): void;
  folder(fd: number): void;
}

interface AppendOptions {
  folder: string;
  /** If a file is larger, the next one is started. */
  fileBytes: number;
  /** Must the line be on disk on return? */
  durable: boolean;
  sync: Sync;
}

/**
 * Appends with one write, so that lines of several processes never mix. Begins with a line break,
 * because a crash may have left a torn line. Returns whether it started a new file. Throws the
 * errors of node:fs and of `openOwn`.
 */
export function appendLine(
  line: string,
  { folder: named, fileBytes, durable, sync }: AppendOptions,
): boolean {
  const folder = makeOwnFolder(named);
  const [newest] = filesIn(folder);
  // `openOwn` checks who owns it before anything is written.
  const isFull =
    newest !== undefined &&
    (statSync(newest.path, { throwIfNoEntry: false })?.size ?? 0) > fileBytes;
  // If two processes start the next file at the same time, they start the same one.
  const path =
    newest && !isFull ? newest.path : join(folder, fileNameOf(newest ? newest.number + 1 : 0));
  withFd(openOwn(path, appending), (fd) => {
    const bytes = Buffer.from(`\n${line}\n`);
    const written = writeSync(fd, bytes);
    if (written < bytes.length)
      throw new Error(`only ${written} of ${bytes.length} bytes were written`);
    if (durable) syncFile(fd, sync);
  });
  // A new file only survives a crash if its name is on disk, and its folder's name, which may also
  // be new.
  const isNew = path !== newest?.path;
  if (isNew) for (const each of [folder, dirname(folder)]) syncFolder(each, sync);
  return isNew;
}

/** Some file systems have no way to do this. The line is written all the same. */
function syncFile(fd: number, sync: Sync): void {
  try {
    sync.file(fd);
  } catch (error) {
    if (!/^(EINVAL|ENOSYS|ENOTSUP|EOPNOTSUPP)$/.test(systemErrorName(error) ?? '')) throw error;
  }
}

function syncFolder(folder: string, sync: Sync): void {
  try {
    withFd(openSync(folder, constants.O_RDONLY), sync.folder);
  } catch {
    // Some file systems can't sync a folder. The line itself is on disk.
  }
}

function withFd(fd: number, act: (fd: number) => void): void {
  try {
    act(fd);
  } finally {
    closeSync(fd);
  }
}
