import { isUnfinished } from '../journal/fold.ts';
import { isOpen } from '../journal/journal.ts';
import { inTurn } from '../runs/rate-limiter.ts';
import { isFinal, type Run, type Target } from '../runs/run.ts';
import type { Connection } from '../session/connection.ts';
import { pollRun } from '../session/poll-once.ts';
import { runToPollOf } from '../session/run-to-poll.ts';
import { beganAfter, type Moment, momentOf } from '../triggering/moments.ts';
import { hostSkewMs } from '../triggering/whose-run.ts';
import type { ActionFlags } from './flags.ts';
import type { EarlierRun } from './start-result.ts';

/** The active run. Polled only if it will be followed, because the refusal says that it is running. */
export async function activeRun(run: Run, flags: ActionFlags, connection: Connection): Promise<EarlierRun> {
  if (flags.watch) return pollRun(run, flags, connection);
  return runToPollOf(run, connection.journal.find(run.executionId, connection), connection.context.clock);
}

/** Had the run named by a refusal finished before our request, by the service's clock? If so, the refusal is a replay. */
export function hadFinished({ run, polled }: EarlierRun, sent: Moment, { context }: Connection): boolean {
  if (polled?.kind !== 'ok') return polled !== undefined && polled.problem.facts.name === 'not_found';
  const { status, completedAt } = polled.value;
  if (!isFinal(run.target, status) || completedAt === undefined) return false;
  const received = momentOf(context.clock);
  const finishedAtMs = Date.parse(completedAt);
  const dated = { beganAtMs: finishedAtMs, serviceTimeMs: polled.serviceTimeMs, sent: received, received };
  const afterSent = beganAfter(sent, dated);
  return afterSent !== undefined && afterSent.mostMs < -hostSkewMs;
}

/** When the active run began, from the journal or from one short poll. */
export async function startOfActive(run: Run, { journal, baseUrl, service, context, limiter }: Connection) {
  const recorded = journal.find(run.executionId, { baseUrl })?.startedAt;
  if (recorded) return recorded;
  const { signal } = context;
  const answer = await inTurn(limiter, { lane: 'poll', signal }, () =>
    service.status(run, signal, { timeoutMs: shortPollMs }),
  );
  return answer?.kind === 'ok' ? answer.value.startedAt : undefined;
}

const shortPollMs = 2_000;

/** If only the journal says that a run is the active one, it must be unfinished. */
export function mayBeActive({ run, polled }: EarlierRun): boolean {
  if (!polled) return true;
  return polled.kind === 'ok' ? !isFinal(run.target, polled.value.status) : polled.problem.facts.name !== 'not_found';
}

/** A target's last run, if it was unfinished when last polled. */
export function lastUnfinished(target: Target, { journal, baseUrl, context }: Connection): string | undefined {
  for (const run of journal.runs({ baseUrl, target })) {
    if (run.executionId === null) continue;
    return isUnfinished(run) && isOpen(run, context.clock.nowMs()) ? run.executionId : undefined;
  }
  return undefined;
}
