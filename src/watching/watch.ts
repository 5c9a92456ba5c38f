import { stopwatch } from '../runs/clock.ts';
import { finalStatusOf, graverStatus, isFinal, type Run } from '../runs/run.ts';
import type { Answer, RunResult } from '../runs/service.ts';
import { pollUntilFinal, type WatchOptions, type WatchPorts } from './poll-until-final.ts';
import { createPoller } from './poller.ts';
import type { FinishedWatch, WatchResult } from './watch-result.ts';

/** Polls until the run is finished, then reads its result. `leave` ends the polling, but not the reading. */
export async function watchToEnd(
  run: Run,
  options: WatchOptions,
  ports: WatchPorts,
  leave = ports.signal,
): Promise<WatchResult> {
  const watched = await pollUntilFinal(run, options, { ...ports, signal: leave });
  if (watched.kind !== 'finished') return watched;
  ports.observe({ event: 'final', run, execution: watched.execution });
  return run.target.family === 'agent' ? watched : fetchResult(watched, options, ports);
}

async function fetchResult(
  watched: FinishedWatch,
  { sinceTriggerMs }: WatchOptions,
  ports: WatchPorts,
): Promise<FinishedWatch> {
  const { run, execution } = watched;
  const { service, clock, signal } = ports;
  const confirmedAgeMs = stopwatch(clock);
  const poller = createPoller(
    {
      run,
      operation: 'result',
      chance: () => 1,
      sinceTriggerMs,
      lastConfirmed: () => ({ run, execution, ageMs: confirmedAgeMs() }),
      isDefinite: ({ kind }) => kind === 'too_large',
    },
    ports,
  );
  const polled = await poller.poll(async (timeoutMs): Promise<Answer<RunResult>> => {
    const answer = await service.result(run, signal, { timeoutMs });
    if (answer.kind === 'fault' || isFinal(run.target, answer.value.status)) return answer;
    return { kind: 'fault', fault: { kind: 'unreadable', message: `the result still says ${answer.value.status}` } };
  });
  switch (polled.kind) {
    case 'ok':
      return withResult(watched, polled.value);
    case 'interrupted':
      return { ...watched, resultFault: { kind: 'interrupted', message: 'interrupted' } };
    case 'timed_out':
      return { ...watched, resultFault: polled.fault ?? timeoutFault };
    default:
      return { ...watched, resultFault: polled.fault };
  }
}

/** A failed run is never hidden: if status and result differ, the graver one counts. */
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

const timeoutFault = { kind: 'lost', message: '`--timeout` passed' } as const;
