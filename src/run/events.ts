import type { HowTriggered } from './attribution.ts';
import type { Fault } from './fault.ts';
import type { LastConfirmed } from './outcome.ts';
import type { Run, Target } from './run.ts';
import type { RunResource, RunSnapshot } from './service.ts';

type RunOrTarget = { run: Run; target?: undefined } | { run?: undefined; target: Target };

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
  /** How many attempts have failed in a row. */
  failures: number;
  /** How long there was no valid response. */
  silentMs: number;
  /** How much longer failed attempts are retried. */
  retryForMs: number;
  retryInMs: number;
}

/** Everything that happens while a command runs. The terminal and the log show the same events. */
export type RunEvent = {
  /**
   * The event is about the active run that must finish before ours can start (`--if-active wait`).
   */
  isActiveRun?: true;
} & (
  | ({
      /** The trigger has a run, has none, or is in doubt, as `how` says. */
      event: 'trigger_ended';
      how: HowTriggered;
      snapshot?: RunSnapshot;
      argument?: string;
      idempotencyKey?: string;
      /** The command watches the run next, if there is one. */
      isWatched: boolean;
    } & RunOrTarget)
  | { event: 'status'; run: Run; snapshot: RunSnapshot; changed: boolean }
  | (FailedAttempt & {
      event: 'attempt_failed';
      resource: 'trigger';
      run?: undefined;
      target: Target;
    })
  | (FailedAttempt & {
      event: 'attempt_failed';
      resource: RunResource;
      run: Run;
      target?: undefined;
      lastConfirmed?: LastConfirmed;
    })
  | { event: 'service_back'; run: Run; afterMs: number }
  /**
   * `active_run` waits for another run of the automation to finish. If its id is unknown, there is
   * only a target.
   */
  | {
      event: 'waiting';
      for: 'poll' | 'active_run';
      run: Run;
      target?: undefined;
      lastConfirmed?: LastConfirmed;
      nextMs: number;
      /** When a wait that the service asked for ends, by the wall clock. */
      retryAfterUntilMs?: number;
    }
  | { event: 'waiting'; for: 'active_run'; run?: undefined; target: Target; nextMs: number }
  | WarningEvent
  | { event: 'final'; run: Run; snapshot: RunSnapshot }
  /** Emitted once for each argument, when the command is done with its run. */
  | ({
      event: 'run_done';
      /** How many runs of the command are not done yet. */
      pending: number;
      /** The name of the problem, and whether it ends the command for all runs. */
      failure?: { name: string; endsAll: boolean };
    } & RunOrTarget)
);

export function subjectOf(event: RunEvent): { target: Target; executionId?: string } | undefined {
  if ('run' in event && event.run) return event.run;
  return 'target' in event && event.target ? { target: event.target } : undefined;
}

export interface Reporter {
  emit(event: RunEvent): void;
  stop(): void;
}

export const silentReporter: Reporter = { emit() {}, stop() {} };
