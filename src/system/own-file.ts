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

// The config file says what to run, and the journal what to send again. As ssh does with its files,
// runctl uses one only if it and its folder, where the path really leads, belong to the user or
// root, and nobody else can write to them.

/** A file or folder that belongs to another user, or that others can write to. */
export class UnsafePathError extends Error {
  readonly path: string;
  readonly isShared: boolean; // others can write to it
  readonly isOfGroupVolume: boolean; // as Kubernetes makes a folder in a volume with `fsGroup`

  constructor(path: string, stat: Stats) {
    super(isForeign(stat) ? `${path} belongs to another user` : `other users can write to ${path}`);
    this.path = path;
    this.isShared = isShared(stat);
    this.isOfGroupVolume = (stat.mode & 0o2022) === 0o2020;
  }
}

/**
 * The hint to a command that repairs the modes in such a volume. Without the setting, each mount
 * lets the group write to everything in it again.
 */
export const groupVolumeHint = (repair: string): string =>
  `in Kubernetes, set \`fsGroupChangePolicy: OnRootMismatch\` beside fsGroup. Then:\n${repair}`;

const isForeign = ({ uid }: Stats) => uid !== 0 && uid !== geteuid?.();
const isShared = ({ mode }: Stats) => (mode & 0o022) !== 0;
const sticky = 0o1000;

/**
 * Whether the user can take the write access from others. A device, or a folder such as /tmp, is
 * writable for everybody on purpose.
 */
function isRepairable(stat: Stats): boolean {
  const isSharedOnPurpose = !(stat.isFile() || stat.isDirectory()) || (stat.mode & sticky) !== 0;
  return isShared(stat) && stat.uid === geteuid?.() && !isSharedOnPurpose;
}

/** The paths that others can write to and whose mode the user may change. */
export const repairableOf = (paths: readonly string[]): string[] =>
  [...new Set(paths)].filter((path) => existsSync(path) && isRepairable(statSync(path)));

function refuseUnsafe(path: string, stat: Stats): void {
  if (isForeign(stat) || isShared(stat)) throw new UnsafePathError(path, stat);
}

/** The path of a folder without links. Throws `UnsafePathError` and the errors of node:fs. */
export function ownFolder(path: string): string {
  const folder = realpathSync(path);
  const stat = statSync(folder);
  // A path to anything but a folder fails with ENOTDIR when it is used.
  if (stat.isDirectory()) refuseUnsafe(folder, stat);
  return folder;
}

/**
 * Creates a folder and its parents for the user alone, unless it is there. Returns and throws what
 * `ownFolder` does.
 */
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

/**
 * Opens a regular file, or creates one for the user alone. Never waits for a named pipe. Throws as
 * `ownFolder` does.
 */
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

/**
 * Reads a file into the memory that `allocate` returns, and no more than fits into it. Throws as
 * `openOwn` does, and for a file above `maxMebibytes`.
 */
export function readOwn(
  path: string,
  maxMebibytes: number,
  allocate: (size: number) => Buffer = Buffer.allocUnsafe,
): { bytes: Buffer; mode: number } {
  const fd = openOwn(path, constants.O_RDONLY);
  try {
    const { size, mode } = fstatSync(fd);
    if (size > maxMebibytes * 1024 * 1024)
      throw new Error(`${path} is larger than ${maxMebibytes} MiB`);
    const bytes = allocate(size);
    return { bytes: bytes.subarray(0, readSync(fd, bytes)), mode };
  } finally {
    try {
      closeSync(fd);
    } catch {} // what was read is right, even if a network file system fails to close
  }
}

/**
 * The highest part of the path that root owns below a folder of the user, as after one use with
 * sudo.
 */
export function partOwnedByRoot(path: string): string | undefined {
  const parent = dirname(path);
  if (parent === path || isRoot()) return undefined;
  const isTakenByRoot = ownerOf(path) === 0 && ownerOf(parent) === geteuid?.();
  return isTakenByRoot ? path : partOwnedByRoot(parent);
}

const isRoot = () => geteuid?.() === 0;

/**
 * The user id of its owner. Undefined if there is no such path, or if the user may not look there.
 */
function ownerOf(path: string): number | undefined {
  try {
    return statSync(path).uid;
  } catch {
    return undefined;
  }
}

/** A file and its folder, where the path really leads. */
export function fileAndFolder(path: string): [folder: string, file: string] {
  const file = existsSync(path) ? realpathSync(path) : path;
  return [dirname(file), file];
}

/**
 * Takes the write access to a file and its folder from others, if the user may change the modes.
 * Returns the paths that were changed.
 */
export function repairOwn(path: string): string[] {
  const wrong = repairableOf(fileAndFolder(path));
  for (const each of wrong) chmodSync(each, statSync(each).mode & 0o7755);
  return wrong;
}
