import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** One file of the journal: `journal.jsonl` is number 0, then `journal-1.jsonl`, and so on. */
export interface Segment {
  file: string;
  number: number;
}

const form = /^journal(?:-(?<number>\d+))?\.jsonl$/;

/** The files in `folder`, newest first; the newest is the one that is appended to. Throws the errors of `readdir`. */
export function segmentsOf(folder: string): Segment[] {
  return readdirSync(folder)
    .flatMap((name) => {
      const found = form.exec(name);
      return found ? { file: join(folder, name), number: Number(found.groups?.number ?? 0) } : [];
    })
    .sort((a, b) => b.number - a.number);
}

export function segmentFile(folder: string, number: number): string {
  return join(folder, number === 0 ? 'journal.jsonl' : `journal-${number}.jsonl`);
}
