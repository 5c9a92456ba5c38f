import { awaitEnd, type FollowOptions, type FollowPorts, type StatusEnding } from './await-end.ts';
import { fetchResult } from './fetch-result.ts';
import { isRiddenOut } from './ridden-out.ts';
import type { Run } from './run.ts';
import type { RunResult } from './service.ts';

/** How following a run ended. Without `problem` the run is final and, where there is one, its result is at hand. */
export interface Ending extends StatusEnding {
  result?: RunResult;
}

/** The result may lag behind the final status, so it gets at least this long, however little is left of `timeoutMs`. */
const leastForResultMs = 30_000;

/**
 * Follows a run to its end, and fetches its result with the same tolerance. `leave` ends the wait for the run's end, but
 * not the fetching of its result.
 */
export async function follow(
  run: Run,
  options: FollowOptions,
  ports: FollowPorts,
  leave = ports.signal,
): Promise<Ending> {
  const { clock, observe } = ports;
  const { timeoutMs, giveUpAfterMs, triggeredAtMs } = options;
  const startMs = clock.elapsedMs();
  const ending = await awaitEnd(run, options, { ...ports, signal: leave });
  const { execution, problem } = ending;
  if (problem || !execution) return ending;
  observe({ event: 'final', run, execution });
  if (run.target.family === 'agent') return ending;
  const leftMs = startMs + timeoutMs - clock.elapsedMs();
  const fetched = await fetchResult(run, execution, {
    ...ports,
    isRiddenOut: (fault) => isRiddenOut(fault, { isSeen: true, nowMs: clock.nowMs(), triggeredAtMs }),
    giveUpAfterMs: Math.min(giveUpAfterMs, Math.max(leastForResultMs, leftMs)),
  });
  if (fetched.kind === 'good') return { ...ending, result: fetched.value };
  observe({ event: 'problem', run, problem: fetched.problem });
  return { ...ending, problem: fetched.problem };
}
