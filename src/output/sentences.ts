import type { FailedAttempt, RunEvent, WarningName } from '../run/events.ts';
import { reasonOf } from '../run/fault.ts';
import { laterSignOfLifeMs, signOfLifeMs } from '../run/limits.ts';
import { automationNameOf } from '../run/run.ts';
import { beganAt } from '../run/service.ts';
import { endedWell } from '../run/statuses.ts';
import type { Clock } from '../system/clock.ts';
import { formatDuration } from '../system/time-text.ts';

/** Turns events into sentences for people; undefined for an event without one, or that was reported already. */
export function createSentences(clock: Clock): (event: RunEvent) => string | undefined {
  const warnings = new Set<string>();
  /** When a wait for another run of each automation was last reported. */
  const slotReportedAtMs = new Map<string, number>();
  /** Of each automation: why its trigger failed, and when that was last reported. */
  const failed = new Map<string, { reason: string; atMs: number }>();

  return (event) => {
    if (event.event === 'warning') {
      if (warnings.has(event.message)) return undefined;
      warnings.add(event.message);
    }
    if (event.event === 'waiting' && event.for === 'active_run') {
      const name = automationNameOf(event.target ?? event.run.target);
      const nowMs = clock.elapsedMs();
      if (nowMs - (slotReportedAtMs.get(name) ?? Number.NEGATIVE_INFINITY) < laterSignOfLifeMs) return undefined;
      slotReportedAtMs.set(name, nowMs);
    }
    if (event.event === 'attempt_failed' && event.resource === 'trigger') {
      const name = automationNameOf(event.target);
      const last = failed.get(name);
      const now = { reason: reasonOf(event.fault), atMs: clock.elapsedMs() };
      if (last?.reason === now.reason && now.atMs - last.atMs < signOfLifeMs) return undefined;
      failed.set(name, now);
    }
    return sentenceOf(event);
  };
}

/** Warnings that need no action, which `--quiet` leaves out. */
const harmless: readonly WarningName[] = ['agents_discontinued', 'unknown_setting', 'unknown_status'];

export const isShownQuietly = (event: RunEvent): boolean => event.event === 'warning' && !harmless.includes(event.name);

function sentenceOf(event: RunEvent): string | undefined {
  switch (event.event) {
    case 'triggered':
      return triggeredSentence(event);
    case 'attempt_failed': {
      if (event.resource !== 'trigger') return undefined;
      return `${automationNameOf(event.target)}: ${reasonOf(event.fault)}; ${howRetried(event)}`;
    }
    case 'waiting':
      if (event.for !== 'active_run') return undefined;
      return `${automationNameOf(event.target ?? event.run.target)} is already running; waiting until that run is finished`;
    case 'warning':
      return `runctl: ${event.message}`;
    case 'run_done': {
      // Other runs may be watched for hours; the full report comes at the end.
      const { failure, pending } = event;
      const isEarly = failure && !failure.endsAll && pending > 0;
      if (!isEarly) return undefined;
      return `${automationNameOf(event.target ?? event.run.target)}: ${failure.name.replaceAll('_', ' ')}`;
    }
    case 'status':
    case 'service_back':
    case 'final':
      return undefined;
  }
}

/** How long attempts go on, or when the next one is made if the service asked for a wait. */
export function howRetried({ fault, retryInMs, triedForMs }: FailedAttempt): string {
  if (fault.retryAfterMs) return `retrying in ${formatDuration(retryInMs)}, as the service asks`;
  return `retrying for up to ${formatDuration(Math.ceil(triedForMs / 1000) * 1000)}`;
}

function triggeredSentence(event: Extract<RunEvent, { event: 'triggered' }>): string | undefined {
  const { how, run, target, status, argument, isWatched } = event;
  const name = automationNameOf(target ?? run.target);
  if (how === 'skipped') return `${name} is already running; skipped, no run was started`;
  // A failure is reported when the command ends, and `recover` reports its runs itself.
  if (!run || how === 'not_started' || how === 'unknown' || how === 'recovered') return undefined;
  const sentences = {
    started: `started ${name}`,
    found: `${name} has a run under the idempotency key ${event.idempotencyKey}`,
    replayed: `this idempotency key started ${name} ${beganAt(status)}; no new run was started`,
  };
  const { executionId } = run;
  // An earlier run that failed has a warning of its own.
  if (status?.isFinal && how !== 'started') return endedWell(status.status) ? sentences[how] : undefined;
  if (isWatched) return `${sentences[how]}: ${executionId}`;
  return `${sentences[how]}; to watch it: \`runctl watch ${argument ?? executionId}\``;
}
