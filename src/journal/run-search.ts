import { fold, type JournalRun, updateRun } from './fold.ts';
import type { RecordFilter } from './log.ts';
import { type JournalRecord, type RecordOf, runIdOf } from './records.ts';
import type { RunFilter } from './run-filter.ts';

const manySearches = 64; // from this many on, it is cheaper to read everything once
const manyUnknown = 2; // from this many spellings on, those of one id, it is cheaper to read all ids once

const spellingOf = ({ baseUrl, executionId }: { baseUrl: string; executionId: string }) => `${baseUrl}\n${executionId}`;

export function createRunSearch(
  read: (filter: RunFilter, how?: RecordFilter) => Iterable<JournalRecord>,
  readFiles: () => Iterable<Buffer>,
) {
  let memory = new Map<string, JournalRun>();
  const unknown = new Set<string>();
  let searches = 0;
  /** The ids of all runs, read once some were not found, as the next ones may be missing, too. */
  let ids: Set<string> | undefined;

  return { find, findElsewhere, remember };

  /** With `fresh`, what other processes have written since counts, too. */
  function find(executionId: string, { baseUrl, fresh }: { baseUrl: string; fresh?: boolean }): JournalRun | undefined {
    const id = runIdOf({ baseUrl, executionId });
    const spelling = spellingOf({ baseUrl, executionId });
    if (!fresh) {
      if (memory.has(id)) return memory.get(id);
      if (unknown.has(spelling)) return undefined;
      if (unknown.size >= manyUnknown) ids ??= idsIn(readFiles());
      if (isNowhere(executionId)) {
        unknown.add(spelling);
        return undefined;
      }
      if (++searches === manySearches) memory = fold(read({}, { oldestFirst: true })).runs;
      if (searches >= manySearches) return memory.get(id);
    }
    const run = search(executionId, baseUrl);
    if (run) memory.set(id, run);
    else unknown.add(spelling);
    return run;
  }

  /** Has surely no run this id? An id with other characters may be escaped in a line. */
  function isNowhere(executionId: string): boolean {
    return ids !== undefined && /^[\w-]+$/.test(executionId) && !ids.has(executionId.toLowerCase());
  }

  function search(executionId: string, baseUrl: string): JournalRun | undefined {
    const records = [];
    for (const record of read({ baseUrl }, { needle: JSON.stringify(executionId) })) {
      if (!('executionId' in record) || record.executionId !== executionId) continue;
      records.push(record);
      if (record.first) break;
    }
    return fold(records.reverse()).runs.get(runIdOf({ baseUrl, executionId }));
  }

  function findElsewhere(executionId: string, baseUrl: string): string | undefined {
    if (isNowhere(executionId)) return undefined;
    for (const record of read({}, { needle: JSON.stringify(executionId) })) {
      const isOfRun = 'executionId' in record && record.executionId === executionId;
      if (isOfRun && record.baseUrl !== baseUrl) return record.baseUrl;
    }
    return undefined;
  }

  function remember(record: RecordOf<'accepted' | 'status' | 'not_found'>): void {
    const isFirst = unknown.delete(spellingOf(record)) || record.first;
    if (isFirst || memory.has(runIdOf(record))) updateRun(memory, record);
  }
}

/** The ids of the runs in these files, in lower case. */
function idsIn(files: Iterable<Buffer>): Set<string> {
  const field = Buffer.from('"executionId":"');
  const ids = new Set<string>();
  for (const bytes of files) {
    for (let at = bytes.indexOf(field); at !== -1; at = bytes.indexOf(field, at)) {
      at += field.length;
      ids.add(bytes.toString('latin1', at, bytes.indexOf('"', at)).toLowerCase());
    }
  }
  return ids;
}
