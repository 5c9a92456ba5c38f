import type { Fault } from '../run/fault.ts';
import { signOfLifeMs } from '../run/limits.ts';
import type { Operation, Seen, WatchEnd } from '../run/outcome.ts';
import type { Run } from '../run/run.ts';
import type { Answer, Sending } from '../run/service.ts';
import { inTurn } from '../service/rate-limiter.ts';
import { pause, stopwatch, suspendedMs } from '../system/clock.ts';
import type { WatchPorts } from './ports.ts';
import { createTolerance, waitAskedFor } from './tolerance.ts';

interface PollerOptions {
  run: Run;
  operation: Operation; // a result may also be read in the time for the last polls
  sinceTriggerMs?(): number;
  seen(): Seen | undefined; // the last status that is known
  isDefinite?(fault: Fault): boolean; // no further poll can change it
}

type Request<T> = (sending: Sending) => Promise<Answer<T>>;

/** With `isLast`, the timeout has passed and no further poll follows. */
type Polled<T> = { kind: 'ok'; value: T; retryAfterMs?: number; isLast: boolean } | WatchEnd;

// The rest of `--give-up-after` may be too short for any response.
const leastLimitMs = 1_000;

export function createPoller(options: PollerOptions, ports: WatchPorts) {
  const { run, operation, seen, isDefinite = () => false } = options;
  const { limiter, clock, signal, deadline, giveUpAfterMs, requestTimeoutMs, observe, renewApiKey } = ports;
  const tolerance = createTolerance({ ...ports, sinceTriggerMs: options.sinceTriggerMs });
  const leftMs = operation === 'result' ? deadline.leftForLastPollMs : deadline.leftMs;
  const lane = operation === 'result' ? 'result' : 'poll';
  const turn = { lane, signal, leftMs: deadline.leftForLastPollMs, onWake: deadline.woke } as const;
  let askedUntilMs: number | undefined; // when the wait requested by the service ends, by the wall clock
  let isAskedBeyondTimeout = false; // the service wants no poll before the timeout
  let isRenewed = false;
  let failedAtMs = 0;
  return { poll, wait };

  /** Polls until there is a valid response or a reason to stop. */
  async function poll<T>(request: Request<T>): Promise<Polled<T>> {
    for (let lastFault: Fault | undefined; ; ) {
      if (deadline.leftForLastPollMs() <= 0 || isAskedBeyondTimeout) return timedOut(lastFault);
      const sent = await inTurn(limiter, turn, () => attempt(request));
      // The remaining time is for other runs, or the service asked for no poll until then.
      if (!sent) await pauseFor(leftMs(), leftMs());
      if (sent?.answer.kind === 'ok') return accept(sent.answer, sent.isLast);
      if (signal.aborted) return { kind: 'interrupted', askedUntilMs };
      if (sent) {
        lastFault = sent.answer.fault;
        const end = await endOrWait(lastFault, sent);
        if (end) return end;
      } else if (leftMs() <= 0) return timedOut(lastFault);
    }
  }

  async function attempt<T>(request: Request<T>) {
    const isLast = leftMs() <= 0;
    const restMs = isLast ? deadline.leftForLastPollMs() : leftMs();
    const timeoutMs = Math.min(requestTimeoutMs, restMs, Math.max(leastLimitMs, tolerance.leftMs()));
    noteWait(0);
    const elapsedMs = stopwatch(clock);
    const answer = await request({ timeoutMs });
    const hasSlept = elapsedMs() > timeoutMs + suspendedMs;
    if (hasSlept) deadline.woke();
    return { answer, isLast, tookMs: hasSlept ? 0 : Math.min(timeoutMs, elapsedMs()) };
  }

  function accept<T>(answer: Extract<Answer<T>, { kind: 'ok' }>, isLast: boolean): Polled<T> {
    const afterMs = tolerance.succeeded();
    isRenewed = false;
    if (afterMs !== undefined) observe({ event: 'service_back', run, afterMs });
    return { ...answer, isLast };
  }

  /** Returns why the watch ends with this failure, or waits until the next poll is due. */
  async function endOrWait(fault: Fault, { isLast, tookMs }: { isLast: boolean; tookMs: number }) {
    failedAtMs = clock.elapsedMs();
    if (isDefinite(fault)) return { kind: 'refused', fault } as const;
    const verdict = tolerance.failed(fault, tookMs);
    if (verdict.kind === 'refused') {
      if (fault.httpStatus !== 401 || isRenewed || !(await renewApiKey())) return { kind: 'refused', fault } as const;
      isRenewed = true;
      tolerance.renewed();
      return undefined;
    }
    // A poll that the timeout cut short says nothing about the service.
    if (isLast && leftMs() <= 0) return timedOut(fault.httpStatus === undefined ? undefined : fault);
    if (verdict.kind === 'gave_up') return { kind: 'gave_up', giveUpAfterMs, fault } as const;
    const { kind: _, leastMs, ...failed } = verdict;
    if (fault.httpStatus === 429 || fault.httpStatus === 503) limiter.pausePolls(leastMs);
    // A poll that `--timeout` cut short says nothing about the service.
    if (leftMs() > 0) observe({ event: 'attempt_failed', operation, run, seen: seen(), ...failed });
    noteWait(leastMs);
    await pauseFor(failed.retryInMs, leastMs);
    return leastMs > 0 && leftMs() <= 0 ? timedOut(fault) : undefined;
  }

  function timedOut(fault?: Fault): WatchEnd {
    // Part of what `Retry-After` asked for has passed.
    const retryAfterMs = Math.max(0, (fault?.retryAfterMs ?? 0) - (clock.elapsedMs() - failedAtMs)) || undefined;
    return { kind: 'timed_out', timeoutMs: deadline.timeoutMs, fault: fault && { ...fault, retryAfterMs } };
  }

  /** Waits until `ms` or the timeout has passed or the machine wakes up, but at least as long as `Retry-After` asks. */
  function wait(ms: number, retryAfterMs = 0): Promise<void> | undefined {
    const leastMs = waitAskedFor(retryAfterMs);
    isAskedBeyondTimeout = leastMs > leftMs();
    noteWait(leastMs);
    return pauseFor(Math.max(ms, leastMs), leastMs);
  }

  function noteWait(leastMs: number): void {
    askedUntilMs = leastMs > 0 ? clock.nowMs() + Math.min(leastMs, leftMs()) : undefined;
  }

  /** Not async, because each of thousands of waiting runs would keep one more frame in memory. */
  function pauseFor(ms: number, leastMs: number): Promise<void> | undefined {
    const atMs = clock.elapsedMs() + Math.min(ms, leftMs());
    return pauseUntil(atMs, Math.min(leastMs, leftMs()));
  }

  function pauseUntil(atMs: number, leastMs: number): Promise<void> | undefined {
    const nextMs = atMs - clock.elapsedMs();
    if (nextMs <= 0 || signal.aborted) return undefined;
    observe({ event: 'waiting', for: 'poll', run, seen: seen(), nextMs, askedUntilMs });
    const isWhole = nextMs <= signOfLifeMs || leastMs > 0;
    return pause(isWhole ? nextMs : signOfLifeMs, clock, signal, leastMs).then((woke) => {
      if (woke) deadline.woke();
      return woke ? undefined : pauseUntil(atMs, leastMs);
    });
  }
}
