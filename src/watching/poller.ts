import { pause, stopwatch, suspendedMs } from '../runs/clock.ts';
import { signOfLifeMs } from '../runs/defaults.ts';
import type { LastConfirmed, RunEvent } from '../runs/events.ts';
import type { Fault } from '../runs/fault.ts';
import type { RetryPorts } from '../runs/retry.ts';
import type { Run } from '../runs/run.ts';
import type { Answer } from '../runs/service.ts';
import { createTolerance, onceMoreMs } from './tolerance.ts';
import type { WatchGroup } from './watch-group.ts';
import type { WatchEnd } from './watch-result.ts';

export interface PollerPorts extends RetryPorts {
  requestTimeoutMs: number;
  group: WatchGroup;
  observe(event: RunEvent): void;
}

interface PollerOptions {
  run: Run;
  operation: 'status' | 'result'; // a result may be read also in the time for the last polls
  chance(): number;
  sinceTriggerMs?(): number;
  lastConfirmed(): LastConfirmed;
  isDefinite?(fault: Fault): boolean; // no further poll can change it
}

/** With `isLast`, the timeout has passed and no further poll follows. */
type Polled<T> = { kind: 'ok'; value: T; retryAfterMs?: number; isLast: boolean } | WatchEnd;

export function createPoller(options: PollerOptions, ports: PollerPorts) {
  const { run, operation, chance, lastConfirmed, isDefinite = () => false } = options;
  const { limiter, clock, signal, group, giveUpAfterMs, requestTimeoutMs, observe } = ports;
  const tolerance = createTolerance({ ...ports, sinceTriggerMs: options.sinceTriggerMs });
  const isLate = operation === 'result';
  const leftMs = isLate ? group.leftForLastPollMs : group.leftMs;
  return { poll, wait: waitFor };

  async function poll<T>(request: (timeoutMs: number) => Promise<Answer<T>>): Promise<Polled<T>> {
    let lastFault: Fault | undefined;
    for (;;) {
      const turn = await limiter.take(signal, { chance, leftMs: group.leftForLastPollMs });
      if (turn.woke) group.woke();
      // Other runs are polled in the time that is left, or the service asked for no poll until then.
      if (!turn.isGranted) await wait(leftMs(), leftMs());
      if (signal.aborted) return { kind: 'interrupted', reason: signal.reason };
      const isLast = leftMs() <= 0;
      if (isLast && (isLate || !turn.isGranted)) return timedOut(lastFault);
      if (!turn.isGranted) continue;

      const timeoutMs = Math.min(requestTimeoutMs, isLast ? group.leftForLastPollMs() : leftMs());
      const tookMs = stopwatch(clock);
      const answer = await request(timeoutMs);
      const hasSlept = tookMs() > timeoutMs + suspendedMs;
      if (hasSlept) group.woke();
      if (answer.kind === 'ok') {
        const afterMs = tolerance.succeeded();
        if (afterMs !== undefined) observe({ event: 'service_back', run, afterMs });
        return { ...answer, isLast };
      }
      if (signal.aborted) return { kind: 'interrupted', reason: signal.reason };
      const { fault } = answer;
      lastFault = fault;
      if (isDefinite(fault)) return { kind: 'refused', fault };
      const verdict = tolerance.failed(fault, hasSlept ? 0 : Math.min(timeoutMs, tookMs()));
      if (verdict.kind === 'refused') return { kind: 'refused', fault };
      if (isLast && leftMs() <= 0) return timedOut();
      if (verdict.kind === 'gave_up') return { kind: 'gave_up', giveUpAfterMs, fault };
      const { kind: _, leastMs, ...failed } = verdict;
      if (fault.kind === 'throttled') limiter.slowDown();
      if (fault.httpStatus === 429 || fault.httpStatus === 503) limiter.hold(leastMs);
      observe({ event: 'attempt_failed', operation, ...failed, ...lastConfirmed() });
      await wait(failed.retryInMs, leastMs);
      if (leastMs > 0 && leftMs() <= 0) return timedOut(fault);
    }
  }

  function timedOut(fault?: Fault): WatchEnd {
    return { kind: 'timed_out', timeoutMs: group.timeoutMs, fault };
  }

  /** Waits until `ms` or the timeout has passed or the machine wakes up, but not less than `Retry-After` asks. */
  function waitFor(ms: number, retryAfterMs = 0): Promise<void> | undefined {
    const leastMs = retryAfterMs > leftMs() ? onceMoreMs : retryAfterMs;
    return wait(Math.max(ms, leastMs), leastMs);
  }

  /** This is not async, since each of thousands of waiting runs would hold one more frame in memory. */
  function wait(ms: number, leastMs: number): Promise<void> | undefined {
    const atMs = clock.elapsedMs() + Math.min(ms, leftMs());
    return waitUntil(atMs, Math.min(leastMs, leftMs()));
  }

  function waitUntil(atMs: number, leastMs: number): Promise<void> | undefined {
    const nextMs = atMs - clock.elapsedMs();
    if (nextMs <= 0 || signal.aborted) return undefined;
    observe({ event: 'waiting', for: 'poll', nextMs, ...lastConfirmed() });
    const isWhole = nextMs <= signOfLifeMs || leastMs > 0;
    return pause(isWhole ? nextMs : signOfLifeMs, clock, signal, leastMs).then((woke) => {
      if (woke) group.woke();
      return woke ? undefined : waitUntil(atMs, leastMs);
    });
  }
}
