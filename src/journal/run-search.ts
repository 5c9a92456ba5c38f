import { fold, type JournalRun, updateRun } from './fold.ts';
import type { RecordFilter } from './log.ts';
import { isOfHook, type JournalRecord, type RecordOf, runIdOf } from './records.ts';
import type { RunFilter } from './run-filter.ts';

const manySearches = 64; // from this many on, it is cheaper to read everything once

interface JournalReader {
  read(filter: RunFilter, how?: RecordFilter): Iterable<JournalRecord>;
  readFiles(): Iterable<Buffer>;
  /** What any process has appended since the last call. */
  readAppended(): Iterable<JournalRecord>;
}

/** Searches for single runs, in upper and lower case, as a service may answer with another than the user typed. */
export function createRunSearch({ read, readFiles, readAppended }: JournalReader) {
  let memory = new Map<string, JournalRun>();
  /** The runs that were searched for in vain, each with the other base URL that has its id, if there is one. */
  const unknown = new Map<string, string | undefined>();
  let searches = 0;
  let hasMarkedEnd = false;
  /** Hashes of all run ids in the journal. Read after the first search in vain, since more are likely to follow. */
  let hashes: Set<number> | undefined;

  return { find, findElsewhere, remember };

  /** With `fresh`, what other processes have written since the search counts, too. */
  function find(executionId: string, { baseUrl, fresh }: { baseUrl: string; fresh?: boolean }): JournalRun | undefined {
    if (fresh || !hasMarkedEnd) catchUp();
    const id = runIdOf({ baseUrl, executionId });
    if (memory.has(id) || unknown.has(id)) return memory.get(id);
    if (hashes) catchUp();
    else if (unknown.size > 0) hashes = hashesIn(readFiles());
    if (isNowhere(executionId)) unknown.set(id, undefined);
    else if (++searches === manySearches) memory = fold(read({}, { oldestFirst: true })).runs;
    if (!memory.has(id) && !unknown.has(id)) search(executionId, baseUrl);
    return memory.get(id);
  }

  /** The base URL of a run with this id that another service has, if this one has none. */
  function findElsewhere(executionId: string, baseUrl: string): string | undefined {
    find(executionId, { baseUrl });
    return unknown.get(runIdOf({ baseUrl, executionId }));
  }

  function search(executionId: string, baseUrl: string): void {
    const id = runIdOf({ baseUrl, executionId });
    const records = [];
    let elsewhere: string | undefined;
    for (const record of read({}, { needle: inAnyCase(JSON.stringify(executionId)) })) {
      if (!isOfRun(record) || record.executionId.toLowerCase() !== executionId.toLowerCase()) continue;
      if (record.baseUrl === baseUrl) records.push(record);
      else elsewhere ??= record.baseUrl;
      if (record.baseUrl === baseUrl && record.first) break;
    }
    const run = fold(records.reverse()).runs.get(id);
    if (run) memory.set(id, run);
    else unknown.set(id, elsewhere);
  }

  /** Has surely no run this id? An id with other characters may be escaped in a line. */
  function isNowhere(executionId: string): boolean {
    return hashes !== undefined && /^[\w-]+$/.test(executionId) && !hashes.has(hashOf(Buffer.from(executionId)));
  }

  /** Learns what was appended since the last call. The first call, before anything is known, marks the end. */
  function catchUp(): void {
    hasMarkedEnd = true;
    for (const record of readAppended()) {
      if (!isOfRun(record)) continue;
      hashes?.add(hashOf(Buffer.from(record.executionId)));
      if (memory.has(runIdOf(record)) || unknown.has(runIdOf(record))) remember(record);
    }
  }

  function remember(record: RunRecord): void {
    if (!hasMarkedEnd) catchUp();
    const isFirst = unknown.delete(runIdOf(record)) || record.first;
    if (isFirst || memory.has(runIdOf(record))) updateRun(memory, record);
  }
}

type RunRecord = RecordOf<'accepted' | 'status' | 'not_found'>;

const isOfRun = (record: JournalRecord): record is RunRecord => 'executionId' in record && !isOfHook(record);

/** Finds this text among bytes that are read as Latin-1. */
const inAnyCase = (text: string) =>
  new RegExp(
    Buffer.from(text)
      .toString('latin1')
      .replace(/[^\w-]/g, '\\$&'),
    'gi',
  );

/** The hash of every run id in these files. */
function hashesIn(files: Iterable<Buffer>): Set<number> {
  const field = Buffer.from('"executionId":"');
  const hashes = new Set<number>();
  for (const bytes of files) {
    for (let at = bytes.indexOf(field); at !== -1; at = bytes.indexOf(field, at)) {
      at += field.length;
      hashes.add(hashOf(bytes, at));
    }
  }
  return hashes;
}

/** Equal for upper and lower case. Different ids may share a hash; that costs one more search. */
function hashOf(bytes: Buffer, from = 0): number {
  let hash = 0;
  for (let at = from; at < bytes.length && bytes[at] !== quotationMark; at++) {
    hash = (31 * hash + ((bytes[at] ?? 0) | lowerCase)) & 0x3fffffff;
  }
  return hash;
}

const quotationMark = 0x22;
const lowerCase = 0x20; // the bit that tells a small letter from a capital
