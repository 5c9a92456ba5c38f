import type { Context } from '../context.ts';
import { printSentence } from '../render/output.ts';
import { formatDuration } from '../runs/duration.ts';
import { faultProblem, interruptedProblem } from '../runs/fault-problem.ts';
import { persist } from '../runs/retry.ts';
import { readAfterWriteMs } from '../runs/ridden-out.ts';
import type { Answer, Execution, RunResult } from '../runs/service.ts';
import type { Connection } from './connect.ts';
import type { KnownRun } from './known-runs.ts';

const defaultGiveUpAfterMs = 30_000;

interface Looks {
  status: Execution;
  result: RunResult;
}

/** One status or result, asked for until patience ends. Throws a `Problem`. */
export async function lookAt<Kind extends keyof Looks>(
  operation: Kind,
  { run, triggeredAtMs }: KnownRun,
  { giveUpAfterMs = defaultGiveUpAfterMs, quiet }: { giveUpAfterMs?: number; quiet?: boolean },
  { service, budget }: Connection,
  context: Context,
): Promise<Looks[Kind]> {
  const { clock, random, signal } = context;
  const isNew = () => triggeredAtMs !== undefined && clock.nowMs() - triggeredAtMs < readAfterWriteMs;
  const look = async (): Promise<Answer<Looks[Kind]>> => {
    await budget.take(signal);
    const answer = (await service[operation](run, signal)) as Answer<Looks[Kind]>;
    // The service may not know its own newest run for a moment (field notes 14).
    const isEarly = answer.kind === 'fault' && answer.fault.kind === 'not_found' && isNew();
    return isEarly ? { kind: 'fault', fault: { ...answer.fault, transient: true } } : answer;
  };
  const answer = await persist(look, {
    clock,
    random,
    signal,
    giveUpAfterMs,
    onRetry: (fault, delayMs) => {
      if (!quiet) void printSentence(`${fault.message}; asking again in ${formatDuration(delayMs)}`, context);
    },
  });
  if (answer.kind === 'good') return answer.value;
  if (answer.fault.kind === 'interrupted') throw interruptedProblem(signal, run);
  throw faultProblem(answer.fault, { operation, run });
}
