import type { FailedAttempt, RunEvent, WarningName } from '../run/events.ts';
import { reasonOf } from '../run/fault.ts';
import { heartbeatMs, laterHeartbeatMs } from '../run/limits.ts';
import { quotedName } from '../run/quote.ts';
import type { Target } from '../run/run.ts';
import { beganAt } from '../run/service.ts';
import { isSuccess } from '../run/statuses.ts';
import type { Clock } from '../system/clock.ts';
import { formatDuration } from '../system/time-text.ts';

/**
 * Turns events into sentences for people. Returns undefined for an event that has no sentence or
 * was just reported.
 */
export function createSentences(clock: Clock): (event: RunEvent) => string | undefined {
  const warnings = new Set<string>();
  /** When the wait for the active run of each automation was last reported. */
  const waitReportedAtMs = new Map<string, number>();
  /** Why the trigger of each automation failed, and when that was last reported. */
  const failed = new Map<string, { reason: string; atMs: number }>();

  return (event) => {
    if (event.event === 'warning') return warningSentence(event.message);
    if (event.event === 'waiting' && event.for === 'active_run') return waitSentence(event);
    if (event.event === 'attempt_failed' && event.resource === 'trigger')
      return failureSentence(event);
    if (event.event === 'trigger_ended') return triggerSentence(event);
    return event.event === 'run_done' ? doneSentence(event) : undefined;
  };

  /** A warning is printed once, however often it is made. */
  function warningSentence(message: string): string | undefined {
    if (warnings.has(message)) return undefined;
    warnings.add(message);
    return `runctl: ${message}`;
  }

  function waitSentence(event: RunEventOf<'waiting'>): string | undefined {
    const name = quotedName(event.target ?? event.run.target);
    const nowMs = clock.elapsedMs();
    const lastMs = waitReportedAtMs.get(name);
    if (lastMs !== undefined && nowMs - lastMs < laterHeartbeatMs) return undefined;
    waitReportedAtMs.set(name, nowMs);
    return `${name} is already running; waiting for that run to finish`;
  }

  function failureSentence(event: FailedAttempt & { target: Target }): string | undefined {
    const name = quotedName(event.target);
    const reason = reasonOf(event.fault);
    const nowMs = clock.elapsedMs();
    const last = failed.get(name);
    if (last?.reason === reason && nowMs - last.atMs < heartbeatMs) return undefined;
    failed.set(name, { reason, atMs: nowMs });
    // The first command of a new user may have a typing error in the base URL.
    const isUnreachable = event.fault.kind === 'unreachable';
    const where = isUnreachable ? ' (`runctl config list` shows the base URL)' : '';
    return `${name}: ${reason}; ${howRetried(event)}${where}`;
  }
}

type RunEventOf<Name extends RunEvent['event']> = Extract<RunEvent, { event: Name }>;

/** Warnings that need no action, which `--quiet` leaves out. */
const harmless: readonly WarningName[] = [
  'agents_discontinued',
  'unknown_setting',
  'unknown_status',
];

/** Whether `--quiet` prints this event. */
export const isShownQuietly = (event: RunEvent): boolean =>
  event.event === 'warning' && !harmless.includes(event.name);

/**
 * Other runs may be watched for hours, so a failure is named at once. The full report comes at the
 * end.
 */
function doneSentence(event: RunEventOf<'run_done'>): string | undefined {
  const { failure, pending } = event;
  if (!failure || failure.endsAll || pending === 0) return undefined;
  return `${quotedName(event.target ?? event.run.target)}: ${failure.name.replaceAll('_', ' ')}`;
}

/** How long attempts go on, or when the next one is made if the service asked for a wait. */
export function howRetried({ fault, retryInMs, retryForMs }: FailedAttempt): string {
  if (fault.retryAfterMs) return `retrying in ${formatDuration(retryInMs)}, as the service asks`;
  return `retrying for up to ${formatDuration(Math.ceil(retryForMs / 1000) * 1000)}`;
}

function triggerSentence(event: RunEventOf<'trigger_ended'>): string | undefined {
  const { how, run, target, snapshot, argument, isWatched } = event;
  const name = quotedName(target ?? run.target);
  if (how === 'skipped') return `${name} is already running; skipped, no run was started`;
  const sentence = runSentence(event, name);
  if (!run || sentence === undefined) return undefined;
  if (how !== 'started' && snapshot?.isFinal) {
    // An earlier run that failed has a warning of its own.
    return isSuccess(snapshot.status) ? sentence : undefined;
  }
  if (isWatched) return `${sentence}: ${run.executionId}`;
  return `${sentence}; to watch it: \`runctl watch ${argument ?? run.executionId}\``;
}

/** How the trigger got its run. Undefined if another text says so. */
function runSentence(event: RunEventOf<'trigger_ended'>, name: string): string | undefined {
  switch (event.how) {
    case 'started':
      return `started ${name}`;
    case 'found':
      return `${name} has a run under the idempotency key ${event.idempotencyKey}`;
    case 'replayed': {
      const began = beganAt(event.snapshot);
      return `this idempotency key started ${name} ${began}; no new run was started`;
    }
    default:
      // A failure is reported when the command ends, and `recover` reports its runs itself.
      return undefined;
  }
}
