import type { Context } from '../context.ts';
import { type JournalEntry, stillCounts } from '../journal/entries.ts';
import { createJournal, type Journal } from '../journal/journal.ts';
import { Problem } from '../run/report.ts';
import { isSameAutomation, isUuid, type Run } from '../run/run.ts';
import { findFolder } from '../settings/folders.ts';
import type { Settings } from '../settings/settings.ts';
import { shellWord } from '../text/shell-word.ts';
import { parseAutomation } from './automation.ts';

export interface FoundRun {
  run: Run;
  /** The journal has it. */
  isRecorded: boolean;
  /** It was named by the name of its automation, so that name means it. */
  isLastRun?: boolean;
  /** What happened since on this machine, if there is anything to say. */
  note?: string;
}

/**
 * The run that an argument names: `<projectId>/<name>/<executionId>`, `@`, `@last`, an automation's
 * name, or the beginning of an id. Throws a `Problem`.
 */
export function findRun(text: string, journal: Journal, settings: Settings): FoundRun {
  const parts = /^([^/]+)\/(.+)\/([^/]+)$/s.exec(text);
  if (parts && isUuid(parts[1] ?? '') && isUuid(parts[3] ?? '')) {
    const automation = parseAutomation(`${parts[1]}/${parts[2]}`, settings);
    const run = { automation, executionId: (parts[3] ?? '').toLowerCase() };
    return { run, isRecorded: hasRun(run, journal) };
  }
  if (text === '@' || text === '@last') {
    const entries = journal.recentUntil((found) => found.some(hasExecution));
    return newestRun(text, entries) ?? notRecorded('this machine has no record of a run');
  }
  const byName = runByName(text, journal, settings);
  return byName ? { ...byName, isLastRun: true } : runById(text, journal);
}

const hasExecution = ({ executionId }: JournalEntry) => executionId !== undefined;

function hasRun({ executionId }: Run, journal: Journal): boolean {
  try {
    return journal.search(executionId).some((entry) => entry.executionId === executionId);
  } catch {
    return false; // the journal isn't needed to name this run
  }
}

function runByName(text: string, journal: Journal, settings: Settings): FoundRun | undefined {
  // A script's empty variable, or a flag that isn't one, is named as what it is.
  const isPath = text.includes('/');
  if (!isPath && !settings.project) return undefined;
  const automation = parseAutomation(text, settings);
  const entries = entriesOf(automation.name, journal).filter((entry) =>
    isSameAutomation(entry.automation, automation),
  );
  if (entries.length === 0 && !isPath) return undefined;
  const triggered = entries.filter(({ trigger }) => trigger);
  const named = triggered.some((entry) => hasExecution(entry) || stillCounts(entry))
    ? triggered
    : entries;
  return (
    newestRun(text, named) ??
    notRecorded(`this machine has no record of a run of ${automation.name}`)
  );
}

/** The recent entries of this name, or if there are none, those of any age. */
function entriesOf(name: string, journal: Journal): JournalEntry[] {
  const ofName = (entry: JournalEntry) => entry.automation.name === name;
  const recent = journal.recent().filter(ofName);
  return recent.some(hasExecution) ? recent : journal.search(name).filter(ofName);
}

/** The last run, unless a trigger is newer that may have started another. */
function newestRun(text: string, entries: readonly JournalEntry[]): FoundRun | undefined {
  const last = entries.findLast((entry) => hasExecution(entry) || stillCounts(entry));
  if (!last) return undefined;
  const { automation, executionId } = last;
  if (executionId === undefined) {
    throw new Problem(
      `the last trigger of ${automation.name} may have started a run, but its response was lost`,
      {
        exit: 'outcome_unknown',
        command: `runctl recover ${shellWord(automationArgument(text, last))}`,
      },
    );
  }
  const later = entries.findLast(({ place }) => place > last.place);
  const note = later?.notStarted
    ? `the last trigger of ${later.automation.name} started no run: ${later.notStarted.reason}. This is the run before it.`
    : undefined;
  return { run: { automation, executionId }, isRecorded: true, note };
}

const automationArgument = (text: string, { automation }: JournalEntry) =>
  text.startsWith('@') ? `${automation.projectId}/${automation.name}` : text;

function runById(text: string, journal: Journal): FoundRun {
  const prefix = text.toLowerCase();
  const entries = /^[\da-f-]{4,36}$/.test(prefix) ? journal.search(prefix) : [];
  const matches = entries.filter(({ executionId }) => executionId?.startsWith(prefix));
  const [match] = matches;
  if (match?.executionId === undefined) {
    const hint = isUuid(text) ? ': name it as <projectId>/<name>/<executionId>' : '';
    return notRecorded(`this machine has no record of "${text}"${hint}`);
  }
  if (new Set(matches.map(({ executionId }) => executionId)).size > 1) {
    throw new Problem(`"${text}" is the beginning of ${matches.length} run ids: type more of it`);
  }
  const { automation, executionId } = match;
  return { run: { automation, executionId }, isRecorded: true };
}

/** Throws a `Problem`. */
export function notRecorded(message: string): never {
  throw new Problem(message, { exit: 'not_found', command: 'runctl list' });
}

/** The names of automations that have run here, newest first. None if the journal can't be read. */
export function recordedNames(env: Context['env'], nowMs: number): string[] {
  try {
    const stateDir = findFolder('stateDir', env);
    const journal = createJournal({ stateDir, baseUrl: undefined, nowMs: () => nowMs });
    return [
      ...new Set(
        journal
          .recent()
          .toReversed()
          .map(({ automation }) => automation.name),
      ),
    ];
  } catch {
    return [];
  }
}
