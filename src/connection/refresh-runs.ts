import { reportedOf } from '../journal/fold.ts';
import type { JournalRun } from '../journal/journal.ts';
import type { Fault } from '../runs/fault.ts';
import { inTurn } from '../runs/rate-limiter.ts';
import type { Connection } from './connection.ts';

const longestRefreshMs = 3_000;

export interface Refreshed {
  current: Map<string, JournalRun>;
  fault?: Fault;
}

/** Polls each run once, for at most three seconds, and records the results. */
export async function refreshRuns(runs: readonly JournalRun[], connection: Connection): Promise<Refreshed> {
  const { context, service, limiter, journal, baseUrl } = connection;
  const end = new AbortController();
  const signal = AbortSignal.any([end.signal, context.signal]);
  const current: Refreshed['current'] = new Map();
  let fault: Fault | undefined;
  const polls = runs.map(async ({ executionId, target, ...record }) => {
    if (executionId === null) return;
    const run = { target, executionId };
    const answer = await inTurn(limiter, { lane: 'poll', signal }, () => service.status(run, signal));
    if (!answer) return;
    if (answer.kind === 'ok') {
      journal.recordStatus(baseUrl, run, answer.value);
      const known = { ...record, ...run };
      current.set(executionId, { ...known, ...reportedOf(known, answer.value) });
    } else if (!signal.aborted) fault ??= answer.fault;
  });
  const timer = context.clock.sleep(longestRefreshMs, end.signal);
  await Promise.race([Promise.all(polls), timer]);
  end.abort();
  await Promise.all(polls);
  return { current, fault };
}
