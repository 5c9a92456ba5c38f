import { appendLine } from './append-line.ts';
import { readLines } from './read-lines.ts';
import type { JournalRecord, NewRecord, Place } from './record.ts';
import { parseRecord } from './schema.ts';
import { pathOf } from './target-path.ts';

/** The records on disk. Nothing here throws. */
export interface Log {
  /** False when it could not be written. */
  append(record: NewRecord, place: Place | undefined): boolean;
  /** The newest first, read as they are asked for; with `needle` only those whose line holds that text. */
  read(needle?: string): Generator<JournalRecord>;
}

export interface LogOptions {
  /** Created when the first record is written. Undefined where there is no place for it. */
  folder: string | undefined;
  nowMs(): number;
  /** Told once, in a line for the user. */
  onTrouble(message: string): void;
  /** How large a file may grow before the next one is begun. */
  segmentBytes?: number;
}

const defaultSegmentBytes = 8 * 1024 * 1024;

export function openLog({ folder, nowMs, onTrouble, segmentBytes = defaultSegmentBytes }: LogOptions): Log {
  let isTroubled = false;
  const trouble = (what: string): void => {
    if (!isTroubled) onTrouble(`${what}; going on without it, \`runctl recover\` cannot settle what is not in it`);
    isTroubled = true;
  };
  if (folder === undefined) {
    const append = () => {
      trouble('there is no folder for the journal (set HOME or RUNCTL_STATE_DIR)');
      return false;
    };
    return { append, *read() {} };
  }
  const failed = (verb: string, error: unknown) =>
    trouble(`the journal in ${folder} cannot be ${verb} (${describe(error)})`);

  return {
    append({ target, ...record }, place) {
      const head = { schema: 1, at: new Date(nowMs()).toISOString() };
      const line = JSON.stringify({ ...head, ...record, target: pathOf(target), place });
      try {
        // Only an intent is worth the wait: an outcome that is lost leaves it open, and `recover` settles it.
        appendLine(folder, line, { durable: record.type === 'intent', segmentBytes });
        return true;
      } catch (error) {
        failed('written', error);
        return false;
      }
    },
    *read(needle) {
      for (const line of readLines(folder, needle, (error) => failed('read', error))) {
        const record = parseRecord(line);
        if (record) yield record;
      }
    },
  };
}

function describe(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? message;
}
