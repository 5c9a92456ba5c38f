import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  readSync,
  type Stats,
} from 'node:fs';
import { dirname, join, parse, resolve } from 'node:path';
import { geteuid } from 'node:process';

/** Another user owns a path, or a folder or link in it, or can replace it. */
export class ForeignPathError extends Error {}

/** Others can rename files in a folder of the path, so the path may lead to their file at any moment. */
export class SharedFolderError extends ForeignPathError {
  readonly folder: string;

  constructor(folder: string) {
    super(`other users can replace files in ${folder}: chmod go-w ${folder}`);
    this.folder = folder;
  }
}

interface OwnPath {
  path: string; // without links
  stat?: Stats; // undefined if nothing is there yet
  folder?: Stats; // the folder that it is in
  sharedFolder?: string; // the first folder in the path, itself included, in which others can rename files that aren't theirs
}

const mostLinks = 40; // as many as Linux follows

/**
 * Follows links. Every folder, every link and the target must belong to root or the user. Throws `ForeignPathError` and the errors of node:fs.
 */
export function resolveOwn(path: string): OwnPath {
  let { root: at } = parse(resolve(path));
  let stat = lstatSync(at);
  let folder = stat;
  // In a user namespace, root may have no number, so the owner of the root folder counts as root.
  const trusted = [0, geteuid?.(), stat.uid];
  let sharedFolder = isShared(stat) ? at : undefined;
  const rest = componentsOf(resolve(path));
  let links = 0;
  for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
    const next = join(at, name);
    const found = lstatSync(next, { throwIfNoEntry: false });
    if (!found) return { path: join(next, ...rest), sharedFolder };
    if (!trusted.includes(found.uid)) throw new ForeignPathError(`${next} belongs to another user`);
    if (!found.isSymbolicLink()) {
      at = next;
      folder = stat;
      stat = found;
      if (isShared(found)) sharedFolder ??= next;
      continue;
    }
    links += 1;
    if (links > mostLinks) throw new Error(`${path} has too many links`);
    const target = readlinkSync(next);
    rest.unshift(...componentsOf(target));
    if (target.startsWith('/')) at = '/';
  }
  return { path: at, stat, folder, sharedFolder };
}

/** A private group has the number of its only member (pam_umask, `usergroups`), so it gives nobody else access. */
function isShared(folder: Stats): boolean {
  const { mode, uid, gid } = folder;
  const isWritable = (mode & 0o002) !== 0 || ((mode & 0o020) !== 0 && gid !== uid);
  return folder.isDirectory() && isWritable && (mode & sticky) === 0;
}

const sticky = 0o1000;

/** Throws `SharedFolderError`. */
export function refuseShared({ sharedFolder }: OwnPath): void {
  if (sharedFolder !== undefined) throw new SharedFolderError(sharedFolder);
}

const componentsOf = (path: string) => path.split('/').filter((name) => name !== '');

/**
 * Opens a regular file that belongs to the user or root, or creates one that only the user can access. Never waits for a
 * named pipe. Compares what was opened with what was checked, because another user may swap a component in between.
 * Throws `ForeignPathError`, an error that names what is wrong, and the errors of node:fs.
 */
export function openOwn(path: string, flags: number): number {
  const found = resolveOwn(path);
  if (found.stat) checkFile(found.stat, found, path);
  if (found.stat || flags & constants.O_CREAT) refuseShared(found);
  const fd = openSync(found.path, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o600);
  try {
    const opened = fstatSync(fd);
    checkFile(opened, found, path);
    // If another program just created or replaced the file, it is at its path by now.
    if (!isSame(opened, found.stat) && !isSame(opened, resolveOwn(path).stat)) {
      throw new Error(`${path} was changed while it was opened`);
    }
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** Reads a file as far as `roomFor` has room. Throws as `openOwn` does, and for a file above `mostMebibytes`. */
export function readOwn(
  path: string,
  mostMebibytes: number,
  roomFor: (size: number) => Buffer = Buffer.allocUnsafe,
): { bytes: Buffer; mode: number } {
  const fd = openOwn(path, constants.O_RDONLY);
  try {
    const { size, mode } = fstatSync(fd);
    if (size > mostMebibytes * 1024 * 1024) throw new Error(`${path} is larger than ${mostMebibytes} MiB`);
    const bytes = roomFor(size);
    return { bytes: bytes.subarray(0, readSync(fd, bytes)), mode };
  } finally {
    try {
      closeSync(fd);
    } catch {} // what was read is right, even if a network file system fails to close
  }
}

function checkFile(stat: Stats, { folder }: OwnPath, path: string): void {
  if (!stat.isFile()) throw new Error(`${path} is not a regular file`);
  // Anyone who can write to the folder can give any of the user's files a second name there.
  const takesLinks = folder !== undefined && (folder.mode & 0o022) !== 0;
  if (takesLinks && stat.nlink > 1) throw new Error(`${path} is a hard link in a folder that others can write to`);
}

const isSame = (one: Stats, other?: Stats) => one.ino === other?.ino && one.dev === other.dev;

/**
 * Creates a folder and its parents for the user only, and returns its path without links. Node's `mkdir` never returns if
 * a parent can't contain folders (`/proc`). Throws `ForeignPathError` and the errors of node:fs.
 */
export function makeOwnFolder(folder: string): string {
  const found = resolveOwn(folder);
  refuseShared(found);
  if (found.stat) return found.path;
  makeFolder(found.path);
  return resolveOwn(found.path).path;
}

function makeFolder(path: string): void {
  if (existsSync(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeFolder(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
