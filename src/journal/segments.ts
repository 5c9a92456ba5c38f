import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';

/** The file that is appended to. */
export const activeFile = (folder: string): string => join(folder, 'journal.jsonl');

const form = /^journal-(?<stamp>\d+)-[0-9a-f]+\.jsonl$/;

/** The files that were set aside, newest first. Throws the errors of `readdir`. */
export function segmentsOf(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => form.test(name))
    .sort((a, b) => stampOf(b) - stampOf(a))
    .map((name) => join(folder, name));
}

/** A name for the next segment: newer than every other, even when the clock was set back. */
export function nextSegment(folder: string, nowMs: number): string {
  const [newest = ''] = segmentsOf(folder);
  const stamp = Math.max(nowMs, stampOf(basename(newest)) + 1);
  return join(folder, `journal-${stamp}-${randomBytes(4).toString('hex')}.jsonl`);
}

const stampOf = (name: string): number => Number(form.exec(name)?.groups?.stamp ?? 0);
