import { Problem } from '../run/report.ts';
import type { Automation } from '../run/run.ts';
import { dayMs } from '../run/time.ts';
import { shellWord } from '../text/shell-word.ts';
import type { JournalEntry } from './entries.ts';
import {
  appendLine,
  checkWritable,
  filesIn,
  isErrorWithCode,
  type JournalFile,
  readBytes,
} from './files.ts';
import { fold } from './fold.ts';
import { type JournalRecord, parseRecord } from './records.ts';

const minReadBytes = 1_000_000;

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
  const recent = (sinceMs = nowMs() - dayMs) =>
    attempt('read', folder, () => reading.recent(sinceMs));
  return {
    folder,
    append({ automation: { projectId, name }, ...record }, { isDurable }) {
      const common = { atMs: nowMs(), baseUrl: baseUrl ?? '', projectId, name };
      return appendLine(folder, JSON.stringify({ ...record, ...common }), isDurable);
    },
    recent,
    recentUntil: (isEnough) => attempt('read', folder, () => reading.until(isEnough, recent())),
    ofEachAutomation: () => attempt('read', folder, () => reading.ofEachAutomation(recent())),
    search: (text, fromFile = 0) =>
      attempt('read', folder, () => {
        const jsonText = JSON.stringify(text).slice(1, -1);
        const files = filesIn(folder).filter(({ number }) => number >= fromFile);
        return foldOurs(files.flatMap((file) => recordsIn(readBytes(file), { jsonText })));
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
  let entries: JournalEntry[] = [];

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
    if (bytes > 0) entries = foldOurs(records);
    return bytes;
  }

  return {
    recent(sinceMs: number): JournalEntry[] {
      if (!unread) readOlder(minReadBytes);
      while ((records[0]?.atMs ?? 0) >= sinceMs && readOlder(minReadBytes) > 0);
      return entries;
    },
    until(isEnough: (found: JournalEntry[]) => boolean, recent: JournalEntry[]): JournalEntry[] {
      let found = recent;
      for (let bytes = 4 * minReadBytes; !isEnough(found) && readOlder(bytes) > 0; bytes *= 4) {
        found = entries;
      }
      return found;
    },
    ofEachAutomation(recent: JournalEntry[]): JournalEntry[] {
      const known = new Set(recent.map(({ automation }) => namesIn(automation)));
      let all = recent;
      for (const file of (unread ?? []).toReversed()) {
        const older = foldOurs(recordsIn(readBytes(file), { except: known }));
        for (const { automation } of older) known.add(namesIn(automation));
        all = [...older, ...all];
      }
      return all;
    },
  };
}

/** Project and name as they stand in a record. */
const namesIn = ({ projectId, name }: Automation) => JSON.stringify({ projectId, name }).slice(1);
const namesInLine = /"projectId":"[^"]*","name":"(?:[^"\\]|\\.)*"\}$/;

/**
 * The records of the lines with this text, and without one of these names. Most files don't have
 * the text, and a line is parsed only if it is needed.
 */
function recordsIn(
  content: Buffer,
  { jsonText = '', except }: { jsonText?: string; except?: Set<string> } = {},
): JournalRecord[] {
  const records: JournalRecord[] = [];
  if (!content.includes(jsonText)) return records;
  for (const line of content.toString().split('\n')) {
    if (line === '' || !line.includes(jsonText)) continue;
    if (except?.has(namesInLine.exec(line)?.[0] ?? '')) continue;
    const record = parseRecord(line);
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
