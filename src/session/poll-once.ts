import type { Problem } from '../problems/problem.ts';
import { interruptedProblem, pollProblem } from '../problems/watch-problems.ts';
import { defaults } from '../runs/defaults.ts';
import { isRetryable, isTooEarly } from '../runs/fault.ts';
import { retry } from '../runs/retry.ts';
import type { Run } from '../runs/run.ts';
import type { Answer, Execution, RunResult } from '../runs/service.ts';
import { type KnownRun, knownRun } from './find-run.ts';
import type { Session } from './session.ts';

interface Answers {
  status: Execution;
  result: RunResult;
}

export interface PollFlags {
  giveUpAfterMs?: number;
}

export type Polled<T> = { kind: 'ok'; value: T } | { kind: 'failed'; problem: Problem };

/** Asks for the status or the result of a run, with retries. */
export async function pollOnce<Operation extends keyof Answers>(
  operation: Operation,
  { run, triggeredAtMs }: KnownRun,
  { giveUpAfterMs = defaults.giveUpAfterMs }: PollFlags,
  { service, limiter, reporter, context }: Session,
): Promise<Polled<Answers[Operation]>> {
  const { clock, random, signal } = context;
  const attempt = () => service[operation](run, signal) as Promise<Answer<Answers[Operation]>>;
  const polled = await retry(attempt, {
    limiter,
    clock,
    random,
    signal,
    giveUpAfterMs,
    isRetryable: (fault) => isRetryable(fault) || isTooEarly(fault, { nowMs: clock.nowMs(), triggeredAtMs }),
    onRetry(fault, retryInMs, { failures, silentMs }) {
      reporter.observe({ event: 'attempt_failed', operation, run, fault, failures, silentMs: silentMs(), retryInMs });
    },
  });
  if (polled.kind === 'ok') return polled;
  const problem =
    polled.kind === 'interrupted' ? interruptedProblem(signal, run) : pollProblem(polled.fault, operation, run);
  return { kind: 'failed', problem };
}

/** Asks for the status of a run whose id is known, and journals it. The id stays useful where that fails. */
export async function pollKnownRun(
  run: Run,
  flags: PollFlags,
  session: Session,
): Promise<KnownRun & { polled: Polled<Execution> }> {
  const { journal, baseUrl } = session;
  const known = knownRun(journal.find(run.executionId, { baseUrl }), run);
  const polled = await pollOnce('status', known, flags, session);
  if (polled.kind === 'ok') journal.recordStatus(baseUrl, run, polled.value);
  return { ...known, polled };
}
