import { createAppender } from './appender.ts';
import { type LineFilter, readLines } from './read-lines.ts';
import type { JournalRecord, NewRecord, Place } from './record.ts';
import { parseRecord } from './schema.ts';
import { pathOf } from './target-path.ts';

/** The records on disk. Nothing here throws. */
export interface Log {
  /** False when it could not be written. */
  append(record: NewRecord, place: Place | undefined): boolean;
  /** The newest first, read as they are asked for. */
  read(filter?: RecordFilter): Generator<JournalRecord>;
}

export interface RecordFilter extends LineFilter {
  /** A cheap look at a line before it is parsed, which is nine tenths of the time that a record takes. */
  isWanted?(line: string): boolean;
}

export interface LogOptions {
  /** Created when the first record is written. Undefined where there is no place for it. */
  folder: string | undefined;
  nowMs(): number;
  /** Told once, in a clause for the user. What it throws ends the reading. */
  onTrouble(what: string, doing: 'reading' | 'writing'): void;
  /** How large a file may grow before the next one is begun. */
  segmentBytes?: number;
}

const defaultSegmentBytes = 8 * 1024 * 1024;

export function openLog({ folder, nowMs, onTrouble, segmentBytes = defaultSegmentBytes }: LogOptions): Log {
  let isTroubled = false;
  const trouble: LogOptions['onTrouble'] = (what, doing) => {
    if (!isTroubled) onTrouble(what, doing);
    isTroubled = true;
  };
  if (folder === undefined) {
    const append = () => {
      trouble('there is no folder for the journal (set HOME or RUNCTL_STATE_DIR)', 'writing');
      return false;
    };
    return { append, *read() {} };
  }
  const cannot = (be: string, error: unknown) => `the journal in ${folder} cannot be ${be} (${describe(error)})`;

  const { append } = createAppender(folder, segmentBytes);
  return {
    append({ target, ...record }, place) {
      const head = { schema: 1, at: new Date(nowMs()).toISOString() };
      const line = JSON.stringify({ ...head, ...record, target: pathOf(target), place });
      try {
        // Only an intent is worth the wait: an outcome that is lost leaves it open, and `recover` settles it.
        append(line, { durable: record.type === 'intent' });
        return true;
      } catch (error) {
        trouble(cannot('written', error), 'writing');
        return false;
      }
    },
    *read(filter = {}) {
      for (const line of readLines(folder, filter, (error) => trouble(cannot('read', error), 'reading'))) {
        const record = filter.isWanted?.(line) === false ? undefined : parseRecord(line);
        if (record) yield record;
      }
    },
  };
}

function describe(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? message;
}
