import { accessSync, closeSync, constants, existsSync, readFileSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { filesIn, fullFileBytes } from '../journal/files.ts';
import { Problem } from '../run/problem.ts';
import { shellWord } from '../run/quote.ts';
import { openOwn, UnsafePathError } from '../system/own-file.ts';

/** A record may need as much. */
const leastBytes = 4096;

/** Why nothing can be added to the journal. Undefined if it can, or if the journal can't be read, which reading it reports. */
export function journalTrouble(folder: string): Problem | undefined {
  const trouble = (lack: string, error: unknown) =>
    new Problem({
      name: 'output_error',
      message: `the journal in ${folder} can't be ${lack} (${(error as Error).message})`,
      hint: hintFor(error, folder),
    });
  let newest: string | undefined;
  try {
    newest = filesIn(folder)[0]?.path;
    if (newest) closeSync(openOwn(newest, constants.O_RDONLY));
  } catch (error) {
    return error instanceof UnsafePathError ? trouble('used', error) : undefined;
  }
  try {
    checkRoom(nearestFolder(folder), newest);
    return undefined;
  } catch (error) {
    return trouble('written', error);
  }
}

/** Throws if there is no room for a record in the newest file or in a new one. */
function checkRoom(folder: string, newest?: string): void {
  accessSync(folder, constants.W_OK);
  if (newest) accessSync(newest, constants.W_OK);
  const { bavail, bsize } = statfsSync(newest ?? folder);
  if (bavail * bsize < leastBytes) throw new Error('the disk is full');
  const size = newest ? statSync(newest).size : 0;
  const startBytes = size > fullFileBytes ? 0 : size;
  if (mostFileBytes() - startBytes < leastBytes) throw new Error('the file size limit is reached: ulimit -f');
}

/** How large this process may make a file. Only Linux says so. */
function mostFileBytes(): number {
  try {
    const [, soft] = /^Max file size +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

function hintFor(error: unknown, folder: string): string {
  if (!(error instanceof UnsafePathError && error.isShared))
    return 'make it belong to the user who runs runctl, or set RUNCTL_STATE_DIR to another folder';
  const inside = `set RUNCTL_STATE_DIR=${shellWord(`${folder}/runctl`)}, which runctl creates for you alone`;
  return error.isForeign ? inside : `${inside}, or \`chmod go-w ${shellWord(error.path)}\``;
}

const nearestFolder = (path: string): string => (existsSync(path) ? path : nearestFolder(dirname(path)));
