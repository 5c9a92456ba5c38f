import type { CommandContext } from '../context.ts';
import { snapshotIn } from '../journal/run-handle.ts';
import { plainHintContext } from '../messages/hint-context.ts';
import { oldStatusText } from '../messages/warnings.ts';
import type { CommandResult } from '../output/command-result.ts';
import type { ListRow } from '../output/tables.ts';
import {
  ageOf,
  documentOfEntry,
  type Entry,
  executionIdOf,
  isOpen,
  type RunEntry,
  runOf,
  type UnresolvedTrigger,
} from '../run/entry.ts';
import type { InDoubtDetails } from '../run/in-doubt.ts';
import type { Outcome, OutcomeOf } from '../run/outcome.ts';
import {
  emptyNote,
  type ListNoteInput,
  mayMatchProblem,
  offlineNote,
  omissionNote,
  reasonOfUnpolled,
  unknownNote,
  unpolledNote,
} from './list-notes.ts';
import type { UnpolledRun } from './list-polls.ts';
import type { Selection } from './list-runs.ts';

/** What was asked for, and what was read and polled. */
interface ReadList extends ListNoteInput {
  selection: Selection;
  options: ListNoteInput['options'] & { offline?: boolean };
  unpolled: readonly UnpolledRun[];
  /** False if nobody expects current statuses. */
  canPoll: boolean;
  nowMs: number;
}

/** The result of `runctl list`. */
export async function listResult(list: ReadList): Promise<CommandResult> {
  const { rows, unpolled, options, selection, nowMs, context } = list;
  // A run that wasn't polled may have one of the statuses that were asked for.
  const mayMatch = options.status !== undefined && unpolled.length > 0;
  const { problems, notices } = mayMatch ? mayMatchResult(unpolled, options) : nothingUnpolled;
  if (rows.length === 0)
    return { outcomes: problems, notices: mayMatch ? notices : emptyNote(list) };
  const shownUnpolled = list.canPoll
    ? unpolled.filter(({ entry }) => isAmongRows(entry, rows))
    : [];
  warnOfUnpolled(shownUnpolled, context);
  if (selection.isForIds) {
    const ids = rows.map(({ entry }) => executionIdOf(entry) ?? '');
    return { outcomes: problems, notices, forPeople: { raw: ids.join('\n') } };
  }
  const { runTable } = await import('../output/tables.ts');
  const unpolledNotes = !mayMatch && shownUnpolled.length > 0 ? [unpolledNote(shownUnpolled)] : [];
  return {
    outcomes: [...rows.map((row) => outcomeOfRow(row, nowMs)), ...problems],
    hintContext: { ...plainHintContext, argumentOf: ({ executionId }) => executionId },
    notices: [...notices, ...unpolledNotes, ...omissionNote(list)],
    forPeople: {
      note: options.quiet ? undefined : unknownNote(rows, nowMs),
      text: (theme, lines) => runTable(rows, nowMs, theme, lines),
    },
  };
}

interface MayMatchResult {
  problems: readonly OutcomeOf<'problem'>[];
  notices: readonly string[];
}

const nothingUnpolled: MayMatchResult = { problems: [], notices: [] };

/**
 * The result for runs that may have one of the statuses that were asked for. It is a problem, but
 * with `--offline` the user has chosen that, so a sentence is enough.
 */
function mayMatchResult(
  unpolled: readonly UnpolledRun[],
  { status = [], offline }: ReadList['options'],
): MayMatchResult {
  if (offline) return { problems: [], notices: [offlineNote(unpolled, status)] };
  return {
    problems: [{ kind: 'problem', problem: mayMatchProblem(unpolled, status) }],
    notices: [],
  };
}

const isAmongRows = (run: RunEntry, rows: readonly ListRow[]) =>
  rows.some(({ entry }) => isSameRun(entry, run));

const isSameRun = (one: Entry, other: RunEntry) => executionIdOf(one) === other.executionId;

/** Adds a warning to the document of each run. On stderr, one sentence covers all of them. */
function warnOfUnpolled(unpolled: readonly UnpolledRun[], { warnings }: CommandContext): void {
  for (const { entry, cause } of unpolled) {
    const message = oldStatusText(reasonOfUnpolled(cause));
    warnings.push({ event: 'warning', name: 'status_unavailable', message, run: runOf(entry) });
  }
}

/**
 * The outcome for a run or an unresolved trigger of the journal. It never changes the exit code of
 * the list.
 */
function outcomeOfRow({ entry, isOld }: ListRow, nowMs: number): Outcome {
  const { target, at, baseUrl, idempotencyKey = null } = entry;
  const shared = { isReportOnly: true, fields: { list: { idempotencyKey, at, baseUrl } } } as const;
  if (entry.kind === 'unresolved') {
    return { kind: 'in_doubt', target, inDoubt: inDoubtOf(entry, nowMs), ...shared };
  }
  const run = runOf(entry);
  if (entry.kind === 'not_found')
    return { kind: 'not_found', run, document: documentOfEntry(entry), ...shared };
  const statusAgeMs = isOld ? nowMs - Date.parse(entry.statusAt) : undefined;
  return { kind: 'status', run, snapshot: snapshotIn(entry), statusAgeMs, ...shared };
}

function inDoubtOf(entry: UnresolvedTrigger, nowMs: number): InDoubtDetails {
  const isRecoverable = isOpen(entry, nowMs) && !entry.isSuperseded;
  return {
    reason: { kind: 'listed', isRecoverable },
    recorded: { at: entry.at, ageMs: ageOf(entry, nowMs) },
    conflict: entry.conflict && { ...entry.conflict, isOthers: false },
    ifActive: entry.ifActive,
    ignoresKeys: false,
  };
}
