import type { RunEntry } from '../run/entry.ts';
import { finalStatuses } from '../run/statuses.ts';
import { type JournalRecord, parseRecord } from './records.ts';

// Parsing a year's lines takes ten times as long as searching them. So the ids of the runs and triggers that may have a
// status are searched for first, then only their records are parsed. What is found may be too much, because the records are
// folded afterwards, but never too little. Lines are searched in the form in which `JSON.stringify` writes them.

export interface StatusSearch {
  statuses?: readonly string[]; // in upper case
  isUnfinished?: boolean; // the runs without a final status
  otherRuns?: readonly RunEntry[]; // whose records are wanted in any case
  baseUrl?: string;
}

/** The records of what may have one of these statuses, oldest first. `read` gives the text of each file. */
export function* recordsWithStatus(search: StatusSearch, read: () => Iterable<string>): Generator<JournalRecord> {
  const { runs, triggers } = findIds(search, read);
  if (runs.size === 0 && triggers.size === 0) return;
  for (const text of read()) {
    const starts = new Set<number>();
    if (runs.size > 0)
      for (const { id, at } of idsIn(text, runLabel)) if (runs.has(id)) starts.add(startOfLine(text, at));
    if (triggers.size > 0)
      for (const { id, at } of idsIn(text, keyLabel)) if (triggers.has(id)) starts.add(startOfLine(text, at));
    for (const start of [...starts].sort((one, other) => one - other)) {
      const record = parseRecord(lineFrom(text, start));
      if (record) yield record;
    }
  }
}

/** The ids of runs, and the idempotency keys of triggers. */
interface Ids {
  runs: Set<string>;
  triggers: Set<string>;
}

function findIds(search: StatusSearch, read: () => Iterable<string>): Ids {
  const { statuses = [], isUnfinished = statuses.includes('RUNNING'), otherRuns = [], baseUrl } = search;
  const runs = new Set(otherRuns.map(({ executionId }) => idAt(JSON.stringify(executionId), 1).id));
  const words = statuses.filter((status) => status !== 'RUNNING' && status !== 'UNKNOWN');
  const searches = [
    ...(words.length > 0 ? [createWordSearch(words, runs)] : []),
    ...(isUnfinished ? [createUnfinishedSearch(baseUrl)] : []),
  ];
  const unresolved = statuses.includes('UNKNOWN') ? createUnresolvedSearch() : undefined;
  if (searches.length > 0 || unresolved) {
    for (const text of read()) {
      for (const search of searches) search.read(text);
      unresolved?.read(text);
    }
  }
  for (const search of searches) for (const id of search.ids()) runs.add(id);
  return { runs, triggers: new Set(unresolved?.ids()) };
}

/** The runs with a record that has one of the words: a status, in any case of letters, or `not_found`, a type of record. */
function createWordSearch(words: readonly string[], ids: Set<string>) {
  const escaped = words.map((word) => JSON.stringify(word).replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  const pattern = new RegExp(escaped.join('|'), 'gi');
  return {
    read(text: string) {
      for (const { index } of text.matchAll(pattern)) {
        const line = lineFrom(text, startOfLine(text, index));
        for (const { id } of idsIn(line, runLabel)) ids.add(id);
      }
    },
    ids: () => ids,
  };
}

/** The runs without a final status. Final statuses stay, so a run with one is never unfinished. */
function createUnfinishedSearch(baseUrl: string | undefined) {
  const all = new Set<string>();
  const finished = new Set<string>();
  const itsUrl = `"baseUrl":${JSON.stringify(baseUrl)},`;
  const final = new RegExp(`"status":"(?:${finalStatuses.join('|')})"`);
  /** Is it a whole record of this service? Another service may have a run with this id. */
  const isOurs = (line: string): boolean => line.includes(itsUrl) && isWhole(line);
  return {
    read(text: string) {
      for (const { id, at, end } of idsIn(text, runLabel)) {
        // As runctl writes it, the status stands behind the id.
        const isFinished = final.test(lineFrom(text, end)) && isOurs(lineFrom(text, startOfLine(text, at)));
        (isFinished ? finished : all).add(id);
      }
    },
    *ids() {
      for (const id of all) if (!finished.has(id)) yield id;
    },
  };
}

/** The triggers that weren't accepted. One that was has a run for good. */
function createUnresolvedSearch() {
  const keys = new Map<string, string>();
  const accepted = new Set<string>();
  return {
    read(text: string) {
      for (const { id, at, end } of idsIn(text, keyLabel)) {
        const start = startOfLine(text, at);
        const from = text.indexOf('"type":"', start);
        // The base URL, the automation and the idempotency key.
        const trigger = text.slice(text.indexOf('"baseUrl":', from), end);
        if (text.startsWith('"type":"triggered"', from)) keys.set(trigger, id);
        else if (text.startsWith('"type":"accepted"', from) && isWhole(lineFrom(text, start))) accepted.add(trigger);
      }
    },
    *ids() {
      for (const [trigger, key] of keys) if (!accepted.has(trigger)) yield key;
    },
  };
}

const runLabel = '"executionId":"';
const keyLabel = '"idempotencyKey":"';

/** The ids behind this label, each with where it begins and ends. */
function* idsIn(text: string, label: string): Generator<{ id: string; at: number; end: number }> {
  for (let at = text.indexOf(label); at !== -1; at = text.indexOf(label, at + label.length))
    yield idAt(text, at + label.length);
}

/** In lower case, as the case of an id doesn't matter. With an escape, it is cut, and means others, too. */
function idAt(text: string, at: number): { id: string; at: number; end: number } {
  const end = text.indexOf('"', at);
  return { id: text.slice(at, end).toLowerCase(), at, end };
}

const startOfLine = (text: string, at: number): number => text.lastIndexOf('\n', at) + 1;

function lineFrom(text: string, start: number): string {
  const end = text.indexOf('\n', start);
  return text.slice(start, end === -1 ? undefined : end);
}

/** A torn line is no record, and an id that is cut means others, too. */
const isWhole = (line: string): boolean =>
  line.startsWith('{"schema":1,') && line.endsWith('}') && !line.includes('\\');
