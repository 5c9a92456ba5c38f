import { isToleratedWhileWatching } from './fault.ts';
import { pollUntilFinal, type WatchOptions, type WatchPorts } from './poll-until-final.ts';
import { type RetryResult, retry } from './retry.ts';
import { isFinal, type Run } from './run.ts';
import type { Answer, RunResult } from './service.ts';
import type { FinishedWatch, WatchResult } from './watch-result.ts';

/** The result may lag behind the final status, so it gets at least this long, however little is left of `timeoutMs`. */
const leastForResultMs = 30_000;

/**
 * Watches a run until it has finished, and fetches its result with the same tolerance. `leave` ends the wait for the run,
 * but not the fetching of its result.
 */
export async function watch(
  run: Run,
  options: WatchOptions,
  ports: WatchPorts,
  leave = ports.signal,
): Promise<WatchResult> {
  const { clock, observe, giveUpAfterMs } = ports;
  const startMs = clock.elapsedMs();
  const watched = await pollUntilFinal(run, options, { ...ports, signal: leave });
  if (watched.kind !== 'finished') return watched;
  observe({ event: 'final', run, execution: watched.execution });
  if (run.target.family === 'agent') return watched;
  const leftMs = startMs + options.timeoutMs - clock.elapsedMs();
  const fetched = await fetchResult(watched, options, {
    ...ports,
    giveUpAfterMs: Math.min(giveUpAfterMs, Math.max(leastForResultMs, leftMs)),
  });
  if (fetched.kind === 'ok') return { ...watched, result: fetched.value };
  const isInterrupted = fetched.kind === 'interrupted';
  return { ...watched, resultFault: isInterrupted ? { kind: 'interrupted', message: 'interrupted' } : fetched.fault };
}

function fetchResult(
  { run, execution }: FinishedWatch,
  { triggeredAtMs }: Pick<WatchOptions, 'triggeredAtMs'>,
  ports: WatchPorts,
): Promise<RetryResult<RunResult>> {
  const { service, clock, signal, observe } = ports;
  const attempt = async (): Promise<Answer<RunResult>> => {
    const answer = await service.result(run, signal);
    if (answer.kind === 'fault' || isFinal(run.target, answer.value.status)) return answer;
    return { kind: 'fault', fault: { kind: 'unreadable', message: `the result still says ${answer.value.status}` } };
  };
  return retry(attempt, {
    ...ports,
    isRetryable: (fault) =>
      fault.kind !== 'too_large' &&
      isToleratedWhileWatching(fault, { isSeen: true, nowMs: clock.nowMs(), triggeredAtMs }),
    onRetry(fault, retryInMs, { failures, silentMs }) {
      observe({
        event: 'attempt_failed',
        operation: 'result',
        run,
        fault,
        failures,
        silentMs: silentMs(),
        retryInMs,
        execution,
        ageMs: silentMs(),
      });
    },
  });
}
