import { fdatasyncSync, fsyncSync, rmSync } from 'node:fs';
import { clockSkewMs } from '../run/entry.ts';
import { systemErrorName } from '../system/error-name.ts';
import { UnsafePathError } from '../system/own-file.ts';
import { appendLine, type Sync } from './append-line.ts';
import { alwaysKept, filesIn, fullFileBytes, readFile } from './files.ts';
import {
  type JournalRecord,
  linesIn,
  type NewRecord,
  pathOf,
  recordsIn,
  storedRecord,
} from './records.ts';

export interface RecordStore {
  /**
   * Returns undefined if the record couldn't be written. A `triggered` record is on disk on return.
   */
  append(record: NewRecord): JournalRecord | undefined;
  /** The records of each file, oldest first. A file that can't be read is reported. */
  read(part?: JournalPart): Generator<JournalRecord[]>;
  /** The same lines, not parsed. */
  readLines(part?: JournalPart): Generator<string[]>;
}

/** Which part of the journal is read. */
export interface JournalPart {
  /** Milliseconds since 1970; skips files that have nothing from then on. */
  sinceMs?: number;
  /** This many of the newest files. */
  maxFiles?: number;
  /** Only lines that contain one of these. */
  texts?: readonly string[];
  /** Order of the files; each file's records are in the order in which they were written. */
  newestFirst?: boolean;
}

/**
 * What can't be done with the journal. It isn't `used` if another user could have written to it,
 * because its content can't be trusted.
 */
export type JournalFailure = 'read' | 'written' | 'used';

export interface StoreOptions {
  /** Created with the first record; undefined if there is nowhere to put it. */
  folder: string | undefined;
  nowMs(): number;
  /** Called at the first failure, with a clause for the user. If it throws, reading stops. */
  onFailure(message: string, failure: JournalFailure): void;
  fileBytes?: number;
  sync?: Sync;
}

const toDisk: Sync = { file: fdatasyncSync, folder: fsyncSync };

export function openRecordStore(options: StoreOptions): RecordStore {
  const { folder, nowMs, onFailure, fileBytes = fullFileBytes, sync = toDisk } = options;
  let isReported = false;
  const report: StoreOptions['onFailure'] = (message, failure) => {
    if (!isReported) onFailure(message, failure);
    isReported = true;
  };
  if (folder === undefined) return createEmptyStore(report);
  const reportError = (doing: JournalFailure, error: unknown) => {
    const failure = error instanceof UnsafePathError ? 'used' : doing;
    const reason = systemErrorName(error) ?? (error as Error).message;
    report(`the journal in ${folder} can't be ${failure} (${reason})`, failure);
  };
  /** A file that is gone has nothing to read. Any other error is reported. */
  const readOrReport = <T>(read: () => T): T | undefined => {
    try {
      return read();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') reportError('read', error);
      return undefined;
    }
  };
  return {
    append(record) {
      const stored = storedRecord(record, new Date(nowMs()).toISOString());
      try {
        // If an outcome is lost, its trigger stays unresolved, and `recover` resolves it.
        const isNewFile = appendLine(JSON.stringify({ ...stored, target: pathOf(stored.target) }), {
          folder,
          fileBytes,
          sync,
          durable: stored.type === 'triggered',
        });
        if (isNewFile) prune(folder, nowMs());
        return stored;
      } catch (error) {
        reportError('written', error);
        return undefined;
      }
    },
    *read(part = {}) {
      for (const bytes of filesOf(part)) yield recordsIn(bytes, part.texts);
    },
    *readLines(part = {}) {
      for (const bytes of filesOf(part)) yield linesIn(bytes, part.texts);
    },
  };

  function* filesOf({ newestFirst, ...part }: JournalPart): Generator<Buffer> {
    const files = chooseFiles(part);
    for (const path of newestFirst ? files : files.reverse()) {
      const bytes = readOrReport(() => readFile(path));
      if (bytes) yield bytes;
    }
  }

  /** Returns the paths of the files that the part has, newest first. */
  function chooseFiles({ sinceMs, maxFiles: most }: JournalPart): string[] {
    const paths = (readOrReport(() => filesIn(folder ?? '')) ?? [])
      .slice(0, most)
      .map(({ path }) => path);
    if (sinceMs === undefined) return paths;
    const isOldest = (path: string, index: number) =>
      index + 1 >= alwaysKept &&
      (readOrReport(() => begunMs(path)) ?? sinceMs) < sinceMs - clockSkewMs;
    const oldest = paths.findIndex(isOldest);
    return oldest === -1 ? paths : paths.slice(0, oldest + 1);
  }
}

/** The store if there is no folder for it: nothing can be written, and there is nothing to read. */
const createEmptyStore = (report: StoreOptions['onFailure']): RecordStore => ({
  append() {
    report('there is no folder for the journal (set HOME or RUNCTL_STATE_DIR)', 'written');
    return undefined;
  },
  *read() {},
  *readLines() {},
});

/** When a file's first record was written. Undefined if unknown. */
function begunMs(path: string): number | undefined {
  const [first] = recordsIn(readFile(path, () => Buffer.alloc(16 * 1024)));
  return first && Date.parse(first.at);
}

function prune(folder: string, nowMs: number): void {
  try {
    pruneFiles(folder, nowMs);
  } catch {
    // The next new file tries again.
  }
}

const yearMs = 365 * 24 * 3_600_000;

/**
 * Removes the oldest files until one has a record that is younger than a year. Throws the errors of
 * `readOwn`.
 */
export function pruneFiles(folder: string, nowMs: number): void {
  const older = filesIn(folder).slice(alwaysKept);
  for (const { path } of older.reverse()) {
    const records = recordsIn(readFile(path));
    if (records.length === 0 || records.some(({ at }) => nowMs - Date.parse(at) <= yearMs)) return;
    rmSync(path);
  }
}
