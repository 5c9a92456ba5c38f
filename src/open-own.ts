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

/** Another user owns a path, or a folder or link on the way to it, or can put something else in its place. */
export class ForeignPathError extends Error {}

/** Others can rename what is in a folder on the way, so what stands at the path may be theirs at any moment. */
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
  folder?: Stats; // the folder that it is in; undefined on Windows
  sharedFolder?: string; // the first one on the way, itself included, in which others can rename what is not theirs
}

const mostLinks = 40; // as many as Linux follows

/**
 * Follows links. Each folder, each link and what is at the end must belong to root or the user. On Windows, where Node
 * reports no owner, the path is taken as it is. Throws `ForeignPathError` and the errors of node:fs.
 */
export function resolveOwn(path: string): OwnPath {
  if (!geteuid) return { path, stat: lstatSync(path, { throwIfNoEntry: false }) };
  let { root: at } = parse(resolve(path));
  let stat = lstatSync(at);
  let folder = stat;
  // In a user namespace root may have no number: whoever owns the root folder takes its place.
  const trusted = [0, geteuid(), stat.uid];
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

/** A private group, which has the number of its only member (pam_umask, `usergroups`), is nobody else. */
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
 * Opens a regular file of the user's or root's, or makes one for the user alone; never waits for a named pipe. What was
 * opened is compared with what was checked, as another user may swap a component in between.
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
    // A file that was just created, or replaced by another program, is at its path by now.
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
  // Whoever can write to the folder can give any file of the user a second name there.
  const takesLinks = folder !== undefined && (folder.mode & 0o022) !== 0;
  if (takesLinks && stat.nlink > 1) throw new Error(`${path} is a hard link in a folder that others can write to`);
}

const isSame = (one: Stats, other?: Stats) => one.ino === other?.ino && one.dev === other.dev;

/**
 * Makes a folder and its parents for the user alone, and returns its path without links. Node's `mkdir` never returns
 * where a parent takes no folders (`/proc`). Throws `ForeignPathError` and the errors of node:fs.
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
