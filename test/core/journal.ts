import { Problem } from '../../src/core/report.ts';
import { fold, type JournalEntry } from '../../src/journal/entries.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { type JournalRecord, parseRecord } from '../../src/journal/records.ts';
import type { Machine } from './time.ts';

/** What becomes of one record. But for `doubled`, an error is reported, after `whole` too. */
export type WriteFault = 'lost' | 'torn' | 'whole' | 'doubled' | undefined;

const linesPerFile = 2;
const baseUrl = 'https://api.example';

export const recordsOn = (lines: Machine['lines']): JournalRecord[] =>
  lines.flatMap(({ text }) => parseRecord(text) ?? []);

/** A machine's journal as one command uses it. */
export function createMemoryJournal(
  { lines, clock }: Machine,
  {
    writeFaults = [],
    isUnreadable = false,
  }: { writeFaults?: WriteFault[]; isUnreadable?: boolean },
): Journal {
  const faults = [...writeFaults];
  let cached: JournalEntry[] | undefined;

  function entriesOf(wanted: Machine['lines']): JournalEntry[] {
    if (isUnreadable) throw new Problem('EIO', { exit: 'io_error' });
    return fold(recordsOn(wanted));
  }

  const used: Pick<Journal, 'append' | 'recent' | 'search'> = {
    append({ automation: { projectId, name }, ...record }) {
      const common = { atMs: clock.nowMs(), baseUrl, projectId, name };
      const text = JSON.stringify({ ...record, ...common });
      const file = Math.floor(lines.length / linesPerFile);
      const fault = faults.shift();
      if (fault !== 'lost') lines.push({ file, text: fault === 'torn' ? text.slice(0, 99) : text });
      if (fault === 'doubled') lines.push({ file, text });
      else if (fault) throw new Error('ENOSPC');
      return file;
    },
    recent() {
      cached ??= entriesOf(lines);
      return cached;
    },
    search: (text, fromFile = 0) =>
      entriesOf(lines.filter((line) => line.file >= fromFile && line.text.includes(text))),
  };
  return used as Journal;
}
