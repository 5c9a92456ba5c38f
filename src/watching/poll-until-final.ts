import { type Clock, stopwatch } from '../runs/clock.ts';
import { isFinal, type Run } from '../runs/run.ts';
import type { Execution, Service } from '../runs/service.ts';
import type { PollSchedule } from './poll-schedule.ts';
import { createPoller, type PollerPorts } from './poller.ts';
import type { WatchResult } from './watch-result.ts';

export interface WatchOptions {
  schedule: Pick<PollSchedule, 'gapMs'> & Partial<PollSchedule>;
  /** The user chose the time between polls: the first gap is not shortened at random. */
  isFixed?: boolean;
  /** What the trigger of this run has just answered. */
  known?: Execution;
  /** Milliseconds since this machine triggered the run, if it did: the service may not find it for some seconds. */
  sinceTriggerMs?(): number;
}

export interface WatchPorts extends PollerPorts {
  service: Pick<Service, 'status' | 'result'>;
}

/**
 * Polls a run until its status is final. Ends for four other reasons only: the timeout of its group, `giveUpAfterMs`
 * without one valid answer, a refusal that lasts, the signal. Every other failure is tolerated.
 */
export async function pollUntilFinal(run: Run, options: WatchOptions, ports: WatchPorts): Promise<WatchResult> {
  const { service, clock, random, signal, limiter, group, observe } = ports;
  const { schedule, sinceTriggerMs } = options;
  const watchedMs = stopwatch(clock);
  let execution = options.known;
  let confirmedAgeMs = execution && stopwatch(clock);
  const lastConfirmed = () => ({ run, execution, ageMs: confirmedAgeMs?.() });
  const poller = createPoller({ run, operation: 'status', chance, sinceTriggerMs, lastConfirmed }, ports);

  // A run that we just started needs no immediate poll. The first gap is shortened at random, never lengthened, so that
  // runs started together are not polled together.
  const spread = options.isFixed ? 1 : 1 - random() / 2;
  let delayMs = execution ? spread * schedule.gapMs(0) : 0;
  let retryAfterMs: number | undefined;
  if (execution) observe({ event: 'status', run, execution, changed: true });
  // A final status never changes back, whatever a later answer says (docs/service.md, Assumptions).
  while (!execution || !isFinal(run.target, execution.status)) {
    await poller.wait(delayMs, retryAfterMs);
    const polled = await poller.poll((timeoutMs) => service.status(run, signal, { timeoutMs }));
    if (polled.kind !== 'ok') return { ...polled, ...lastConfirmed() };
    const changed = polled.value.status !== execution?.status;
    execution = polled.value;
    retryAfterMs = polled.retryAfterMs;
    confirmedAgeMs = stopwatch(clock);
    observe({ event: 'status', run, execution, changed });
    if (isFinal(run.target, execution.status)) break;
    if (polled.isLast) return { kind: 'timed_out', timeoutMs: group.timeoutMs, ...lastConfirmed() };
    delayMs = limiter.stretch(schedule.gapMs(ageMs(execution, watchedMs(), clock)));
  }
  return { kind: 'finished', run, execution };

  /** 1 for a run that was never confirmed. */
  function chance(): number {
    if (!execution) return 1;
    const toMs = ageMs(execution, watchedMs(), clock);
    const fromMs = Math.max(0, toMs - (confirmedAgeMs?.() ?? 0));
    return schedule.chanceOfEnd?.(fromMs, toMs) ?? 0;
  }
}

const longestAgeMs = 48 * 3_600_000;

/** The run's age by its own start, where this machine's clock makes that plausible; else the time it has been watched. */
function ageMs(execution: Execution, watchedMs: number, clock: Clock): number {
  const age = clock.nowMs() - Date.parse(execution.startedAt ?? '');
  return age >= watchedMs && age < longestAgeMs ? age : watchedMs;
}
