import { type Clock, pause, stopwatch } from './clock.ts';
import { signOfLifeMs } from './defaults.ts';
import type { RunEvent } from './events.ts';
import { isToleratedWhileWatching } from './fault.ts';
import type { PollSchedule } from './poll-schedule.ts';
import { createAttempts, type RetryPorts } from './retry.ts';
import { isFinal, type Run } from './run.ts';
import type { Execution, Service } from './service.ts';
import type { WatchResult } from './watch-result.ts';

export interface WatchOptions {
  schedule: PollSchedule;
  /** The user chose the time between polls: the first gap is not shortened at random. */
  isFixed?: boolean;
  /** Waiting for the run to finish, in milliseconds; Infinity for ever. */
  timeoutMs: number;
  /** What the trigger of this run has just answered. */
  known?: Execution;
  /** When this machine triggered the run, by the wall clock: the service may not find it for some seconds. */
  triggeredAtMs?: number;
}

export interface WatchPorts extends RetryPorts {
  service: Pick<Service, 'status' | 'result'>;
  observe(event: RunEvent): void;
}

/**
 * Polls a run until its status is final. Ends for four other reasons only: `timeoutMs`, `giveUpAfterMs` without one valid
 * answer, a refusal, the signal. Every other failure is tolerated.
 */
export async function pollUntilFinal(run: Run, options: WatchOptions, ports: WatchPorts): Promise<WatchResult> {
  const { service, clock, random, signal, limiter, giveUpAfterMs, observe } = ports;
  const { schedule, timeoutMs, triggeredAtMs } = options;
  const attempts = createAttempts(ports);
  const startMs = clock.elapsedMs();
  const deadlineMs = startMs + timeoutMs;
  let execution = options.known;
  let confirmedAgeMs = execution && stopwatch(clock);
  /** The wait that the last answer asked for. */
  let leastMs = 0;

  const lastConfirmed = () => ({ run, execution, ageMs: confirmedAgeMs?.() });
  const interrupted = () => ({ kind: 'interrupted', reason: signal.reason, ...lastConfirmed() }) as const;
  const timedOut = () => ({ kind: 'timed_out', timeoutMs, ...lastConfirmed() }) as const;

  if (execution) observe({ event: 'status', run, execution, changed: true });
  // A run that we just started needs no immediate poll. The first gap is shortened at random, never lengthened, so that
  // runs started together are not polled together.
  const spread = options.isFixed ? 1 : 1 - random() / 2;
  let delayMs = execution ? spread * schedule.gapMs(0) : 0;
  // A final status never changes back, whatever a later answer says (docs/service.md, Assumptions).
  while (!execution || !isFinal(run.target, execution.status)) {
    if (await waitUntil(Math.min(clock.elapsedMs() + delayMs, deadlineMs))) attempts.woke();
    if (signal.aborted) return interrupted();
    await attempts.takeTurn();
    const isLastPoll = clock.elapsedMs() >= deadlineMs;
    const answer = await service.status(run, signal);
    const nowMs = clock.elapsedMs();

    if (answer.kind === 'ok') {
      if (attempts.failures > 0) observe({ event: 'service_back', run, afterMs: attempts.silentMs() });
      attempts.succeeded();
      const changed = answer.value.status !== execution?.status;
      execution = answer.value;
      confirmedAgeMs = stopwatch(clock);
      leastMs = 0;
      observe({ event: 'status', run, execution, changed });
      if (isFinal(run.target, execution.status)) break;
      if (isLastPoll) return timedOut();
      delayMs = limiter.stretch(schedule.gapMs(ageMs(execution, nowMs - startMs, clock)));
    } else {
      const { fault } = answer;
      if (signal.aborted) return interrupted();
      const since = { isSeen: execution !== undefined, nowMs: clock.nowMs(), triggeredAtMs };
      if (!isToleratedWhileWatching(fault, since)) return { kind: 'refused', fault, ...lastConfirmed() };
      if (isLastPoll) return timedOut();
      if (fault.kind === 'throttled') limiter.slowDown();
      const retryInMs = attempts.failed(fault);
      if (retryInMs === undefined) return { kind: 'gave_up', giveUpAfterMs, fault, ...lastConfirmed() };
      const { failures } = attempts;
      observe({
        event: 'attempt_failed',
        operation: 'status',
        fault,
        failures,
        silentMs: attempts.silentMs(),
        retryInMs,
        ...lastConfirmed(),
      });
      leastMs = fault.retryAfterMs ?? 0;
      if (nowMs + leastMs > deadlineMs) return { ...timedOut(), fault };
      delayMs = retryInMs;
    }
  }
  return { kind: 'finished', run, execution };

  /**
   * Returns true as soon as the machine woke up from sleep, though no earlier than the service allows. Not async: each of
   * thousands of waiting runs would hold one more frame.
   */
  function waitUntil(atMs: number): Promise<boolean> | boolean {
    const leftMs = atMs - clock.elapsedMs();
    if (leftMs <= 0 || signal.aborted) return false;
    observe({ event: 'waiting', for: 'poll', nextMs: leftMs, ...lastConfirmed() });
    if (leftMs <= signOfLifeMs || leastMs > 0) return pause(leftMs, clock, signal, leastMs);
    return pause(signOfLifeMs, clock, signal).then((woke) => woke || waitUntil(atMs));
  }
}

const longestAgeMs = 48 * 3_600_000;

/** The run's age by its own start, where this machine's clock makes that plausible; else the time it has been watched. */
function ageMs(execution: Execution, watchedMs: number, clock: Clock): number {
  const age = clock.nowMs() - Date.parse(execution.startedAt ?? '');
  return age >= watchedMs && age < longestAgeMs ? age : watchedMs;
}
