import type { JournalEntry } from '../../src/journal/entries.ts';
import { fold } from '../../src/journal/fold.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { type JournalRecord, parseRecord } from '../../src/journal/records.ts';
import { Problem } from '../../src/run/report.ts';

/** What becomes of one record: `whole` and `torn` are written, and an error is reported all the same. */
export type DiskFault = 'lost' | 'torn' | 'whole' | 'doubled' | undefined;

interface Line {
  file: number;
  text: string;
}

export interface Disk {
  lines: Line[];
}

export const baseUrl = 'https://api.example';
const linesPerFile = 4;

export const recordsOn = ({ lines }: Disk): JournalRecord[] =>
  lines.flatMap(({ text }) => parseRecord(text) ?? []);

/** A journal in memory, as one command sees it. */
export function createMemoryJournal(
  { lines }: Disk,
  options: { nowMs(): number; writeFaults: DiskFault[]; isUnreadable: boolean },
): Journal {
  let cached: JournalEntry[] | undefined;

  function entriesOf(wanted: Line[]): JournalEntry[] {
    if (options.isUnreadable) throw new Problem('EIO', { exit: 'io_error' });
    return fold(recordsOn({ lines: wanted }));
  }
  const recent = () => {
    cached ??= entriesOf(lines);
    return cached;
  };

  const used: Pick<Journal, 'append' | 'recent' | 'search'> = {
    append({ automation: { projectId, name }, ...record }) {
      const common = { atMs: options.nowMs(), baseUrl, projectId, name };
      const text = JSON.stringify({ ...record, ...common });
      const file = Math.floor(lines.length / linesPerFile);
      const fault = options.writeFaults.shift();
      if (fault === 'torn') lines.push({ file, text: text.slice(0, text.length / 2) });
      else if (fault !== 'lost') lines.push({ file, text });
      if (fault === 'doubled') lines.push({ file, text });
      else if (fault) throw new Error('ENOSPC');
      return file;
    },
    recent,
    search: (text, fromFile = 0) =>
      entriesOf(lines.filter((line) => line.file >= fromFile && line.text.includes(text))),
  };
  return used as Journal;
}
