import type { RunEntry } from '../run/entry.ts';
import { finalStatuses } from '../run/statuses.ts';
import { escapeRegExp } from '../system/regexp.ts';
import { type JournalRecord, parseRecord } from './records.ts';

// Parsing the lines of a year takes ten times as long as searching them. So the first reading only
// finds the ids of the runs and the idempotency keys of the triggers that may have the status, and
// the second reading parses their lines. It may be too many, because their records are folded
// afterwards, but never too few. Lines are searched in the form in which `JSON.stringify` writes
// them.

export interface StatusSearch {
  /** In upper case. */
  statuses?: readonly string[];
  /** The runs without a final status. */
  isUnfinished?: boolean;
  /** Whose records are wanted in any case. */
  otherRuns?: readonly RunEntry[];
  baseUrl?: string;
}

/**
 * The records of what may have one of these statuses, oldest first. `read` gives the text of each
 * file.
 */
export function* recordsWithStatus(search: StatusSearch, read: () => Iterable<string>): Generator<JournalRecord> {
  const { runs, keys } = findIds(search, read);
  if (runs.size === 0 && keys.size === 0) return;
  const isWanted = (line: string) =>
    (runs.size > 0 && runs.has(idIn(line, runLabel))) || (keys.size > 0 && keys.has(idIn(line, keyLabel)));
  for (const text of read()) {
    for (const line of text.split('\n')) {
      const record = isWanted(line) ? parseRecord(line) : undefined;
      if (record) yield record;
    }
  }
}

/** The ids of runs, and the idempotency keys of triggers. */
interface Ids {
  runs: Set<string>;
  keys: Set<string>;
}

/** Looks for ids in the text of one file after the other. */
interface Finder {
  read(text: string): void;
  addTo(ids: Ids): void;
}

function findIds(search: StatusSearch, read: () => Iterable<string>): Ids {
  const { otherRuns = [] } = search;
  const ids: Ids = { runs: new Set(otherRuns.map(idOf)), keys: new Set() };
  const finders = findersFor(search);
  if (finders.length === 0) return ids;
  for (const text of read()) for (const finder of finders) finder.read(text);
  for (const finder of finders) finder.addTo(ids);
  return ids;
}

function findersFor({ statuses = [], isUnfinished, baseUrl }: StatusSearch): Finder[] {
  const finders: Finder[] = [];
  const written = statuses.filter((status) => status !== 'RUNNING' && status !== 'UNKNOWN');
  if (written.length > 0) finders.push(createStatusFinder(written));
  if (isUnfinished ?? statuses.includes('RUNNING')) finders.push(createUnfinishedFinder(baseUrl));
  if (statuses.includes('UNKNOWN')) finders.push(createUnresolvedFinder());
  return finders;
}

/**
 * The runs with a record that has one of these words: a status, in any case of letters, or
 * `not_found`, a type of record.
 */
function createStatusFinder(words: readonly string[]): Finder {
  const runs = new Set<string>();
  const escaped = words.map((word) => escapeRegExp(JSON.stringify(word)));
  const pattern = new RegExp(escaped.join('|'), 'gi');
  return {
    read(text) {
      for (const { index } of text.matchAll(pattern)) {
        const id = idIn(lineAround(text, index), runLabel);
        if (id) runs.add(id);
      }
    },
    addTo(ids) {
      for (const id of runs) ids.runs.add(id);
    },
  };
}

/** The runs without a final status. Final statuses stay, so a run with one is never unfinished. */
function createUnfinishedFinder(baseUrl: string | undefined): Finder {
  const all = new Set<string>();
  const finished = new Set<string>();
  const itsUrl = `"baseUrl":${JSON.stringify(baseUrl)},`;
  const final = new RegExp(`"status":"(?:${finalStatuses.join('|')})"`);
  // Another service may have a run with this id.
  const isFinal = (line: string) => final.test(line) && line.includes(itsUrl) && isWhole(line);
  return {
    read(text) {
      for (const line of text.split('\n')) {
        const id = idIn(line, runLabel);
        if (id) (isFinal(line) ? finished : all).add(id);
      }
    },
    addTo(ids) {
      for (const id of all) if (!finished.has(id)) ids.runs.add(id);
    },
  };
}

/** The triggers that weren't accepted. One that was has a run for good. */
function createUnresolvedFinder(): Finder {
  const keys = new Map<string, string>();
  const accepted = new Set<string>();
  return {
    read(text) {
      for (const line of text.split('\n')) {
        const isTriggered = line.includes('"type":"triggered"');
        if (!isTriggered && !line.includes('"type":"accepted"')) continue;
        const key = idIn(line, keyLabel);
        if (isTriggered) keys.set(triggerIn(line), key);
        else if (isWhole(line)) accepted.add(triggerIn(line));
      }
    },
    addTo(ids) {
      for (const [trigger, key] of keys) if (!accepted.has(trigger)) ids.keys.add(key);
    },
  };
}

const runLabel = '"executionId":"';
const keyLabel = '"idempotencyKey":"';

/**
 * The id behind this label, or an empty text. In lower case, as the case of an id doesn't matter.
 * With an escape, it is cut, and means others, too.
 */
function idIn(line: string, label: string): string {
  const at = line.indexOf(label);
  if (at === -1) return '';
  const start = at + label.length;
  return line.slice(start, line.indexOf('"', start)).toLowerCase();
}

const idOf = ({ executionId }: RunEntry): string =>
  idIn(`${runLabel}${JSON.stringify(executionId).slice(1)}`, runLabel);

/** The base URL, the automation and the idempotency key, as they are written. */
function triggerIn(line: string): string {
  const end = line.indexOf('"', line.indexOf(keyLabel) + keyLabel.length);
  return line.slice(line.indexOf('"baseUrl":'), end);
}

function lineAround(text: string, at: number): string {
  const end = text.indexOf('\n', at);
  return text.slice(text.lastIndexOf('\n', at) + 1, end === -1 ? undefined : end);
}

/** A torn line is no record, and an id that is cut means others, too. */
const isWhole = (line: string): boolean =>
  line.startsWith('{"schema":1,') && line.endsWith('}') && !line.includes('\\');
