import type { Connection } from '../connection/connection.ts';
import { pollRun } from '../connection/poll-once.ts';
import type { Journal, JournalRun } from '../journal/journal.ts';
import { isInterruptName } from '../problems/exit-codes.ts';
import { Problem } from '../problems/problem.ts';
import { type AutomationTarget, isCompleted, isFinal, runLimitMs } from '../runs/run.ts';

/** What the journal says about the last runs of an automation. */
export interface LastRuns {
  last?: JournalRun;
  completed?: JournalRun;
  /** Runs that may have completed in time, but aren't recorded as finished; newest first. */
  unfinished: (JournalRun & { executionId: string })[];
  failedPoll?: { executionId: string; problem: Problem };
}

const mostRuns = 1000;

/** Reads back to the newest run that COMPLETED, but no further than a run could matter. */
export function lastRunsOf(journal: Journal, baseUrl: string, target: AutomationTarget, sinceMs: number): LastRuns {
  const found: LastRuns = { unfinished: [] };
  let read = 0;
  for (const run of journal.runs({ baseUrl, target })) {
    const { executionId, status } = run;
    if (executionId === null) continue;
    found.last ??= run;
    const mayBeInTime = Date.parse(run.at) >= sinceMs - runLimitMs;
    if (!mayBeInTime && ++read > mostRuns) break;
    if (status !== null && isFinal(target, status)) {
      if (!isCompleted(status)) continue;
      found.completed = run;
      break;
    }
    if (status !== null && mayBeInTime) found.unfinished.push({ ...run, executionId });
  }
  return found;
}

/** When a run finished or was last seen unfinished, in milliseconds since 1970. Times of a damaged record don't count. */
export const endMsOf = ({ completedAt, startedAt, at }: JournalRun): number =>
  [completedAt, startedAt].map((time) => Date.parse(time ?? '')).find((ms) => !Number.isNaN(ms)) ?? Date.parse(at);

export const isInTime = ({ completed }: LastRuns, sinceMs: number): boolean =>
  completed !== undefined && endMsOf(completed) >= sinceMs;

const mostPolls = 20;

/** Polls each unfinished run once, newest first, until one has COMPLETED or a poll fails. */
export async function pollUnfinished(runs: LastRuns, connect: () => Promise<Connection>): Promise<LastRuns> {
  let { last } = runs;
  let connection: Connection | undefined;
  for (const run of runs.unfinished.slice(0, mostPolls)) {
    const { target, executionId } = run;
    try {
      connection ??= await connect();
      const { polled } = await pollRun({ target, executionId }, {}, connection);
      if (polled.kind === 'failed') throw polled.problem;
      const { status, startedAt = null, completedAt = null } = polled.value;
      const seen = { ...run, status, startedAt, completedAt };
      if (last?.executionId === executionId) last = seen;
      if (isCompleted(status)) return { ...runs, last, completed: seen };
    } catch (error) {
      if (!(error instanceof Problem) || isInterruptName(error.facts.name)) throw error;
      return { ...runs, last, failedPoll: { executionId, problem: error } };
    }
  }
  return { ...runs, last };
}
