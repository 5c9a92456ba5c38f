import { Problem } from '../run/report.ts';
import type { Automation } from '../run/run.ts';
import type { JournalEntry } from './entries.ts';
import { appendLine, checkWritable, filesIn, type JournalFile, readBytes } from './files.ts';
import { fold } from './fold.ts';
import { type JournalRecord, parseRecord } from './records.ts';

const minReadBytes = 1_000_000;
const dayMs = 24 * 3_600_000;

/** The journal of one state folder, for one base URL. It reads what it has read only once. */
export interface Journal {
  folder: string;
  /** Returns the number of the file. Throws the errors of node:fs. */
  append(record: NewRecord, options: { isDurable: boolean }): number;
  /**
   * The newest entries, oldest first: those in the newest megabyte, and of the last 24 hours or of
   * `sinceMs` (in milliseconds since 1970). Throws a `Problem` if the journal can't be read.
   */
  recent(sinceMs?: number): JournalEntry[];
  /** Reads older files, too, until there is enough, or nothing older. */
  recentUntil(isEnough: (entries: JournalEntry[]) => boolean): JournalEntry[];
  /**
   * The entries of which a record contains this text as JSON has it, in all files or from one of
   * them on.
   */
  search(text: string, fromFile?: number): JournalEntry[];
  /** Says what is in it. Throws a `Problem` if it can't be read or written. */
  check(): string;
}

/** A record without what the journal adds. */
export type NewRecord = DistributiveOmit<
  JournalRecord,
  'atMs' | 'baseUrl' | 'projectId' | 'name'
> & { automation: Automation };
type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

export interface JournalOptions {
  stateDir: string;
  /** Undefined: entries of all base URLs. */
  baseUrl: string | undefined;
  nowMs(): number;
}

export function createJournal({ stateDir, baseUrl, nowMs }: JournalOptions): Journal {
  const folder = `${stateDir}/journal`;
  let unread: JournalFile[] | undefined; // older than what was read, oldest first
  let records: JournalRecord[] = [];
  let entries: JournalEntry[] | undefined;

  const isOurs = (record: JournalRecord) => baseUrl === undefined || record.baseUrl === baseUrl;
  const foldOurs = (all: JournalRecord[]) => fold(all.filter(isOurs));

  /** Returns how many bytes were read: at least this many, unless there are no more. */
  function readOlder(minBytes: number): number {
    unread ??= filesIn(folder);
    let bytes = 0;
    const older: JournalRecord[][] = [];
    while (bytes < minBytes && unread.length > 0) {
      const content = readBytes(unread.pop() as JournalFile);
      bytes += content.length;
      older.unshift(recordsIn(content));
    }
    records = [...older.flat(), ...records];
    entries = undefined;
    return bytes;
  }

  function recent(sinceMs = nowMs() - dayMs): JournalEntry[] {
    return attempt('read', folder, () => {
      if (!unread) readOlder(minReadBytes);
      while ((records[0]?.atMs ?? 0) >= sinceMs && readOlder(1) > 0);
      entries ??= foldOurs(records);
      return entries;
    });
  }

  function check(): string {
    const [oldest, ...others] = recent();
    attempt('written', folder, () => checkWritable(folder));
    if (!oldest) return 'empty';
    const since = new Date(oldest.atMs).toISOString().slice(0, 10);
    return `${others.length + 1} triggers and runs since ${since}`;
  }

  return {
    folder,
    check,
    append({ automation: { projectId, name }, ...record }, { isDurable }) {
      const common = { atMs: nowMs(), baseUrl: baseUrl ?? '', projectId, name };
      return appendLine(folder, JSON.stringify({ ...record, ...common }), isDurable);
    },
    recent,
    recentUntil(isEnough) {
      return attempt('read', folder, () => {
        let found = recent();
        for (let bytes = 4 * minReadBytes; !isEnough(found); bytes *= 4) {
          if (readOlder(bytes) === 0) break;
          found = entries ??= foldOurs(records);
        }
        return found;
      });
    },
    search(text, fromFile = 0) {
      const jsonText = JSON.stringify(text).slice(1, -1);
      return attempt('read', folder, () => {
        const files = filesIn(folder).filter(({ number }) => number >= fromFile);
        return foldOurs(files.flatMap((file) => recordsWith(jsonText, readBytes(file))));
      });
    },
  };
}

function recordsIn(content: Buffer): JournalRecord[] {
  return content
    .toString()
    .split('\n')
    .flatMap((line) => (line === '' ? [] : (parseRecord(line) ?? [])));
}

/** The records with this text. Most files don't have it, and aren't parsed. */
function recordsWith(jsonText: string, content: Buffer): JournalRecord[] {
  if (!content.includes(jsonText)) return [];
  return content
    .toString()
    .split('\n')
    .flatMap((line) => (line.includes(jsonText) ? (parseRecord(line) ?? []) : []));
}

function attempt<T>(what: 'read' | 'written', folder: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (error instanceof Problem) throw error;
    const { message } = error as Error;
    throw new Problem(`the journal in ${folder} can't be ${what}: ${message}`, {
      exit: 'io_error',
    });
  }
}
