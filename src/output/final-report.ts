import type { CommandContext } from '../context.ts';
import type { HintContext } from '../messages/hint-context.ts';
import { nextStepOf } from '../messages/next-step.ts';
import { diagnosticOf } from '../messages/outcome-diagnostics.ts';
import type { RunEvent } from '../run/events.ts';
import { isSignalExitName } from '../run/exit-codes.ts';
import { exitNameOfOutcome, factsOf, isOk, problemNameOf } from '../run/exit-of.ts';
import {
  type Outcome,
  type OutcomeOf,
  type TargetOutcome,
  targetOf,
  type WatchEnd,
} from '../run/outcome.ts';
import { isSuccess, wordOf } from '../run/statuses.ts';
import type { CommandResult, OutputOptions } from './command-result.ts';
import { textWithoutStatus } from './status-text.ts';
import { renderSummary } from './summary.ts';
import { type Theme, themeOf } from './theme.ts';

interface ReportOptions {
  hintContext: HintContext;
  /** The project that a bare name means. */
  project: string | undefined;
}

/** Whether this end of one watch also ends the watches of all other runs. */
const endsAllWatches: Record<WatchEnd['kind'], boolean> = {
  timed_out: true, // `--timeout` is one limit for the whole command
  interrupted: true,
  gave_up: false,
  cannot_poll: false,
};

/**
 * The event that the command is done with one run, while others may take hours. `pending` is how
 * many runs the command still has.
 */
export function doneEvent(
  outcome: TargetOutcome,
  pending: number,
  hintContext: HintContext,
): RunEvent {
  const { run } = outcome;
  const name = exitNameOfOutcome(outcome);
  const cause = problemNameOf(outcome);
  const endsAll =
    isSignalExitName(name) || (outcome.kind === 'watch_ended' && endsAllWatches[outcome.end.kind]);
  const failure = diagnosticOf(outcome, hintContext) ? { name: cause, endsAll } : undefined;
  const subject = run ? { run } : { target: targetOf(outcome) };
  return { event: 'run_done', ...subject, pending, failure };
}

/**
 * What is printed at the end of a command about runs: the summary of one, or the table of several
 * with details of failures.
 */
export async function reportRuns(
  outcomes: readonly TargetOutcome[],
  { quiet = false }: OutputOptions,
  { hintContext, project }: ReportOptions,
  context: CommandContext,
): Promise<CommandResult> {
  // A run that was named twice has a document in both places, but is reported once.
  const distinct = [...new Set(outcomes)];
  const finished = distinct.filter(isFinished);
  const hasTable = distinct.length > 1 && !quiet && finished.length > 0;
  const shown = hasTable || quiet ? finished.filter((outcome) => !isOk(outcome)) : finished;
  const table = hasTable ? (await import('./tables.ts')).finalTable : undefined;
  return {
    outcomes,
    hintContext,
    forPeople: {
      text(theme, lines) {
        const details = shown.map((outcome) => renderSummary(outcome, theme, lines));
        if (!table) return details.join('\n');
        const text = [table(distinct, theme, lines), ...details].join('\n');
        // On a terminal, empty lines separate the report from progress and counts.
        return context.stdout.isTTY && context.stderr.isTTY ? `\n${text}\n` : text;
      },
      note: hasTable ? countsOf(distinct, themeOf(context.stderr, context)) : undefined,
      next: distinct.length === 1 ? nextStepOfOnly(distinct[0], hintContext, project) : undefined,
    },
  };
}

const isFinished = (outcome: Outcome): outcome is OutcomeOf<'status'> => outcome.kind === 'status';

/** What to do about the only run, if it failed. */
function nextStepOfOnly(
  outcome: Outcome | undefined,
  hintContext: HintContext,
  project: string | undefined,
): string | undefined {
  const { endedAs = 'COMPLETED' } = outcome?.triggerInfo ?? {};
  if (!isSuccess(endedAs)) return 'for a new run, use a new idempotency key';
  if (outcome?.kind !== 'status' || diagnosticOf(outcome, hintContext)) return undefined;
  return nextStepOf(outcome.run, outcome.snapshot, outcome.result?.error?.type, project);
}

/** The number of runs with each status: `1 running · 12 completed · 2 failed`. */
function countsOf(outcomes: readonly Outcome[], { symbols }: Theme): string {
  // Words of runctl are in lower case, so they are never counted as a status of the service.
  const counts = new Map([
    ['RUNNING', 0],
    ['COMPLETED', 0],
  ]);
  for (const outcome of outcomes) {
    const word = factsOf(outcome).snapshot?.status ?? textWithoutStatus(outcome);
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, count]) => count > 0)
    .map(([word, count]) => `${count} ${wordOf(word)}`)
    .join(` ${symbols.dot} `);
}
