import { fdatasyncSync, fsyncSync } from 'node:fs';
import { appendLine, type Sync } from './append-line.ts';
import { createDigests } from './checkpoint.ts';
import { type LineFilter, readFiles, readLines } from './files.ts';
import { pruneFiles } from './prune.ts';
import { type JournalRecord, type NewRecord, parseRecord, pathOf } from './records.ts';
import { createTail, type Tail } from './tail.ts';

interface Log {
  /** Returns undefined if the record could not be written. A `triggered` record is on disk on return. */
  append(record: NewRecord): JournalRecord | undefined;
  read(filter?: RecordFilter): Generator<JournalRecord>;
  readFiles(sinceMs: number): Generator<Buffer>;
  /** What any process has appended since the last call; nothing the first time. */
  readAppended(): JournalRecord[];
}

export interface RecordFilter extends Omit<LineFilter, 'files'> {
  isWanted?(line: string): boolean;
  /** Is what a checkpoint keeps enough? `omitted` is as in `Digest`. */
  isEnough?(omitted: ReadonlySet<string>): boolean;
}

export interface LogOptions {
  folder: string | undefined; // created with the first record; undefined if there is no place for it
  nowMs(): number;
  /** Called once, with a clause for the user. What it throws ends the reading. */
  onTrouble(what: string, doing: 'reading' | 'writing'): void;
  fileBytes?: number;
  sync?: Sync;
}

const toDisk: Sync = { file: fdatasyncSync, folder: fsyncSync };

export function openLog(options: LogOptions): Log {
  const { folder, nowMs, onTrouble, fileBytes = 1024 * 1024, sync = toDisk } = options;
  let isReported = false;
  const report: LogOptions['onTrouble'] = (what, doing) => {
    if (!isReported) onTrouble(what, doing);
    isReported = true;
  };
  if (folder === undefined) {
    const append = () => report('there is no folder for the journal (set HOME or RUNCTL_STATE_DIR)', 'writing');
    return { append: () => void append(), *read() {}, *readFiles() {}, readAppended: () => [] };
  }
  const prune = (within: string) => {
    try {
      pruneFiles(within, nowMs());
    } catch {}
  };
  let tail: Tail | undefined;
  const digest = createDigests(folder);
  const filesFor = (isEnough: RecordFilter['isEnough']) => () => {
    const found = isEnough && digest();
    return found && isEnough?.(found.omitted) ? found.files : undefined;
  };
  const cannot = (be: string, error: unknown) => `the journal in ${folder} cannot be ${be} (${describe(error)})`;
  return {
    append({ type, baseUrl, target, ...rest }) {
      const at = new Date(nowMs()).toISOString();
      // `begunAt`, `foldRecent` and `createUnresolvedLines` rely on this order.
      const stored = { schema: 1, at, type, baseUrl, target: pathOf(target), ...rest } as JournalRecord;
      try {
        // If an outcome is lost, its trigger stays unresolved, and `recover` resolves it.
        const isNewFile = appendLine(JSON.stringify(stored), {
          folder,
          fileBytes,
          sync,
          durable: type === 'triggered',
        });
        if (isNewFile) prune(folder);
        return stored;
      } catch (error) {
        report(cannot('written', error), 'writing');
        return undefined;
      }
    },
    *read(filter = {}) {
      const wanted = { ...filter, files: filesFor(filter.isEnough) };
      for (const line of readLines(folder, wanted, (error) => report(cannot('read', error), 'reading'))) {
        const record = filter.isWanted?.(line) === false ? undefined : parseRecord(line);
        if (record) yield record;
      }
    },
    readFiles(sinceMs) {
      const since = new Date(Math.max(0, sinceMs)).toISOString();
      return readFiles(folder, { since, oldestFirst: true }, (error) => report(cannot('read', error), 'reading'));
    },
    readAppended() {
      try {
        if (tail) return tail.read();
        tail = createTail(folder);
      } catch (error) {
        report(cannot('read', error), 'reading');
      }
      return [];
    },
  };
}

function describe(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? message;
}
