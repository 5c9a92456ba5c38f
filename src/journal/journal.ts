import { Problem } from '../core/report.ts';
import type { Automation } from '../core/run.ts';
import { dayMs } from '../core/time.ts';
import { shellWord } from '../text/shell-word.ts';
import { fold, type JournalEntry } from './entries.ts';
import {
  appendLine,
  checkWritable,
  filesIn,
  isErrorWithCode,
  type JournalFile,
  readBytes,
} from './files.ts';
import { type JournalRecord, parseRecord } from './records.ts';

const minReadBytes = 1_000_000;

/** The journal of one state folder, for one base URL. `recent` reads each file only once. */
export interface Journal {
  folder: string;
  /** Returns the number of the file. Throws the errors of node:fs. */
  append(record: NewRecord, options: { isDurable: boolean }): number;
  /**
   * The newest entries, oldest first: those in the newest megabyte, and of the last 24 hours or of
   * `sinceAtMs` (in milliseconds since 1970). Throws a `Problem` if the journal can't be read.
   */
  recent(sinceAtMs?: number): JournalEntry[];
  /** Reads older files, too, until there is enough, or nothing older. */
  recentUntil(isEnough: (entries: JournalEntry[]) => boolean): JournalEntry[];
  /** The recent entries, and of each automation that these don't name, the newest older ones. */
  ofEachAutomation(): JournalEntry[];
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
  const isOurs = (record: JournalRecord) => baseUrl === undefined || record.baseUrl === baseUrl;
  const foldOurs = (records: JournalRecord[]) => fold(records.filter(isOurs));
  const reading = createReading(folder, foldOurs);
  const recent = (sinceAtMs = nowMs() - dayMs) =>
    attempt('read', folder, () => reading.until((_, oldestMs) => oldestMs < sinceAtMs));
  return {
    folder,
    append({ automation: { projectId, name }, ...record }, { isDurable }) {
      // `ofEachAutomation` finds project and name at the end of a line.
      const common = { atMs: nowMs(), baseUrl: baseUrl ?? '', projectId, name };
      return appendLine(folder, JSON.stringify({ ...record, ...common }), isDurable);
    },
    recent,
    recentUntil(isEnough) {
      recent();
      return attempt('read', folder, () => reading.until((entries) => isEnough(entries())));
    },
    ofEachAutomation: () => attempt('read', folder, () => reading.ofEachAutomation(recent())),
    search: (text, fromFile = 0) =>
      attempt('read', folder, () => {
        const jsonText = JSON.stringify(text).slice(1, -1);
        const isWanted = (line: string) => line.includes(jsonText);
        const files = filesIn(folder).filter(({ number }) => number >= fromFile);
        const records = files.flatMap((file) => {
          const content = readBytes(file);
          // Most files don't have it, and aren't split into lines.
          return content.includes(jsonText) ? recordsIn(content, isWanted) : [];
        });
        return foldOurs(records);
      }),
    check() {
      const [oldest, ...others] = recent();
      attempt('written', folder, () => checkWritable(folder));
      if (!oldest) return 'empty';
      const since = new Date(oldest.atMs).toISOString().slice(0, 10);
      return `${others.length === 0 ? '1 entry' : `${others.length + 1} entries`} since ${since}`;
    },
  };
}

/** Reads files from the newest to the oldest, as far as is needed, and each only once. */
function createReading(folder: string, foldOurs: (records: JournalRecord[]) => JournalEntry[]) {
  let unread: JournalFile[] | undefined; // oldest first
  let records: JournalRecord[] = [];
  let folded: JournalEntry[] | undefined;
  const entries = () => {
    folded ??= foldOurs(records);
    return folded;
  };

  /** Returns false if there is nothing older. */
  function readOlder(minBytes: number): boolean {
    unread ??= filesIn(folder);
    const older: JournalRecord[][] = [];
    let bytes = 0;
    while (bytes < minBytes && unread.length > 0) {
      const content = readBytes(unread.pop() as JournalFile);
      bytes += content.length;
      older.unshift(recordsIn(content, () => true));
    }
    records = [...older.flat(), ...records];
    folded = undefined;
    return older.length > 0;
  }

  return {
    until(isEnough: (entries: () => JournalEntry[], oldestMs: number) => boolean) {
      if (!unread) readOlder(minReadBytes);
      // Twice as much each time, so that a long journal is folded only a few times.
      for (let bytes = minReadBytes / 4; !isEnough(entries, records[0]?.atMs ?? 0); bytes *= 2) {
        if (!readOlder(bytes)) break;
      }
      return entries();
    },
    ofEachAutomation(recent: JournalEntry[]): JournalEntry[] {
      const known = new Set(recent.map(({ automation }) => namesIn(automation)));
      let older: JournalRecord[] = [];
      for (const file of (unread ?? []).toReversed()) {
        const isNew = (line: string) => !known.has(namesInLine.exec(line)?.[0] ?? '');
        older = [...recordsIn(readBytes(file), isNew), ...older];
        for (const { automation } of foldOurs(older)) known.add(namesIn(automation));
      }
      return [...foldOurs(older), ...recent];
    },
  };
}

/** Project and name as they stand in a record. */
const namesIn = ({ projectId, name }: Automation) => JSON.stringify({ projectId, name }).slice(1);
const namesInLine = /"projectId":"[^"]*","name":"(?:[^"\\]|\\.)*"\}$/;

/** The records of the lines that are wanted: only these are parsed. */
function recordsIn(content: Buffer, isWanted: (line: string) => boolean): JournalRecord[] {
  const records: JournalRecord[] = [];
  for (const line of content.toString().split('\n')) {
    const record = line !== '' && isWanted(line) ? parseRecord(line) : undefined;
    if (record) records.push(record);
  }
  return records;
}

function attempt<T>(what: 'read' | 'written', folder: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (error instanceof Problem) throw error;
    const [why] = (error as Error).message.split(', '); // the rest is the path
    // After `sudo runctl`, a file may be root's.
    const isForeign = isErrorWithCode(error, 'EACCES', 'EPERM');
    const command = isForeign ? `sudo chown -R "$(id -u)" ${shellWord(folder)}` : undefined;
    throw new Problem(`the journal in ${folder} can't be ${what}: ${why}`, {
      exit: 'io_error',
      command,
    });
  }
}
