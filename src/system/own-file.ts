import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { geteuid } from 'node:process';

// The config file says what to run, and the journal what to send again. As ssh does with its files, runctl uses one only if
// it and its folder, where the path really leads, belong to the user or root, and nobody else can write to them.

/** A file or folder that belongs to another user, or that others can write to. */
export class UnsafePathError extends Error {
  readonly path: string;
  readonly isShared: boolean; // others can write to it
  readonly isRepairable: boolean; // the user may take that from them, and nobody needs it

  constructor(path: string, stat: Stats) {
    super(isForeign(stat) ? `${path} belongs to another user` : `other users can write to ${path}`);
    this.path = path;
    this.isShared = isShared(stat);
    this.isRepairable = isRepairable(stat);
  }
}

const isForeign = ({ uid }: Stats) => uid !== 0 && uid !== geteuid?.();
const isShared = ({ mode }: Stats) => (mode & 0o022) !== 0;
const sticky = 0o1000;

/** A device, or a folder such as /tmp, is everybody's on purpose. */
function isRepairable(stat: Stats): boolean {
  const isEverybodys = !(stat.isFile() || stat.isDirectory()) || (stat.mode & sticky) !== 0;
  return isShared(stat) && !isForeign(stat) && !isEverybodys;
}

function refuseUnsafe(path: string, stat: Stats): void {
  if (isForeign(stat) || isShared(stat)) throw new UnsafePathError(path, stat);
}

/** The path of a folder without links. Throws `UnsafePathError` and the errors of node:fs. */
export function ownFolder(path: string): string {
  const folder = realpathSync(path);
  const stat = statSync(folder);
  // Whatever else it is fails with ENOTDIR when it is used.
  if (stat.isDirectory()) refuseUnsafe(folder, stat);
  return folder;
}

/** Creates a folder and its parents for the user alone, unless it is there. Returns and throws what `ownFolder` does. */
export function makeOwnFolder(path: string): string {
  makeFolder(path);
  return ownFolder(path);
}

/** Node's recursive `mkdir` never returns if a parent can't contain folders (`/proc`). */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Opens a regular file, or creates one for the user alone. Never waits for a named pipe. Throws as `ownFolder` does. */
export function openOwn(path: string, flags: number): number {
  const isNew = (flags & constants.O_CREAT) !== 0 && !existsSync(path);
  const file = isNew ? path : realpathSync(path);
  ownFolder(dirname(file));
  const fd = openSync(file, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o600);
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw new Error(`${path} is not a regular file`);
    refuseUnsafe(file, stat);
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

/** Takes the write access to a file and its folder from others, as far as the user may. Returns the paths it changed. */
export function repairOwn(path: string): string[] {
  const file = existsSync(path) ? realpathSync(path) : path;
  return [dirname(file), file].filter((each) => existsSync(each) && repair(each));
}

function repair(path: string): boolean {
  const stat = statSync(path);
  if (!isRepairable(stat)) return false;
  try {
    chmodSync(path, stat.mode & 0o7755);
    return true;
  } catch {
    return false; // it is root's
  }
}
