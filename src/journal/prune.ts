import { rmSync } from 'node:fs';
import { filesIn, readFile } from './files.ts';
import { recordsIn } from './records.ts';

const yearMs = 365 * 24 * 3_600_000;

/** Removes the oldest files until one has a record that is younger than a year. Throws the errors of `readOwn`. */
export function pruneFiles(folder: string, nowMs: number): void {
  const [, ...full] = filesIn(folder);
  for (const { path } of full.reverse()) {
    const records = recordsIn(readFile(path));
    if (records.length === 0 || records.some(({ at }) => nowMs - Date.parse(at) <= yearMs)) return;
    rmSync(path);
  }
}
