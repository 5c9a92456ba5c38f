import type { RunEntry } from '../run/entry.ts';
import { finalStatuses } from '../run/statuses.ts';
import { escapeRegExp } from '../system/regexp.ts';
import type { EntryFilter } from './entry-filter.ts';
import { type JournalRecord, parseLines } from './records.ts';

// Parsing the lines of a year takes ten times as long as searching them. So the first reading only
// finds the runs and the triggers that may have the status, and the second reading parses their
// lines. It may find too many, because their records are folded afterwards, but never too few, and
// of a run or a trigger that it finds it reads every record. Lines are searched in the form in which
// `JSON.stringify` writes them.

type StatusSearch = Pick<EntryFilter, 'statuses' | 'mayStillChange' | 'alsoRuns' | 'baseUrl'>;

/** The lines of one file after the other, oldest first. */
type ReadLines = () => Iterable<string[]>;

/** The ids of runs, and the triggers as `triggerIn` gives them. */
interface Ids {
  runs: Set<string>;
  triggers: Set<string>;
}

/** If so many runs have the status, parsing every line is faster than searching for them. */
const manyRuns = 2000;

/** The records of what may have one of these statuses, oldest first. */
export function* recordsWithStatus(
  search: StatusSearch,
  read: ReadLines,
): Generator<JournalRecord> {
  const ids = findIds(search, read);
  if (ids.runs.size === 0 && ids.triggers.size === 0) return;
  if (ids.runs.size >= manyRuns) {
    yield* parseLines(read());
    return;
  }
  for (const lines of read()) yield* parseLines([lines.filter((line) => isAbout(ids, line))]);
}

const isAbout = ({ runs, triggers }: Ids, line: string): boolean =>
  (runs.size > 0 && runs.has(idIn(line, runLabel))) ||
  (triggers.size > 0 && triggers.has(triggerIn(line)));

function findIds(search: StatusSearch, read: ReadLines): Ids {
  const { alsoRuns = [] } = search;
  const ids: Ids = { runs: new Set(alsoRuns.map(lowerCaseIdOf)), triggers: new Set() };
  const finders = findersFor(search, ids);
  if (finders.length === 0) return ids;
  for (const lines of read()) {
    for (const finder of finders) for (const line of lines) finder.read(line);
    if (ids.runs.size >= manyRuns) return ids;
  }
  for (const finder of finders) finder.end?.();
  return ids;
}

/** Adds the ids that it finds in these lines, oldest first. Some are only known at the end. */
interface Finder {
  read(line: string): void;
  end?(): void;
}

function findersFor({ statuses = [], mayStillChange, baseUrl }: StatusSearch, ids: Ids): Finder[] {
  const finders: Finder[] = [];
  const written = statuses.filter((status) => status !== 'RUNNING');
  if (written.length > 0) finders.push(createStatusFinder(written, ids));
  if (mayStillChange ?? statuses.includes('RUNNING')) {
    finders.push(createUnfinishedFinder(baseUrl, ids));
  }
  if (statuses.includes('UNKNOWN')) finders.push(createUnresolvedFinder(ids));
  return finders;
}

/**
 * The runs with a record that has one of these words: a status, in any case of letters, or
 * `not_found`, a type of record.
 */
function createStatusFinder(words: readonly string[], { runs }: Ids): Finder {
  const pattern = new RegExp(
    words.map((word) => escapeRegExp(JSON.stringify(word))).join('|'),
    'i',
  );
  return {
    read(line) {
      if (pattern.test(line)) addRunIn(line, runs);
    },
  };
}

/** The runs without a final status. Final statuses stay, so a run with one is never unfinished. */
function createUnfinishedFinder(baseUrl: string | undefined, { runs }: Ids): Finder {
  const unfinished = new Set<string>();
  const finished = new Set<string>();
  const itsUrl = `"baseUrl":${JSON.stringify(baseUrl)},`;
  const final = new RegExp(`"status":"(?:${finalStatuses.join('|')})"`);
  // Another service may have a run with this id.
  const isFinal = (line: string) => final.test(line) && line.includes(itsUrl) && isWhole(line);
  return {
    read(line) {
      const id = idIn(line, runLabel);
      if (id === '' || finished.has(id)) return;
      if (isFinal(line)) {
        unfinished.delete(id);
        finished.add(id);
      } else unfinished.add(id);
    },
    end() {
      for (const id of unfinished) runs.add(id);
    },
  };
}

/** The triggers that weren't accepted. One that was has a run for good. */
function createUnresolvedFinder({ runs, triggers }: Ids): Finder {
  const accepted = new Set<string>();
  const all = new Set<string>();
  return {
    read(line) {
      if (line.includes('"type":"triggered"')) all.add(triggerIn(line));
      else if (line.includes('"type":"accepted"')) {
        if (isWhole(line)) accepted.add(triggerIn(line));
        // Of a run that is read with its trigger, every record is wanted.
        else addRunIn(line, runs);
      }
    },
    end() {
      for (const trigger of all) if (!accepted.has(trigger)) triggers.add(trigger);
    },
  };
}

const runLabel = '"executionId":"';
const keyLabel = '"idempotencyKey":"';

/**
 * Returns the id after this label, or an empty text. It is in lower case, because the case of an id
 * doesn't matter. It ends at the first quote, so an id with an escaped quote is shortened and may
 * match other ids, too. That is harmless, because their records are folded and filtered afterwards.
 */
function idIn(line: string, label: string): string {
  const at = line.indexOf(label);
  if (at === -1) return '';
  const start = at + label.length;
  return line.slice(start, line.indexOf('"', start)).toLowerCase();
}

function addRunIn(line: string, runs: Set<string>): void {
  const id = idIn(line, runLabel);
  if (id !== '') runs.add(id);
}

const lowerCaseIdOf = ({ executionId }: RunEntry): string =>
  idIn(`${runLabel}${JSON.stringify(executionId).slice(1)}`, runLabel);

/**
 * Returns the base URL, the automation and the idempotency key, as they are written, or an empty
 * text. A key with an escaped quote is shortened in the same way.
 */
function triggerIn(line: string): string {
  const at = line.indexOf(keyLabel);
  if (at === -1) return '';
  return line.slice(line.indexOf('"baseUrl":'), line.indexOf('"', at + keyLabel.length));
}

/**
 * Whether a line proves what it says of its id: it isn't torn, and no id or key in it was
 * shortened.
 */
const isWhole = (line: string): boolean =>
  line.startsWith('{"schema":1,') && line.endsWith('}') && !line.includes('\\');
