import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Journal, openJournal } from '../../src/journal/journal.ts';
import { type NewRecord, pathOf } from '../../src/journal/records.ts';

export interface StateFolder {
  folder: string;
  file: string;
  troubles: string[];
  clock: { nowMs: number };
  /** A journal as another process would open it. */
  open(fileBytes?: number): Journal;
}

/** A state folder of its own, removed after the test. */
export function createStateFolder(): StateFolder {
  const parent = mkdtempSync(join(tmpdir(), 'journal-'));
  const remove = () => rmSync(parent, { recursive: true, force: true });
  onTestFinished(remove);
  return stateFolderAt(join(parent, 'state'));
}

export function stateFolderAt(folder: string): StateFolder {
  const troubles: string[] = [];
  const clock = { nowMs: Date.parse('2026-11-21T03:00:00.000Z') };
  const open = (fileBytes?: number) =>
    openJournal({ folder, nowMs: () => clock.nowMs, onFailure: (message) => troubles.push(message), fileBytes });
  return { folder, file: join(folder, 'journal.jsonl'), troubles, clock, open };
}

/** A record as it stands in a file. */
export function lineOf({ type, baseUrl, target, ...rest }: NewRecord, at: string): string {
  return `\n${JSON.stringify({ schema: 1, at, type, baseUrl, target: pathOf(target), ...rest })}\n`;
}

/** The whole lines of all files, oldest first, read in the plainest way. */
export function linesIn(folder: string): string[] {
  const count = readdirSync(folder).length;
  const names = Array.from({ length: count }, (_, n) => (n === 0 ? 'journal.jsonl' : `journal-${n}.jsonl`));
  return names.flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'));
}
