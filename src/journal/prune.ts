import { rmSync } from 'node:fs';
import { begunAt, filesIn, readFile } from './files.ts';
import { fold, isUnresolved } from './fold.ts';
import { type JournalRecord, recordsIn, triggerIdOf } from './records.ts';

const yearMs = 365 * 24 * 3_600_000;

/**
 * Removes files whose newest line is older than a year, unless they hold an unresolved trigger, or the outcome of one
 * in a file that stays: without it that would be unresolved again. Throws the errors of `readOwn`.
 */
export function pruneFiles(folder: string, nowMs: number): void {
  const since = new Date(nowMs - yearMs).toISOString();
  const old = filesIn(folder)
    .slice(1)
    .reverse()
    .filter(({ path }) => begunAt(path) < since)
    .map(({ path }) => ({ path, records: recordsIn(readFile(path)) }))
    .filter(({ records }) => isOld(records, nowMs));
  if (old.length === 0) return;
  const all = filesIn(folder)
    .reverse()
    .flatMap(({ path }) => recordsIn(readFile(path)));
  const needed = new Set([...fold(all).triggers].flatMap(([id, trigger]) => (isUnresolved(trigger) ? id : [])));
  for (const { path, records } of old) {
    const ids = records.flatMap((record) => ('idempotencyKey' in record ? triggerIdOf(record) : []));
    if (ids.some((id) => needed.has(id))) for (const id of ids) needed.add(id);
    else rmSync(path);
  }
}

const isOld = (records: readonly JournalRecord[], nowMs: number) =>
  records.length > 0 && records.every(({ at }) => nowMs - Date.parse(at) > yearMs);
