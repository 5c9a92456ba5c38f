import type { Problem } from '../problems/problem.ts';
import { faultProblem, givenUpProblem, interruptedProblem, watchTimeoutProblem } from '../problems/watch-problems.ts';
import { type Budget, queue } from './budget.ts';
import { type Clock, stopwatch } from './clock.ts';
import { signOfLifeMs } from './defaults.ts';
import type { FollowEvent } from './follow-event.ts';
import type { Pace } from './pace.ts';
import { pause } from './pause.ts';
import { retryWaitMs } from './retry.ts';
import { isRiddenOut } from './ridden-out.ts';
import { isFinal, type Run } from './run.ts';
import type { Execution, Fault, Service } from './service.ts';
import type { Tempo } from './tempo.ts';

export interface FollowOptions {
  pace: Pace;
  /** The gap is the user's own: chance does not shorten the first one. */
  isFixed?: boolean;
  /** Waiting for the run's end; Infinity for ever. */
  timeoutMs: number;
  /** Time without one good answer after which the watch ends. */
  giveUpAfterMs: number;
  /** What the trigger of this run has just answered. */
  known?: Execution;
  /** Wall clock, when this machine triggered the run: for some seconds after that the service may not find it. */
  triggeredAtMs?: number;
}

export interface FollowPorts {
  service: Service;
  clock: Clock;
  random(): number;
  signal: AbortSignal;
  budget: Budget;
  /** Shared by every run of the process: slows down after a 429. */
  tempo: Tempo;
  observe(event: FollowEvent): void;
}

/** Without `problem` the run is final. */
export interface StatusEnding {
  run: Run;
  /** The last confirmed state of the run. */
  execution?: Execution;
  problem?: Problem;
}

/**
 * Asks for the status of a run until it is final. Ends for four reasons only: a final state, `timeoutMs`, a definite
 * answer of the service, the user. Everything else is ridden out until it has lasted `giveUpAfterMs` without one good
 * answer.
 */
export async function awaitEnd(run: Run, options: FollowOptions, ports: FollowPorts): Promise<StatusEnding> {
  const { service, clock, random, signal, budget, tempo, observe } = ports;
  const startMs = clock.elapsedMs();
  const deadlineMs = startMs + options.timeoutMs;
  let execution = options.known;
  let confirmedAgeMs = execution && stopwatch(clock);
  /** The first look since the last good answer, or since a wake-up from sleep: what patience is counted from. */
  let quietSinceMs: number | undefined;
  let failures = 0;
  /** Until then the service wants no request. */
  let leastMs = 0;

  const end = (problem?: Problem): StatusEnding => {
    if (problem) observe({ event: 'problem', run, problem });
    return { run, execution, problem };
  };
  const lastKnown = () => ({ run, status: execution?.status, ageMs: confirmedAgeMs?.() });

  if (execution) observe({ event: 'status', run, execution, changed: true });
  // A run that we just started needs no immediate poll. The first gap is shortened at random, never lengthened, so that
  // runs started together are not polled together.
  const spread = options.isFixed ? 1 : 1 - random() / 2;
  let delayMs = execution ? spread * options.pace.gapMs(0) : 0;
  // A final status never changes back, whatever a later answer says (docs/service.md, Assumptions).
  while (!execution || !isFinal(run.target, execution.status)) {
    if (await waitUntil(Math.min(clock.elapsedMs() + delayMs, deadlineMs))) quietSinceMs = undefined;
    if (signal.aborted) return end(interruptedProblem(signal, run));
    const queuedMs = await queue(budget, clock, signal);
    const askedMs = clock.elapsedMs();
    const isLastLook = askedMs >= deadlineMs;
    // To wait for our own turn is no silence of the service.
    quietSinceMs = quietSinceMs === undefined ? askedMs : quietSinceMs + queuedMs;
    const answer = await service.status(run, signal);
    if (signal.aborted && answer.kind === 'fault') return end(interruptedProblem(signal, run));
    const nowMs = clock.elapsedMs();

    if (answer.kind === 'good') {
      if (failures > 0) observe({ event: 'recovered', run, afterMs: nowMs - quietSinceMs });
      const changed = answer.value.status !== execution?.status;
      execution = answer.value;
      confirmedAgeMs = stopwatch(clock);
      quietSinceMs = undefined;
      failures = leastMs = 0;
      observe({ event: 'status', run, execution, changed });
      if (isFinal(run.target, execution.status)) break;
      if (isLastLook) return end(watchTimeoutProblem(options.timeoutMs, lastKnown()));
      delayMs = tempo.stretch(options.pace.gapMs(ageMs(execution, nowMs - startMs, clock)));
    } else {
      const { fault } = answer;
      if (!isBorne(fault)) return end(faultProblem(fault, { operation: 'status', run }));
      if (isLastLook) return end(watchTimeoutProblem(options.timeoutMs, lastKnown()));
      failures += 1;
      if (fault.kind === 'throttled') tempo.slowDown();
      const quietMs = nowMs - quietSinceMs;
      const retryInMs = retryWaitMs(failures, fault, options.giveUpAfterMs - quietMs, random);
      if (retryInMs === undefined) return end(givenUpProblem(fault, options.giveUpAfterMs, lastKnown()));
      observe({ event: 'poll_failed', fault, failures, quietMs, retryInMs, ...lastKnown() });
      leastMs = fault.retryAfterMs ?? 0;
      if (nowMs + leastMs > deadlineMs) return end(watchTimeoutProblem(options.timeoutMs, lastKnown(), fault));
      delayMs = retryInMs;
    }
  }

  return end();

  /**
   * Returns true as soon as the machine woke up from sleep, though no earlier than the service allows. Not async: of
   * thousands of runs each would hold one more frame while it waits.
   */
  function waitUntil(atMs: number): Promise<boolean> | boolean {
    const leftMs = atMs - clock.elapsedMs();
    if (leftMs <= 0 || signal.aborted) return false;
    observe({ event: 'waiting', nextLookMs: leftMs, ...lastKnown() });
    if (leftMs <= signOfLifeMs || leastMs > 0) return pause(leftMs, clock, signal, leastMs);
    return pause(signOfLifeMs, clock, signal).then((woke) => woke || waitUntil(atMs));
  }

  function isBorne(fault: Fault): boolean {
    const { triggeredAtMs } = options;
    return isRiddenOut(fault, { isSeen: execution !== undefined, nowMs: clock.nowMs(), triggeredAtMs });
  }
}

/** The run's age by its own start, where this machine's clock makes that plausible; else the time it has been followed. */
function ageMs(execution: Execution, followedMs: number, clock: Clock): number {
  const startedAtMs = Date.parse(execution.startedAt ?? '');
  const age = clock.nowMs() - startedAtMs;
  return age >= followedMs && age < 48 * 3_600_000 ? age : followedMs;
}
