import type { Clock } from '../runs/clock.ts';
import type { RunEvent } from '../runs/events.ts';
import type { Run, Target } from '../runs/run.ts';
import { createRunLine, type RunLine } from './run-line.ts';
import type { Theme } from './theme.ts';

export interface BoardOptions {
  /** How many runs are followed together. */
  runs: number;
  pastDurationsMs(target: Target): readonly number[];
}

const byTrouble = (one: RunLine, other: RunLine) => Number(other.isInTrouble()) - Number(one.isInTrouble());

export type BoardState = ReturnType<typeof createBoardState>;

/** What a board shows: a line for each running run, and how many of the others ended in which way. */
export function createBoardState({ runs, pastDurationsMs }: BoardOptions, clock: Clock, theme: Theme) {
  const several = runs > 1;
  const running = new Map<string, RunLine>();
  /** By status, and by our own words for runs without one, which are in lower case. */
  const outcomes = new Map<string, number>();
  /** Runs that finished before their `run_done`. */
  const finished = new Set<string>();

  const state = {
    several,
    outcomes: outcomes as ReadonlyMap<string, number>,
    /** How many runs are followed together. */
    total: runs,
    /** Those in trouble first. */
    running: () => [...running.values()].sort(byTrouble),
    isFailing: ({ executionId }: Run) => running.get(executionId)?.cells().isFailing === true,

    count(outcome: string): void {
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    },

    /** The line of a run, which takes the place of an earlier one where a single run is watched. */
    lineOf(run: Run): RunLine {
      const line = running.get(run.executionId);
      if (line) return line;
      if (!several) running.clear();
      const begun = createRunLine(run, pastDurationsMs(run.target), clock, theme);
      running.set(run.executionId, begun);
      return begun;
    },

    /** Returns whether that is news. */
    finish({ executionId }: Run, status: string): boolean {
      if (finished.has(executionId)) return false;
      finished.add(executionId);
      state.count(status);
      if (several) running.delete(executionId);
      return true;
    },

    observe(run: Run, event: RunEvent): void {
      const id = run.executionId;
      const isDone = event.event === 'run_done';
      if (isDone && event.failure && !finished.has(id)) state.count('not watched to the end');
      if (several && (isDone || finished.has(id))) running.delete(id);
      else state.lineOf(run).observe(event);
      if (isDone) finished.delete(id);
    },
  };
  return state;
}
