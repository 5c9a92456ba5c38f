import type { Invocation } from '../context.ts';
import type { RunEvent } from '../run/events.ts';
import { isInterruptName } from '../run/exit-codes.ts';
import { causeOf, factsOf, isOk, nameOfOutcome } from '../run/exit-of.ts';
import type { Outcome, OutcomeOf, RunOutcome } from '../run/outcome.ts';
import { endedWell, wordOf } from '../run/statuses.ts';
import { nextStepOf } from '../words/next-step.ts';
import { wordsOf } from '../words/of-outcome.ts';
import type { Voice } from '../words/voice.ts';
import { type OutputOptions, type Result, themeOf } from './print.ts';
import { withoutStatus } from './status-text.ts';
import { summary } from './summary.ts';
import type { Theme } from './theme.ts';

interface ReportOptions {
  voice: Voice;
  project: string | undefined; // the project that a bare name means
}

/** The event that the command is done with a run. The other runs may take hours. */
export function doneEvent(outcome: RunOutcome, pending: number, voice: Voice): RunEvent {
  const { run, target } = outcome;
  const name = nameOfOutcome(outcome);
  const cause = causeOf(outcome);
  // A signal or the timeout ends the watches of all runs together.
  const endsAll = isInterruptName(name) || name === 'timeout';
  const failure = wordsOf(outcome, voice) ? { name: cause, endsAll } : undefined;
  return { event: 'run_done', ...(run ? { run } : { target }), pending, failure };
}

/** What is printed at the end of a command about runs: the summary of one, or the table of several with details of failures. */
export async function reportRuns(
  outcomes: readonly RunOutcome[],
  { quiet = false }: OutputOptions,
  { voice, project }: ReportOptions,
  context: Invocation,
): Promise<Result> {
  // A run that was named twice has a document in both places, but is reported once.
  const distinct = [...new Set(outcomes)];
  const finished = distinct.filter(isFinished);
  const hasTable = distinct.length > 1 && !quiet && finished.length > 0;
  const shown = hasTable || quiet ? finished.filter((outcome) => !isOk(outcome)) : finished;
  const table = hasTable ? (await import('./tables.ts')).finalTable : undefined;
  return {
    outcomes,
    voice,
    text(theme, lines) {
      const details = shown.map((outcome) => summary(outcome, theme, lines));
      if (!table) return details.join('\n');
      const text = [table(distinct, theme, lines), ...details].join('\n');
      // On a terminal, empty lines separate the report from progress and counts.
      return context.stdout.isTTY && context.stderr.isTTY ? `\n${text}\n` : text;
    },
    note: hasTable ? countsOf(distinct, themeOf(context.stderr, context)) : undefined,
    next: distinct.length === 1 ? nextOf(distinct[0], voice, project) : undefined,
  };
}

const isFinished = (outcome: Outcome): outcome is OutcomeOf<'known'> => outcome.kind === 'known';

/** What to do about the only run, if it failed. */
function nextOf(outcome: Outcome | undefined, voice: Voice, project: string | undefined): string | undefined {
  const { endedAs = 'COMPLETED' } = outcome?.start ?? {};
  if (!endedWell(endedAs)) return 'for a new run, use a new idempotency key';
  if (outcome?.kind !== 'known' || wordsOf(outcome, voice)) return undefined;
  return nextStepOf(outcome.run, outcome.status, outcome.result?.error?.type, project);
}

/** The number of runs with each status: `1 running · 12 completed · 2 failed`. */
function countsOf(outcomes: readonly Outcome[], { symbols }: Theme): string {
  // Our own words are in lower case, so that a status is never added to one of them.
  const counts = new Map([
    ['RUNNING', 0],
    ['COMPLETED', 0],
  ]);
  for (const outcome of outcomes) {
    const word = factsOf(outcome).status?.status ?? withoutStatus(outcome);
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, count]) => count > 0)
    .map(([word, count]) => `${count} ${wordOf(word)}`)
    .join(` ${symbols.dot} `);
}
