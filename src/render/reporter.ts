import type { Problem } from '../problems/problem.ts';
import type { RunEvent } from '../runs/events.ts';
import type { JsonObject } from '../runs/json.ts';
import type { Run, Target } from '../runs/run.ts';
import type { OutputOptions } from './output.ts';

/** What a reporter shows: events of runs, and the problems that watches end with. */
export type ReportedEvent = RunEvent | { event: 'problem'; run: Run; problem: Problem; isOther?: undefined };

/** Shows what happens while runs are followed. */
export interface Reporter {
  observe(event: ReportedEvent): void;
  /** Of one of those asked for there is no run to follow: it was refused, is in doubt or, without a problem, skipped. */
  notStarted?(target: Target, problem?: Problem): void;
  /** A sentence for people. */
  say(line: string): void;
  /** The document of `--json` in the last event; only where events are wanted. */
  last?(document: JsonObject | JsonObject[], isProblem: boolean): void;
  /** All is over: rings the bell where that is wanted. */
  over?(): void;
  /** Leaves the terminal as it was found. */
  stop(): void;
}

export interface ReporterOptions extends OutputOptions {
  /** How many runs are to be followed. */
  runs: number;
  /** Ring when all is over. */
  bell?: boolean;
  /** How long the last completed runs of a target took, in milliseconds, newest first. */
  history(target: Target): readonly number[];
}
