import type { Context } from '../context.ts';
import { Problem } from '../problems/problem.ts';
import { faultProblem, interruptedProblem } from '../problems/watch-problems.ts';
import { printSentence } from '../render/output.ts';
import { defaults } from '../runs/defaults.ts';
import { formatDuration } from '../runs/duration.ts';
import { persist } from '../runs/retry.ts';
import { isTooEarly } from '../runs/ridden-out.ts';
import type { Run } from '../runs/run.ts';
import type { Answer, Execution, RunResult } from '../runs/service.ts';
import type { Connection } from './connect.ts';
import { type KnownRun, knownRun } from './find-run.ts';

interface Looks {
  status: Execution;
  result: RunResult;
}

/** One status or result, asked for until patience ends. Throws a `Problem`. */
export async function lookAt<Kind extends keyof Looks>(
  operation: Kind,
  { run, triggeredAtMs }: KnownRun,
  { giveUpAfterMs = defaults.giveUpAfterMs, quiet }: { giveUpAfterMs?: number; quiet?: boolean },
  { service, budget }: Connection,
  context: Context,
): Promise<Looks[Kind]> {
  const { clock, random, signal } = context;
  const look = async (): Promise<Answer<Looks[Kind]>> => {
    const answer = (await service[operation](run, signal)) as Answer<Looks[Kind]>;
    if (answer.kind === 'good' || !isTooEarly(answer.fault, { nowMs: clock.nowMs(), triggeredAtMs })) return answer;
    return { kind: 'fault', fault: { ...answer.fault, transient: true } };
  };
  const answer = await persist(look, {
    budget,
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

/** Asks for the status of a run whose id is known. A failure is returned, not thrown, because the id stays useful. */
export async function lookUp(
  run: Run,
  flags: { giveUpAfterMs?: number; quiet?: boolean },
  connection: Connection,
  context: Context,
): Promise<KnownRun & { execution?: Execution; problem?: Problem }> {
  const { journal, baseUrl } = connection;
  const known = knownRun(journal.find(run.executionId, { baseUrl }), run);
  try {
    const execution = await lookAt('status', known, flags, connection, context);
    journal.recordStatus(baseUrl, run, execution);
    return { ...known, execution };
  } catch (problem) {
    if (problem instanceof Problem) return { ...known, problem };
    throw problem;
  }
}
