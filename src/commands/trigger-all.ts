import type { Connection } from '../connection/connection.ts';
import type { CommandContext } from '../context.ts';
import { replayedFailureText, unreadEarlierRunText } from '../messages/warnings.ts';
import { type CommandResult, wantsData } from '../output/command-result.ts';
import { attributions, mayBeEarlierRun } from '../run/attribution.ts';
import type { RunEvent } from '../run/events.ts';
import { factsOf } from '../run/exit-of.ts';
import {
  type Outcome,
  type RunHandle,
  type TargetOutcome,
  type TriggerOutcome,
  targetOf,
} from '../run/outcome.ts';
import { quotedName } from '../run/quote.ts';
import { isSuccess } from '../run/statuses.ts';
import { withCurrentStatus } from '../start/outcome-with-run.ts';
import { startRun } from '../start/start-run.ts';
import type { StartRequest } from '../start/trigger-result.ts';
import { type Watcher, type WatchFlags, watchAndReport } from './watch-and-report.ts';

/** Starts runs, and watches them with `--watch`. */
export function triggerAll(
  requests: readonly StartRequest[],
  flags: WatchFlags & { watch?: boolean },
  connection: Connection,
): Promise<CommandResult> {
  const isWatched = flags.watch ?? false;
  // Ids are printed in the order of the arguments, unless stdout is for summaries or documents.
  const printsIds = !isWatched && !wantsData(flags);
  const inOrder = createOrderedQueue();
  return watchAndReport(requests.length, flags, connection, async (watcher) => {
    const { boardConnection } = watcher;
    const { context } = boardConnection;
    const triggerOne = async (request: StartRequest, index: number): Promise<TargetOutcome> => {
      const { outcome: started, handle } = await startRun(request, boardConnection);
      watcher.triggerInfos.push(started.triggerInfo);
      inOrder(index, () => {
        if (printsIds) printId(started, requests.length, context);
      });
      if (isWatched) return watchOne(started, handle, watcher);
      const outcome = await withCurrentStatus(started, boardConnection);
      reportTriggerEnd(outcome, { isWatched: false }, boardConnection);
      warnOfEarlierRun(outcome, { isWatched: false }, boardConnection);
      return outcome;
    };
    const outcomes = await Promise.all(requests.map(triggerOne));
    if (printsIds) await printLostIds(outcomes, context);
    return outcomes;
  });
}

/** Watches the run of a trigger to its end, if it has one. */
async function watchOne(
  started: TriggerOutcome,
  handle: RunHandle | undefined,
  { boardConnection, watch, done }: Watcher,
): Promise<TargetOutcome> {
  reportTriggerEnd(started, { isWatched: true }, boardConnection);
  const end = handle ? await watch(handle, started.triggerInfo) : started;
  warnOfEarlierRun(started, { isWatched: handle !== undefined }, boardConnection);
  done(end);
  return end;
}

/**
 * Prints the id of a run on a line of its own. With several arguments, line n belongs to argument
 * n, so an argument without a run has an empty line.
 */
function printId({ run }: TriggerOutcome, argumentCount: number, { stdout }: CommandContext): void {
  if (run || argumentCount > 1) stdout.write(`${run?.executionId ?? ''}\n`);
}

function reportTriggerEnd(
  outcome: TriggerOutcome,
  options: { isWatched: boolean },
  connection: Connection,
): void {
  // If the status couldn't be read, the error at the end says so, and this event would repeat it.
  if (outcome.kind === 'request_failed') return;
  connection.emit(triggerEndedEvent(outcome, options, connection));
}

function triggerEndedEvent(
  outcome: TriggerOutcome,
  { isWatched }: { isWatched: boolean },
  { hintContext }: Connection,
): RunEvent {
  const { run, triggerInfo } = outcome;
  const { how } = attributions[triggerInfo.attribution];
  if (!run) return { event: 'trigger_ended', how, target: targetOf(outcome), isWatched };
  return {
    event: 'trigger_ended',
    how,
    run,
    snapshot: factsOf(outcome).snapshot,
    argument: hintContext.argumentOf(run),
    isWatched,
    idempotencyKey: triggerInfo.idempotencyKey ?? undefined,
  };
}

/**
 * Warns about an older run that didn't complete or can't be read, so that it isn't mistaken for a
 * new one.
 */
function warnOfEarlierRun(
  outcome: TriggerOutcome,
  { isWatched }: { isWatched: boolean },
  { emit, hintContext }: Connection,
): void {
  const { run, triggerInfo } = outcome;
  if (!run || !mayBeEarlierRun(triggerInfo.attribution)) return;
  // It is only a warning, because the run itself is known. A watch reads the status later.
  if (outcome.kind === 'has_run' && outcome.requestFault && !isWatched) {
    const message = unreadEarlierRunText(outcome, outcome.requestFault, hintContext);
    emit({ event: 'warning', name: 'status_unavailable', message, run });
  }
  const { snapshot } = factsOf(outcome);
  if (!snapshot?.isFinal || isSuccess(snapshot.status)) return;
  const message = replayedFailureText(run, triggerInfo.attribution, snapshot);
  emit({ event: 'warning', name: 'replayed_failure', message, run });
}

/** Prints the ids of the started runs on stderr if they couldn't be written to stdout. */
async function printLostIds(
  outcomes: readonly Outcome[],
  { stdout, stderr, clock }: CommandContext,
): Promise<void> {
  // A failed write shows up in the next turn of the event loop.
  await clock.sleep(0);
  if (!stdout.closed.aborted) return;
  for (const { run } of outcomes)
    if (run) stderr.write(`runctl: ${quotedName(run.target)}: run ${run.executionId}\n`);
}

/** Runs actions in the order of their indices, each as soon as all before it have run. */
function createOrderedQueue(): (index: number, action: () => void) => void {
  const waiting: (() => void)[] = [];
  let next = 0;
  return (index, action) => {
    waiting[index] = action;
    while (waiting[next]) waiting[next++]?.();
  };
}
