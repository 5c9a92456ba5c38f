import { resultTimeoutFault, unfinishedResultFault } from '../messages/own-faults.ts';
import type { Ports } from '../ports.ts';
import { type Fault, interruptedFault } from '../run/fault.ts';
import type { RunHandle } from '../run/outcome.ts';
import type { Answer, RunResult, RunSnapshot } from '../run/service.ts';
import { graverStatus, isSameStatus } from '../run/statuses.ts';
import { stopwatch } from '../system/clock.ts';
import { Poller } from './poller.ts';

/** Reads the result of a run that has finished with this snapshot. */
export async function readResult(
  { run, sinceTriggerMs }: RunHandle,
  snapshot: RunSnapshot,
  ports: Ports,
): Promise<Answer<RunResult>> {
  const { service, clock, signal } = ports;
  const snapshotAgeMs = stopwatch(clock);
  const lastConfirmed = () => ({ snapshot, ageMs: snapshotAgeMs() });
  const isPermanent = ({ kind }: Fault) => kind === 'too_large';
  const poller = new Poller(
    { run, resource: 'result', sinceTriggerMs, lastConfirmed, isPermanent },
    ports,
  );
  const polled = await poller.poll(async (options) =>
    withFinalResult(await service.result(run, signal, options), snapshot),
  );
  switch (polled.kind) {
    case 'ok':
      return polled;
    case 'interrupted':
      return { kind: 'fault', fault: interruptedFault };
    case 'timed_out':
      return { kind: 'fault', fault: polled.fault ?? resultTimeoutFault };
    case 'gave_up':
    case 'cannot_poll':
      return { kind: 'fault', fault: polled.fault };
  }
}

/**
 * The answer, if its result is final. The result may lag behind the status, so a result that says
 * the run is unfinished counts as a fault and is requested again.
 */
function withFinalResult(answer: Answer<RunResult>, { status }: RunSnapshot): Answer<RunResult> {
  if (answer.kind === 'fault' || answer.value.isFinal) return answer;
  const { value: result } = answer;
  // This version doesn't know the status, and only the snapshot says that the run has finished.
  if (isSameStatus(result.status, status))
    return { ...answer, value: { ...result, isFinal: true } };
  return { kind: 'fault', fault: unfinishedResultFault(result.status) };
}

/**
 * The snapshot and the result of a finished run, both with the graver of their two statuses, so
 * that a failed run is never hidden.
 */
export function withGraverStatus(
  snapshot: RunSnapshot,
  result: RunResult,
): { snapshot: RunSnapshot; result: RunResult } {
  if (isSameStatus(snapshot.status, result.status)) return { snapshot, result };
  const status = graverStatus(snapshot.status, result.status);
  return {
    snapshot: { ...snapshot, status, document: { ...snapshot.document, status } },
    result: { ...result, status, document: { ...result.document, status } },
  };
}
