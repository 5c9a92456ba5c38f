import { accessSync, constants, lstatSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { filesIn } from '../journal/files.ts';
import { refuseShared, resolveOwn } from '../open-own.ts';
import { Problem } from '../problems/problem.ts';

/** Why a path can't be written, as the end of a sentence; undefined if it can. */
function whyBarred(path: string): string | undefined {
  try {
    accessSync(path, constants.W_OK);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EROFS' ? 'is on a read-only file system' : "can't be written";
  }
}

// Not enough for the next record.
const fullBytes = 4096;

/** What the state folder holds, in bytes, and why nothing can be added. Throws a problem if it can't be read either. */
export function inspectStateFolder(folder: string, leastBytes = fullBytes) {
  try {
    const { path, stat } = ownFolder(folder);
    if (stat && !stat.isDirectory()) throw problem(`${path} is not a folder`, otherFolder);
    const files = stat ? filesIn(path).map((file) => ({ ...file, size: lstatSync(file.path).size })) : [];
    const [newest] = files;
    const places = newest ? [path, newest.path] : [stat ? path : nearestFolder(path)];
    const barred = places.flatMap((place) => {
      const why = whyBarred(place);
      return why ? problem(`${place} ${why}`, why === "can't be written" ? otherFolder : elsewhere) : [];
    });
    const { blocks, bavail, bsize } = statfsSync(places[0] ?? path);
    const freeBytes = bavail * bsize;
    // One without blocks, such as /proc, holds no files of ours.
    const full =
      blocks > 0
        ? problem(`the disk of ${path} is full`, `free some space, or ${elsewhere}`)
        : problem(`${path} can't be written`, elsewhere);
    const trouble = barred[0] ?? (freeBytes < leastBytes ? full : undefined);
    return { path, files: files.length, bytes: files.reduce((sum, { size }) => sum + size, 0), freeBytes, trouble };
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw problem(`${folder} can't be read (${(error as Error).message})`, otherFolder);
  }
}

const elsewhere = 'set RUNCTL_STATE_DIR to another folder';
const otherFolder = `make it belong to the user who runs runctl, or ${elsewhere}`;

const problem = (message: string, hint: string) => new Problem({ name: 'output_error', message, hint });

function ownFolder(folder: string) {
  try {
    const own = resolveOwn(folder);
    refuseShared(own);
    return own;
  } catch (error) {
    throw problem((error as Error).message, otherFolder);
  }
}

function nearestFolder(path: string): string {
  const parent = dirname(path);
  return lstatSync(parent, { throwIfNoEntry: false }) || parent === path ? parent : nearestFolder(parent);
}

/** Why the journal can be read, but not written, so that something that happened meanwhile may be missing in it. */
export function journalTrouble(folder: string | undefined): Problem | undefined {
  if (folder === undefined) return undefined;
  try {
    return inspectStateFolder(folder).trouble;
  } catch (error) {
    return error instanceof Problem && !saysItself(folder) ? error : undefined;
  }
}

/** Does reading the journal say what is wrong with its folder? Not if there is no journal to read. */
function saysItself(folder: string): boolean {
  try {
    return filesIn(folder).length > 0;
  } catch {
    return true;
  }
}
