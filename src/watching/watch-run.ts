import type { LastConfirmed } from '../run/events.ts';
import { interrupted } from '../run/fault.ts';
import type { Run } from '../run/run.ts';
import type { Answer, Execution, RunResult, Service } from '../run/service.ts';
import { finalStatusOf, graverStatus } from '../run/statuses.ts';
import { type Clock, stopwatch } from '../system/clock.ts';
import { createPoller, type PollerPorts } from './poller.ts';
import type { FinishedWatch, WatchResult } from './watch-result.ts';

/** A run to follow, with what is known of it. */
export interface Followable {
  run: Run;
  known?: Execution; // the response to the trigger, used instead of a first poll
  retryAfterMs?: number; // from the response to the trigger
  sinceTriggerMs?(): number; // undefined if this machine didn't trigger the run
  seenBefore?(): Omit<LastConfirmed, 'run'>; // what the journal has
}

export interface WatchOptions {
  gapMs(ageMs: number): number; // from one poll to the next, for a run of this age
  isFixed?: boolean; // the first gap is not shortened at random
}

export interface WatchPorts extends PollerPorts {
  service: Pick<Service, 'status' | 'result'>;
}

/** Polls until the run is finished or one of the reasons in `WatchEnd` stops it. */
export async function pollUntilFinal(
  { run, known, sinceTriggerMs, ...followable }: Followable,
  { gapMs, isFixed }: WatchOptions,
  ports: WatchPorts,
): Promise<WatchResult> {
  const { service, clock, random, signal, group, observe } = ports;
  const watchedMs = stopwatch(clock);
  let execution = known;
  let confirmedAgeMs = execution && stopwatch(clock);
  const lastConfirmed = () =>
    execution ? { run, execution, ageMs: confirmedAgeMs?.() } : { run, ...followable.seenBefore?.() };
  const poller = createPoller({ run, operation: 'status', sinceTriggerMs, lastConfirmed }, ports);

  // A run that we just started needs no immediate poll, and runs started together are not polled together.
  const spread = isFixed ? 1 : 1 - random() / 2;
  let delayMs = execution ? spread * gapMs(0) : 0;
  let { retryAfterMs } = followable;
  if (execution) observe({ event: 'status', run, execution, changed: true });
  // docs/service.md, Final statuses stay.
  while (!execution?.isFinal) {
    await poller.wait(delayMs, retryAfterMs);
    const polled = await poller.poll((sending) => service.status(run, signal, sending));
    if (polled.kind !== 'ok') return { ...polled, ...lastConfirmed() };
    const changed = polled.value.status !== execution?.status;
    execution = polled.value;
    retryAfterMs = polled.retryAfterMs;
    confirmedAgeMs = stopwatch(clock);
    observe({ event: 'status', run, execution, changed });
    if (execution.isFinal) break;
    if (polled.isLast) return { kind: 'timed_out', timeoutMs: group.timeoutMs, ...lastConfirmed() };
    delayMs = gapMs(ageMs(execution, watchedMs(), clock));
  }
  return { kind: 'finished', run, execution };
}

const longestAgeMs = 48 * 3_600_000;

function ageMs(execution: Execution, watchedMs: number, clock: Clock): number {
  const age = clock.nowMs() - Date.parse(execution.startedAt ?? '');
  return age >= watchedMs && age < longestAgeMs ? age : watchedMs;
}

/** Polls until the run is finished, then reads its result. */
export async function watchToEnd(
  followable: Followable,
  options: WatchOptions,
  ports: WatchPorts,
): Promise<WatchResult> {
  const { run } = followable;
  const watched = await pollUntilFinal(followable, options, ports);
  if (watched.kind !== 'finished') return watched;
  ports.observe({ event: 'final', run, execution: watched.execution });
  return fetchResult(watched, followable, ports);
}

async function fetchResult(
  watched: FinishedWatch,
  { sinceTriggerMs }: Followable,
  ports: WatchPorts,
): Promise<FinishedWatch> {
  const { run, execution } = watched;
  const { service, clock, signal } = ports;
  const confirmedAgeMs = stopwatch(clock);
  const poller = createPoller(
    {
      run,
      operation: 'result',
      sinceTriggerMs,
      lastConfirmed: () => ({ run, execution, ageMs: confirmedAgeMs() }),
      isDefinite: ({ kind }) => kind === 'too_large',
    },
    ports,
  );
  const polled = await poller.poll(async (sending): Promise<Answer<RunResult>> => {
    const answer = await service.result(run, signal, sending);
    if (answer.kind === 'fault' || answer.value.isFinal) return answer;
    return { kind: 'fault', fault: { kind: 'unreadable', message: `the result still says ${answer.value.status}` } };
  });
  switch (polled.kind) {
    case 'ok':
      return withResult(watched, polled.value);
    case 'interrupted':
      return { ...watched, resultFault: interrupted };
    case 'timed_out':
      return { ...watched, resultFault: polled.fault ?? timeoutFault };
    default:
      return { ...watched, resultFault: polled.fault };
  }
}

/** A failed run is never hidden: if status and result differ, the more serious one counts. */
function withResult(watched: FinishedWatch, result: RunResult): FinishedWatch {
  const { execution } = watched;
  if (finalStatusOf(execution.status) === finalStatusOf(result.status)) return { ...watched, result };
  const status = graverStatus(execution.status, result.status);
  return {
    ...watched,
    execution: { ...execution, status, document: { ...execution.document, status } },
    result: { ...result, status, document: { ...result.document, status } },
    disagreement: { status: execution.status, result: result.status },
  };
}

const timeoutFault = { kind: 'lost', message: '`--timeout` expired' } as const;
