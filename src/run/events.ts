import type { Fault } from './fault.ts';
import type { Run, Target } from './run.ts';
import type { Execution } from './service.ts';

export interface LastConfirmed {
  run: Run;
  execution?: Execution;
  ageMs?: number; // since the status was confirmed; undefined, like `execution`, before the first valid answer
}

type RunOrTarget = { run: Run; target?: undefined } | { run?: undefined; target: Target };

/** How a trigger can end. */
export const allHowTriggered = [
  'started',
  'recovered',
  'found',
  'replayed',
  'skipped',
  'not_started',
  'unknown',
] as const;
export type HowTriggered = (typeof allHowTriggered)[number];

/** How `recover` can resolve a trigger. */
export const allResolutions = [
  'found',
  'refused',
  'superseded',
  'left',
  'unresolved',
  'other_api_key',
  'withheld',
  'failed',
] as const;

export type WarningName =
  | 'agents_discontinued'
  | 'completed_with_error'
  | 'conflicting_status'
  | 'config_untrusted'
  | 'exposed_api_key'
  | 'api_key_command_failed'
  | 'hook_failed'
  | 'journal_unavailable'
  | 'other_run'
  | 'replayed_failure'
  | 'result_unavailable'
  | 'retry_after'
  | 'setting_overridden'
  | 'status_unavailable'
  | 'superseded_trigger'
  | 'unknown_setting'
  | 'unknown_status'
  | 'unresolved_trigger';

export interface WarningEvent {
  event: 'warning';
  name: WarningName;
  message: string;
  run?: Run;
  target?: Target;
}

export interface FailedAttempt {
  fault: Fault;
  failures: number; // in a row
  silentMs: number; // time without a valid response
  triedForMs: number; // how much longer attempts are made if none is answered
  retryInMs: number;
}

/** Everything that happens while a command runs. The terminal and the log show the same events. */
export type RunEvent = {
  /** The event is about the active run that must finish before ours can start (`--if-active wait`). */
  isActiveRun?: true;
} & (
  | ({
      event: 'triggered';
      how: HowTriggered;
      execution?: Execution;
      argument?: string;
      idempotencyKey?: string;
      isWatched: boolean; // the command watches the run next, if there is one
    } & RunOrTarget)
  | { event: 'status'; run: Run; execution: Execution; changed: boolean }
  | (FailedAttempt & { event: 'attempt_failed'; operation: 'trigger'; run?: undefined; target: Target })
  | (FailedAttempt & { event: 'attempt_failed'; operation: 'status' | 'result'; target?: undefined } & LastConfirmed)
  | { event: 'service_back'; run: Run; afterMs: number }
  /** `slot` waits for another run of the automation to finish. If its id is unknown, there is only a target. */
  | ({
      event: 'waiting';
      for: 'poll' | 'slot';
      nextMs: number;
      askedUntilMs?: number; // when the wait requested by the service ends, by the wall clock
      target?: undefined;
    } & LastConfirmed)
  | { event: 'waiting'; for: 'slot'; run?: undefined; target: Target; nextMs: number }
  | WarningEvent
  | { event: 'final'; run: Run; execution: Execution }
  /** Sent once for each requested run, when this command is done with it. */
  | ({
      event: 'run_done';
      pending: number; // runs of the command that are not done yet
      failure?: { name: string; endsAll: boolean }; // the name of a problem
    } & RunOrTarget)
);

export function aboutOf(event: RunEvent): { target: Target; executionId?: string } | undefined {
  if ('run' in event && event.run) return event.run;
  return 'target' in event && event.target ? { target: event.target } : undefined;
}

export interface Reporter {
  observe(event: RunEvent): void;
  stop(): void;
}

export const silentReporter: Reporter = { observe() {}, stop() {} };
