import type { Connection } from '../connection/connection.ts';
import type { Invocation } from '../context.ts';
import { diagnosticOfFailedRequest } from '../messages/of-watch.ts';
import { type Result, wantsData } from '../output/result.ts';
import { attributions, mayBeEarlierRun } from '../run/attribution.ts';
import type { RunEvent } from '../run/events.ts';
import { factsOf } from '../run/exit-of.ts';
import { type Outcome, type TargetOutcome, type TriggerOutcome, targetOf } from '../run/outcome.ts';
import { automationNameOf } from '../run/run.ts';
import { beganAt } from '../run/service.ts';
import { isSuccess } from '../run/statuses.ts';
import { withCurrentStatus } from '../start/outcome-of-trigger.ts';
import { startRun } from '../start/start-run.ts';
import type { StartRequest } from '../start/trigger-result.ts';
import { type WatchFlags, watchAndReport } from './watch-and-report.ts';

/** Starts runs, and watches them with `--watch`. */
export function triggerAll(
  requests: readonly StartRequest[],
  flags: WatchFlags & { watch?: boolean },
  connection: Connection,
): Promise<Result> {
  // Print ids in the order of the arguments, unless stdout is for the run's summary or other data.
  const idsAreData = !flags.watch && !wantsData(flags);
  const inOrder = createInOrder();
  return watchAndReport(
    requests.length,
    flags,
    connection,
    async ({ boardConnection, triggerInfos, watch, done }) => {
      const { context } = boardConnection;
      const triggerOne = async (request: StartRequest, index: number): Promise<TargetOutcome> => {
        const { outcome: started, handle } = await startRun(request, boardConnection);
        triggerInfos.push(started.triggerInfo);
        const id = started.run?.executionId;
        // With several arguments, line n belongs to argument n, so one without a run has an empty
        // line.
        const hasLine = idsAreData && (id !== undefined || requests.length > 1);
        inOrder(index, () => hasLine && context.stdout.write(`${id ?? ''}\n`));
        const outcome = flags.watch ? started : await withCurrentStatus(started, boardConnection);
        // If the request for the status failed, the error at the end says so, and this event would
        // repeat it.
        if (outcome.kind !== 'request_failed')
          context.reporter.emit(triggeredEvent(outcome, flags.watch, boardConnection));
        const isWatched = flags.watch && handle !== undefined;
        const end = isWatched ? await watch(handle, outcome.triggerInfo) : outcome;
        warnOfEarlier(outcome, isWatched, boardConnection);
        if (flags.watch) done(end);
        return end;
      };
      const outcomes = await Promise.all(requests.map(triggerOne));
      if (idsAreData) await printLostIds(outcomes, context);
      return outcomes;
    },
  );
}

function triggeredEvent(
  outcome: TriggerOutcome,
  isWatched = false,
  { hintContext }: Connection,
): RunEvent {
  const { run, triggerInfo } = outcome;
  const { attribution, idempotencyKey } = triggerInfo;
  const { how } = attributions[attribution];
  if (!run) return { event: 'triggered', how, target: targetOf(outcome), isWatched };
  const { snapshot } = factsOf(outcome);
  const argument = hintContext.argumentOf(run);
  return {
    event: 'triggered',
    how,
    run,
    snapshot,
    argument,
    isWatched,
    idempotencyKey: idempotencyKey ?? undefined,
  };
}

/**
 * Warns about an older run that didn't complete or can't be read, so that it isn't mistaken for a
 * new one.
 */
function warnOfEarlier(
  outcome: TriggerOutcome,
  isWatched: boolean | undefined,
  { hintContext, emit }: Connection,
): void {
  const { run, triggerInfo } = outcome;
  const { how, started } = attributions[triggerInfo.attribution];
  if (!run || !mayBeEarlierRun(triggerInfo.attribution)) return;
  const name = automationNameOf(run.target);
  // The run may have been started by anyone who has this key, so the sentence doesn't say who.
  const key =
    how === 'found'
      ? `${name} has a run under this idempotency key`
      : `this idempotency key started ${name}`;
  const { snapshot } = factsOf(outcome);
  const failure = requestFailureOf(outcome);
  if (failure && !isWatched) {
    const isDropped = failure.fault.kind === 'not_found';
    const message =
      isDropped && snapshot
        ? `${key}, which finished ${snapshot.status}; the service no longer knows that run`
        : `${key}, but its status can't be read: ${diagnosticOfFailedRequest(failure, hintContext).message}`;
    emit({ event: 'warning', name: 'status_unavailable', message, run });
  }
  if (!snapshot?.isFinal || isSuccess(snapshot.status)) return;
  const none = started === 'no' ? '; no new run was started' : '';
  const when = how === 'found' ? '' : ` ${beganAt(snapshot)}`;
  const message = `${key}${when}, which finished ${snapshot.status}${none}`;
  emit({ event: 'warning', name: 'replayed_failure', message, run });
}

/**
 * Why the status of an earlier run couldn't be read. It is only a warning, because the run itself
 * is known.
 */
function requestFailureOf(outcome: TriggerOutcome) {
  if (outcome.kind !== 'has_run' || !outcome.requestFault) return undefined;
  const { run, requestFault: fault, lastConfirmed } = outcome;
  return { run, resource: 'status', fault, lastConfirmed } as const;
}

/** Prints the ids of the started runs on stderr if they couldn't be written to stdout. */
async function printLostIds(
  outcomes: readonly Outcome[],
  { stdout, stderr, clock }: Invocation,
): Promise<void> {
  // A failed write shows up in the next turn of the event loop.
  await clock.sleep(0);
  if (!stdout.closed.aborted) return;
  for (const { run } of outcomes)
    if (run) stderr.write(`runctl: ${automationNameOf(run.target)}: run ${run.executionId}\n`);
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
