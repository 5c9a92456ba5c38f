import type { LimitedKind, Limits } from '../journal/limits.ts';
import type { Clock } from '../runs/clock.ts';
import type { Fault } from '../runs/fault.ts';
import type { Answer, Service } from '../runs/service.ts';

// A 429 that names no time.
const unnamedWaitMs = 2_000;
// What our own wait and the record may differ by, since they are measured by two clocks.
const slackMs = 50;

/** A service that keeps the waits it asked other processes of this machine for, and tells them of its own. */
export function withSharedLimits(service: Service, limits: Limits, clock: Clock): Service {
  const limited = async <T>(
    kind: LimitedKind,
    signal: AbortSignal,
    ask: () => Promise<Answer<T>>,
  ): Promise<Answer<T>> => {
    const leftMs = limits.leftMs(kind);
    if (leftMs > slackMs) {
      const message = 'the service asked this machine to wait';
      const fault: Fault = { kind: 'throttled', message, retryAfterMs: leftMs };
      return { kind: 'fault', fault: { ...fault, heldBack: true } };
    }
    if (leftMs > 0) await clock.sleep(leftMs, signal);
    const answer = await ask();
    if (answer.kind === 'fault' && (answer.fault.kind === 'throttled' || answer.fault.retryAfterMs !== undefined)) {
      limits.set(kind, answer.fault.retryAfterMs ?? unnamedWaitMs);
    }
    return answer;
  };
  return {
    trigger: (request, signal) => limited('trigger', signal, () => service.trigger(request, signal)),
    status: (run, signal) => limited('look', signal, () => service.status(run, signal)),
    result: (run, signal) => limited('look', signal, () => service.result(run, signal)),
  };
}
