import type { Context } from '../context.ts';
import { Problem } from '../core/report.ts';
import { type Automation, isSameAutomation, isUuid, type Run } from '../core/run.ts';
import { isUnreported, type JournalEntry } from '../journal/entries.ts';
import { entriesOrNone } from '../journal/history.ts';
import { createJournal, type Journal } from '../journal/journal.ts';
import { findFolder, requireProject, type Settings } from '../settings/settings.ts';
import { shellWord } from '../text/shell-word.ts';
import type { Opened } from './open.ts';

/** `<name>` in the project in force, or `<projectId>/<name>`. Throws a `Problem` for other words. */
export function parseAutomation(text: string, settings: Settings): Automation {
  const [, first = '', rest] = /^([^/]*)\/(.*)$/s.exec(text) ?? [];
  if (isUuid(first) && rest !== undefined) {
    return { projectId: first.toLowerCase(), name: checkedName(rest, text) };
  }
  if (text === '@' || text === '@last') {
    throw new Problem(`${text} means a run: name an automation`);
  }
  if (text.includes('/')) {
    throw new Problem(
      `"${text}" isn't an automation: use <name> or <projectId>/<name>, where <projectId> is a UUID`,
    );
  }
  const name = checkedName(text, text);
  return { projectId: requireProject(settings), name };
}

/** These would change the path of a request, be read as a flag, or be a slip of a script. */
function checkedName(name: string, text: string): string {
  const flaw = flawOf(name);
  if (flaw) throw new Problem(`"${text}" isn't the name of an automation: ${flaw}`);
  return name;
}

function flawOf(name: string): string | undefined {
  if (name === '') return 'it is empty';
  if (name === '.' || name === '..') return 'it would change the path of the request';
  if (/^\p{Dash}/u.test(name)) return 'it begins with a dash';
  if (name !== name.trim()) return 'it has a space at an end';
  if (/\p{Cc}/u.test(name)) return 'it has a control character';
  if (!name.isWellFormed()) return "it isn't valid Unicode";
  return undefined;
}

export interface FoundRun {
  run: Run;
  /** The journal has it. */
  isRecorded: boolean;
}

/**
 * The run that an argument names: `<projectId>/<name>/<executionId>`, `@`, `@last`, an automation's
 * name, or the beginning of an id. If a later trigger started no run, a note says so. Throws a
 * `Problem`.
 */
export function findRun(
  text: string,
  { journal, settings }: Pick<Opened, 'journal' | 'settings'>,
  emit: Context['emit'],
): FoundRun {
  const [, projectId = '', name, id = ''] = /^([^/]+)\/(.+)\/([^/]+)$/s.exec(text) ?? [];
  if (isUuid(projectId) && isUuid(id)) {
    const automation = parseAutomation(`${projectId}/${name}`, settings);
    const run = { automation, executionId: id.toLowerCase() };
    return { run, isRecorded: hasRun(run, journal) };
  }
  if (text === '@' || text === '@last') {
    const entries = journal.recentUntil((found) => found.some(hasExecution));
    const run = newestRun(text, entries, emit);
    return run ? { run, isRecorded: true } : notRecorded('this machine has no record of a run');
  }
  const entries = entriesNamed(text, journal, settings);
  if (entries === undefined) return { run: runById(text, journal), isRecorded: true };
  const triggered = entries.filter(({ trigger }) => trigger);
  const run = newestRun(text, triggered, emit) ?? newestRun(text, entries, emit);
  return run
    ? { run: { ...run, isLastRun: true }, isRecorded: true }
    : notRecorded(`this machine has no record of a run of "${text}"`);
}

const hasExecution = ({ executionId }: JournalEntry) => executionId !== undefined;

/** The journal isn't needed to name this run. */
const hasRun = ({ executionId }: Run, journal: Journal): boolean =>
  entriesOrNone(() => journal.search(executionId)).some(
    (entry) => entry.executionId === executionId,
  );

const idPrefix = /^[\da-f-]{4,36}$/i;

/** The entries of the automation with this name. Undefined if it can only be an id. */
function entriesNamed(text: string, journal: Journal, settings: Settings) {
  // A script's empty variable, or a flag that isn't one, is named as what it is.
  const isPath = text.includes('/');
  if (!isPath && !settings.project && idPrefix.test(text)) return undefined;
  const automation = parseAutomation(text, settings);
  const recent = journal.recent().filter((entry) => isSameAutomation(entry.automation, automation));
  // A run that was triggered here counts before one that was only watched, however old it is.
  const hasTriggered = recent.some((entry) => hasExecution(entry) && entry.trigger);
  const entries = hasTriggered ? recent : entriesOf(automation, journal);
  return entries.length === 0 && !isPath ? undefined : entries;
}

/** The entries of any age, oldest first. */
const entriesOf = (automation: Automation, journal: Journal): JournalEntry[] =>
  journal.search(automation.name).filter((entry) => isSameAutomation(entry.automation, automation));

/** The entries of an automation that the journal must know. Throws a `Problem`. */
export function recordedEntries(automation: Automation, journal: Journal): JournalEntry[] {
  const entries = entriesOf(automation, journal);
  if (entries.length > 0) return entries;
  return notRecorded(`this machine has no record of "${automation.name}"`);
}

/** The last run, unless a trigger is newer that may have started another. */
function newestRun(
  text: string,
  entries: readonly JournalEntry[],
  emit: Context['emit'],
): Run | undefined {
  const last = entries.findLast((entry) => hasExecution(entry) || isUnreported(entry));
  if (!last) return undefined;
  const { automation, executionId } = last;
  if (executionId === undefined) {
    const argument = text.startsWith('@') ? `${automation.projectId}/${automation.name}` : text;
    throw new Problem(
      `the last trigger of ${automation.name} may have started a run, but no response named it`,
      { exit: 'outcome_unknown', command: `runctl recover ${shellWord(argument)}` },
    );
  }
  const later = entries.findLast(
    (entry) => entry.place > last.place && isSameAutomation(entry.automation, automation),
  );
  if (later?.notStarted) {
    const note = `a later trigger of ${automation.name} started no run (${later.notStarted.reason}), so this is its last one`;
    emit({ type: 'note', text: note });
  }
  return { automation, executionId };
}

function runById(text: string, journal: Journal): Run {
  const prefix = text.toLowerCase();
  const entries = idPrefix.test(prefix) ? journal.search(prefix) : [];
  const matches = entries.filter(({ executionId }) => executionId?.startsWith(prefix));
  const [match] = matches;
  if (match?.executionId === undefined) {
    const hint = isUuid(text) ? ': name it as <projectId>/<name>/<executionId>' : '';
    return notRecorded(`this machine has no record of "${text}"${hint}`);
  }
  if (new Set(matches.map(({ executionId }) => executionId)).size > 1) {
    throw new Problem(`"${text}" is the beginning of several run ids: type more of it`);
  }
  return { automation: match.automation, executionId: match.executionId };
}

/** Throws a `Problem`. */
function notRecorded(message: string): never {
  throw new Problem(message, { exit: 'not_found', command: 'runctl list' });
}

/** The names of automations in the recent journal, newest first. None if it can't be read. */
export function recordedNames(env: Context['env'], nowMs: number): string[] {
  try {
    const stateDir = findFolder('stateDir', env);
    const journal = createJournal({ stateDir, baseUrl: undefined, nowMs: () => nowMs });
    const names = journal.recent().map(({ automation }) => automation.name);
    return [...new Set(names.toReversed())];
  } catch {
    return [];
  }
}
