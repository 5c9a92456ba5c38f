import { alsoEndedBy, type Connection } from '../connection/connection.ts';
import type { Invocation } from '../context.ts';
import { type CommandResult, wantsData } from '../output/output.ts';
import type { ArgumentOutcome, Outcome } from '../problems/outcome.ts';
import { nameOf } from '../run/run.ts';
import { startOf } from '../run/service.ts';
import { endedWell } from '../run/statuses.ts';
import { followRun } from './follow-run.ts';
import { type Following, startFollowing } from './following.ts';
import { startRun } from './if-active.ts';
import type { Plan } from './plan.ts';
import { createDoneReport, reportResults } from './report-results.ts';
import { hasRun, type StartOutcome, type StartRequest, triggeredEvent } from './start-outcome.ts';

export async function triggerAll(requests: StartRequest[], plan: Plan, connection: Connection): Promise<CommandResult> {
  const following = await startFollowing(connection, plan, requests.length);
  const { context } = following;
  try {
    // Print ids in the order of the arguments, unless stdout is for the run's summary or other data.
    const idsAreData = !plan.watch && !wantsData(plan);
    const inOrder = createInOrder();
    const watching = alsoEndedBy(following, context.stdout.closed);
    const reportDone = createDoneReport(following, plan.watch ? requests.length : 0);
    const triggerOne = async (request: StartRequest, index: number): Promise<ArgumentOutcome> => {
      const start = await startRun(request, plan, following);
      const report = () => {
        const id = start.run?.executionId;
        // With several arguments, line n belongs to argument n, so one without a run has an empty line.
        if (idsAreData && (id !== undefined || requests.length > 1)) context.stdout.write(`${id ?? ''}\n`);
        context.reporter.observe(triggeredEvent(start, plan, following));
      };
      if (idsAreData) inOrder(index, report);
      else report();
      const isFollowed = plan.watch && hasRun(start) && !start.isDropped;
      const end = isFollowed ? await followRun(start, plan, watching, start.start) : start;
      const outcome = { ...end, replayedFailure: reportEarlier(start, end, following) };
      reportDone(outcome);
      return outcome;
    };
    const outcomes = await Promise.all(requests.map(triggerOne));
    if (idsAreData) await reportUnread(outcomes, context);
    await following.hooks.waitForAll();
    return await reportResults(outcomes, plan, following);
  } finally {
    context.reporter.stop();
  }
}

/** Warns about an older run that didn't complete, so that it isn't mistaken for a new one. Returns that warning. */
function reportEarlier(
  { run, execution, pollProblem, start }: StartOutcome,
  end: Outcome,
  following: Following,
): string | undefined {
  const { reporter } = following.context;
  if (!run || (start.how !== 'replayed' && start.how !== 'found')) return undefined;
  const name = nameOf(run.target);
  const isFound = start.how === 'found'; // whoever started it
  const key = isFound ? `${name} has a run under this idempotency key` : `this idempotency key started ${name}`;
  if (pollProblem && !end.watched) {
    const message = execution
      ? `${key}, which finished ${execution.status}; the service no longer knows that run`
      : `${key}, but its status can't be read: ${pollProblem.message}`;
    reporter.observe({ event: 'warning', name: 'status_unavailable', message, run });
  }
  if (!execution?.isFinal || endedWell(execution.status)) return undefined;
  const none = start.started === 'no' ? '; no new run was started' : '';
  const when = isFound ? '' : ` ${startOf(execution)}`;
  const message = `${key}${when}, which finished ${execution.status}${none}`;
  reporter.observe({ event: 'warning', name: 'replayed_failure', message, run });
  return message;
}

/** Prints the ids of the started runs on stderr if they couldn't be written to stdout. */
async function reportUnread(outcomes: readonly Outcome[], { stdout, stderr, clock }: Invocation): Promise<void> {
  // A failed write shows up in the next turn of the event loop.
  await clock.sleep(0);
  if (!stdout.closed.aborted) return;
  for (const { run } of outcomes) if (run) stderr.write(`runctl: ${nameOf(run.target)}: run ${run.executionId}\n`);
}

/** Runs actions in the order of their indices, each as soon as all before it have run. */
function createInOrder(): (index: number, action: () => void) => void {
  const waiting: (() => void)[] = [];
  let next = 0;
  return (index, action) => {
    waiting[index] = action;
    while (waiting[next]) waiting[next++]?.();
  };
}
