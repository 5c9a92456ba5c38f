import type { Fault } from './fault.ts';
import type { JsonObject } from './json.ts';
import type { Run, Target } from './run.ts';
import type { Execution } from './service.ts';

/** The last confirmed status of a run, and its age; both undefined before the first valid answer. */
export interface LastConfirmed {
  run: Run;
  execution?: Execution;
  /** Milliseconds since it was confirmed. */
  ageMs?: number;
}

/** A run, or an automation without a known run. */
export type About = { run: Run; target?: undefined } | { run?: undefined; target: Target };

/** What came of a trigger. */
export type How = 'started' | 'recovered' | 'replayed' | 'attached' | 'skipped' | 'not_started' | 'unknown';

/** Something that is wrong and does not end the command. */
export type WarningName =
  | 'agents_discontinued'
  | 'completed_with_error'
  | 'conflicting_status'
  | 'exposed_api_key'
  | 'config_ignored'
  | 'api_key_command_failed'
  | 'hook_cut_off'
  | 'hook_failed'
  | 'job_summary_failed'
  | 'journal_unavailable'
  | 'low_rate'
  | 'replayed_failure'
  | 'rerun_not_started'
  | 'result_unavailable'
  | 'status_unavailable'
  | 'step_outputs_failed'
  | 'unknown_status'
  | 'unresolved_trigger';

export interface WarningEvent {
  event: 'warning';
  name: WarningName;
  message: string;
  /** What it is about, where that is not the command as a whole. */
  run?: Run;
  target?: Target;
}

interface FailedAttempt {
  event: 'attempt_failed';
  fault: Fault;
  /** In a row. */
  failures: number;
  /** Time without a valid answer. */
  silentMs: number;
  retryInMs: number;
}

/** Everything that happens while a command runs. The terminal, the log and `--events` show the same events. */
export type RunEvent = {
  /** The run is not one of those asked for: it only has to finish before ours can start (`--if-active wait`). */
  isOther?: true;
} & (
  | ({
      event: 'triggered';
      how: How;
      execution?: Execution;
      /** Names the run in a command to type next. */
      argument?: string;
      /** The command then watches the run, if there is one. */
      isWatched: boolean;
    } & About)
  | { event: 'status'; run: Run; execution: Execution; changed: boolean }
  | (FailedAttempt & { operation: 'trigger'; run?: undefined; target: Target })
  | (FailedAttempt & { operation: 'status' | 'result'; target?: undefined } & LastConfirmed)
  /** The first valid answer after failed polls. */
  | { event: 'service_back'; run: Run; afterMs: number }
  /** For the next poll of a run, or for another run of the automation to finish. */
  | ({ event: 'waiting'; for: 'poll' | 'slot'; nextMs: number; target?: undefined } & LastConfirmed)
  /** For another run of the automation to finish, which cannot be polled. */
  | { event: 'waiting'; for: 'slot'; run?: undefined; target: Target; nextMs: number }
  /** For the random time of `--splay`, or for a turn under `--rate`; of the command as a whole. */
  | { event: 'waiting'; for: 'splay' | 'rate'; run?: undefined; target?: undefined; nextMs: number }
  /** The run finished with an error type of `--rerun-on`: another one is to be started. */
  | { event: 'rerun'; run: Run; errorType: string }
  | WarningEvent
  | { event: 'final'; run: Run; execution: Execution }
  /** Once for each run that was asked for: nothing more happens to it in this command. */
  | ({
      event: 'run_done';
      document: JsonObject;
      /** How many of the runs that are watched together are not done yet. */
      pending: number;
      /** Why the run was not watched until it had finished. */
      failure?: { message: string /** An interruption or the timeout, which ends all the runs. */; endsAll: boolean };
    } & About)
  /** The last one: the process ends. */
  | {
      event: 'done';
      exitCode: number;
      /** The signal that ended the command. */
      signal?: string;
      /** The document of a failure that belongs to no run. */
      document?: JsonObject;
    }
);

/** What an event is about; undefined where that is the command as a whole. */
export function aboutOf(event: RunEvent): { target: Target; executionId?: string } | undefined {
  if ('run' in event && event.run) return event.run;
  return 'target' in event && event.target ? { target: event.target } : undefined;
}

/** Sees everything that happens while a command runs. */
export interface Reporter {
  observe(event: RunEvent): void;
  /** Leaves the terminal as it was found. */
  stop(): void;
}

export const silentReporter: Reporter = { observe() {}, stop() {} };
