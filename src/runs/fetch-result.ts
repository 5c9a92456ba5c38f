import type { Problem } from '../problems/problem.ts';
import { interruptedResultProblem, resultProblem } from '../problems/watch-problems.ts';
import type { Budget } from './budget.ts';
import type { Clock } from './clock.ts';
import type { FollowEvent } from './follow-event.ts';
import { persist } from './retry.ts';
import { isFinal, type Run } from './run.ts';
import type { Answer, Execution, Fault, RunResult, Service } from './service.ts';

export interface ResultPorts {
  service: Service;
  clock: Clock;
  random(): number;
  signal: AbortSignal;
  budget: Budget;
  giveUpAfterMs: number;
  isRiddenOut(fault: Fault): boolean;
  observe(event: FollowEvent): void;
}

/** Fetches the result of a finished run, again while it still says RUNNING: the result may lag behind the status. */
export async function fetchResult(
  run: Run,
  execution: Execution,
  ports: ResultPorts,
): Promise<{ kind: 'good'; value: RunResult } | { kind: 'problem'; problem: Problem }> {
  const { service, clock, signal, observe } = ports;
  const startMs = clock.elapsedMs();
  let failures = 0;
  const look = async (): Promise<Answer<RunResult>> => {
    const answer = await service.result(run, signal);
    if (answer.kind === 'fault') {
      const transient = answer.fault.kind !== 'too_large' && ports.isRiddenOut(answer.fault);
      return { kind: 'fault', fault: { ...answer.fault, transient } };
    }
    if (isFinal(run.target, answer.value.status)) return answer;
    const message = `the result still says ${answer.value.status}`;
    return { kind: 'fault', fault: { kind: 'unreadable', transient: true, acted: 'no', message } };
  };
  const answer = await persist(look, {
    ...ports,
    onRetry: (fault, retryInMs) => {
      failures += 1;
      const quietMs = clock.elapsedMs() - startMs;
      observe({
        event: 'poll_failed',
        run,
        fault,
        failures,
        quietMs,
        retryInMs,
        status: execution.status,
        ageMs: quietMs,
      });
    },
  });
  if (answer.kind === 'good') return answer;
  const { fault } = answer;
  const problem =
    fault.kind === 'interrupted'
      ? interruptedResultProblem(signal, run, execution.status)
      : resultProblem(fault, run, execution.status);
  return { kind: 'problem', problem };
}
