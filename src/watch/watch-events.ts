import {
  completedWithErrorText,
  conflictingStatusText,
  longWaitText,
  unknownStatusText,
  unreadResultText,
} from '../messages/warnings.ts';
import type { Ports } from '../ports.ts';
import type { RunEvent } from '../run/events.ts';
import { type Fault, isInterruption } from '../run/fault.ts';
import type { Run } from '../run/run.ts';
import type { RunResult, RunSnapshot } from '../run/service.ts';
import { isKnownStatus, isSameStatus, isSuccess } from '../run/statuses.ts';

/** A shorter wait that the service asks for needs no warning. */
const minuteMs = 60_000;

/**
 * Emits an event of a run that is polled. Adds a warning if the service asked for a long wait, and
 * lines for `--debug`.
 */
export function emitWatchEvent(event: RunEvent, run: Run, { emit, debug }: Ports): void {
  if (event.event === 'waiting') {
    const { nextMs } = event;
    const untilMs = event.run && event.retryAfterUntilMs;
    if (untilMs !== undefined && nextMs > minuteMs)
      emit({ event: 'warning', name: 'retry_after', message: longWaitText(nextMs, untilMs), run });
    debug?.(`next poll of ${run.executionId} in ${Math.round(nextMs)} ms`);
  }
  if (event.event === 'attempt_failed') debug?.(`${event.fault.kind}: ${event.fault.message}`);
  emit(event);
}

export function warnOfUnknownStatus(
  run: Run,
  { status, isFinal }: RunSnapshot,
  { emit }: Ports,
): void {
  if (isKnownStatus(status)) return;
  const message = unknownStatusText(status, isFinal);
  emit({ event: 'warning', name: 'unknown_status', message, run });
}

/** If the run didn't complete, its exit code doesn't say that its result couldn't be read. */
export function warnOfUnreadResult(
  run: Run,
  { status }: RunSnapshot,
  fault: Fault,
  { emit }: Ports,
): void {
  if (isInterruption(fault) || isSuccess(status)) return;
  const message = unreadResultText(status, fault);
  emit({ event: 'warning', name: 'result_unavailable', message, run });
}

/** Warns of a result that says something else than the status. */
export function warnOfResult(
  run: Run,
  reported: { status: string; inResult: string },
  { snapshot: { status }, result }: { snapshot: RunSnapshot; result: RunResult },
  { emit }: Ports,
): void {
  if (!isSameStatus(reported.status, reported.inResult)) {
    const message = conflictingStatusText(reported.status, reported.inResult, status);
    emit({ event: 'warning', name: 'conflicting_status', message, run });
  } else if (result.error && isSuccess(status)) {
    const message = completedWithErrorText(status, result);
    emit({ event: 'warning', name: 'completed_with_error', message, run });
  }
}
