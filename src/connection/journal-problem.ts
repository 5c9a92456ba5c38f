import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  readFileSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { filesIn, fullFileBytes, journalFileNames } from '../journal/files.ts';
import type { JournalFailure } from '../journal/record-store.ts';
import { Problem } from '../run/problem.ts';
import { shellWord } from '../run/quote.ts';
import { hintForRootOwned } from '../settings/folders.ts';
import { systemErrorText } from '../system/error-name.ts';
import { groupVolumeHint, openOwn, repairableOf, UnsafePathError } from '../system/own-file.ts';

// Why the journal can't be used, and what to do about it.

/**
 * The problem that no setting names a folder for the journal. To a command that needs the journal,
 * a setting is missing (`usage`). To `doctor`, the journal can't be used (`output_error`), as after
 * any other failure of its check.
 */
export const noFolderProblem = (name: 'usage' | 'output_error'): Problem =>
  new Problem({
    name,
    message: 'there is no folder for the journal',
    hint: 'set HOME or RUNCTL_STATE_DIR',
  });

/** The longest record needs about this much space. */
const minBytes = 4096;

/**
 * Why nothing can be added to the journal. Undefined if records can be added, or if the journal
 * can't be read, which is reported when it is read.
 */
export function journalProblem(folder: string): Problem | undefined {
  const problemOf = (failure: JournalFailure, error: unknown) =>
    new Problem({
      name: 'output_error',
      message: `the journal in ${folder} can't be ${failure} (${systemErrorText(error)})`,
      hint: journalHint(error, folder),
    });
  let newest: string | undefined;
  try {
    const files = filesIn(folder);
    newest = files[0]?.path;
    for (const { path } of files) closeSync(openOwn(path, constants.O_RDONLY));
  } catch (error) {
    return error instanceof UnsafePathError ? problemOf('used', error) : undefined;
  }
  try {
    checkSpace(nearestFolder(folder), newest);
    return undefined;
  } catch (error) {
    return problemOf('written', error);
  }
}

/** Throws if a record fits neither into the newest file nor into a new one. */
function checkSpace(folder: string, newest?: string): void {
  accessSync(folder, constants.W_OK);
  if (newest) accessSync(newest, constants.W_OK);
  const { blocks, bavail, bsize } = statfsSync(newest ?? folder);
  if (blocks === 0) throw new Error('no file can be made there');
  if (bavail * bsize < minBytes) throw new Error('the disk is full');
  const size = newest ? statSync(newest).size : 0;
  const startBytes = size > fullFileBytes ? 0 : size;
  if (maxFileBytes() - startBytes < minBytes)
    throw new Error('the file size limit is reached: ulimit -f');
}

/**
 * The limit for the size of a file that this process writes (RLIMIT_FSIZE). Only Linux tells it
 * without a helper process.
 */
function maxFileBytes(): number {
  try {
    const [, soft] = /^Max file size +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

function journalHint(error: unknown, folder: string): string {
  if (error instanceof UnsafePathError && error.isShared) return hintForShared(error, folder);
  const elsewhere = 'set RUNCTL_STATE_DIR to another folder';
  const isForbidden =
    error instanceof UnsafePathError || (error as NodeJS.ErrnoException).code === 'EACCES';
  if (!isForbidden) return elsewhere;
  return hintForRootOwned(folder) ?? `make it belong to the user who runs runctl, or ${elsewhere}`;
}

/**
 * A hint that names everything in the folder that others can write to, so that the user repairs it
 * all at once.
 */
function hintForShared({ path, isOfGroupVolume }: UnsafePathError, folder: string): string {
  const inside = `set RUNCTL_STATE_DIR=${shellWord(`${folder}/runctl`)}, which runctl creates for you alone`;
  const files = journalFileNames(folder).map((name) => join(folder, name));
  const wrong = repairableOf([folder, path, ...files]);
  const others = wrong.filter((each) => !files.includes(each)).map(shellWord);
  const wrongFiles = wrong.filter((each) => files.includes(each)).map(shellWord);
  // Several journal files are named by one pattern, because the list may be long.
  const shownFiles = wrongFiles.length > 1 ? [`${shellWord(folder)}/journal*.jsonl`] : wrongFiles;
  const repair = `\`chmod go-w ${[...others, ...shownFiles].join(' ')}\``;
  if (wrong.length === 0) return inside;
  if (isOfGroupVolume) return groupVolumeHint(repair);
  return files.length === 0 ? `${inside}, or: ${repair}` : repair;
}

const nearestFolder = (path: string): string =>
  existsSync(path) ? path : nearestFolder(dirname(path));
