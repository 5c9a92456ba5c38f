import { alsoEndedBy, type Connection } from '../connection/connection.ts';
import type { Invocation } from '../context.ts';
import { noRunProblem } from '../problems/trigger-problems.ts';
import { type CommandResult, wantsData } from '../render/output.ts';
import { pause } from '../runs/clock.ts';
import { isCompleted, nameOf } from '../runs/run.ts';
import { startOf } from '../runs/service.ts';
import type { ActionFlags } from './action-flags.ts';
import { reportManyRuns } from './follow-run.ts';
import { createFollowing, type Following, withBoard } from './following.ts';
import { startRun } from './if-active.ts';
import {
  type ArgumentResult,
  type EarlierStart,
  finishedExecutionOf,
  resultOfFollow,
  resultOfStart,
  type StartRequest,
  type StartResult,
  startedOf,
  triggeredEvent,
} from './outcome.ts';
import { createDoneReport, reportResults } from './report-results.ts';
import { followWithReruns } from './reruns.ts';

export async function triggerAll(
  requests: StartRequest[],
  options: ActionFlags,
  connection: Connection,
): Promise<CommandResult> {
  const shown = await withBoard(connection, options, requests.length);
  const { context } = shown;
  const { reporter } = context;
  try {
    await splay(options.splayMs, context);
    const following = createFollowing(shown, options, requests.length);
    const { signal } = context;
    const isEnded = signal.aborted;
    const unsafe = new Set<StartRequest>();
    const isSafeToRepeat = () => unsafe.size === 0;
    const noteStart = (request: StartRequest, start: StartResult) => {
      if (!isRepeatable(request, start, following)) unsafe.add(request);
    };
    // Print ids in the order of the arguments, unless stdout is for the run's summary or other data.
    const idsAreData = !options.watch && !wantsData(options);
    const inOrder = createInOrder();
    const watching = alsoEndedBy(following, context.stdout.closed);
    const reportDone = createDoneReport(following, options.watch ? requests.length : 0);
    if (options.watch) reportManyRuns(requests.length, options, following);
    const results = await Promise.all(
      requests.map(async (request, index): Promise<ArgumentResult> => {
        const start = isEnded ? notStarted(request, signal) : await startRun(request, options, following);
        noteStart(request, start);
        const report = () => {
          const id = 'run' in start ? start.run.executionId : undefined;
          // With several arguments, line n belongs to argument n, so one without a run has an empty line.
          if (idsAreData && (id !== undefined || requests.length > 1)) context.stdout.write(`${id ?? ''}\n`);
          reporter.observe(triggeredEvent(start, options, following));
        };
        if (idsAreData) inOrder(index, report);
        else report();
        const isFollowed = options.watch && start.kind !== 'skipped' && start.kind !== 'failed';
        const result = isFollowed
          ? resultOfFollow(
              await followWithReruns(
                request,
                start,
                { ...options, isSafeToRepeat, onStart: (rerun) => noteStart(request, rerun) },
                watching,
              ),
              following,
            )
          : resultOfStart(start, isSafeToRepeat, following);
        if (start.kind === 'earlier') reportEarlier(start, result, following);
        reportDone(result);
        return result;
      }),
    );
    if (idsAreData) await reportUnread(results, context);
    await following.hooks.waitForAll();
    return await reportResults(results, options, following);
  } finally {
    reporter.stop();
  }
}

/** Can the command line be repeated without a second run of this argument? A generated key is new each time. */
function isRepeatable(
  { target, idempotencyKey: given }: StartRequest,
  start: StartResult,
  { journal, baseUrl, keyTreatment }: Following,
): boolean {
  const { idempotencyKey = given } = start;
  const isNotStarted = startedOf(start) === 'no';
  if (given === undefined || idempotencyKey === undefined) return isNotStarted;
  if (keyTreatment() === 'honored') return true;
  const recorded = journal.findKey({ baseUrl, target, idempotencyKey });
  return recorded ? recorded.state === 'accepted' : isNotStarted;
}

/** Warns about an older run that didn't complete, so that it isn't mistaken for a new one. */
function reportEarlier(earlier: EarlierStart, result: ArgumentResult, { context: { reporter } }: Following): void {
  const { run, polled } = earlier;
  const start = `this idempotency key started ${nameOf(run.target)}`;
  if (polled?.kind === 'failed' && !result.watched) {
    const message = `${start}, but its status can't be read: ${polled.problem.message}`;
    reporter.observe({ event: 'warning', name: 'status_unavailable', message, run });
  }
  const finished = finishedExecutionOf(earlier);
  // A rerun has replaced it.
  if (!finished || isCompleted(finished.status) || result.run?.executionId !== run.executionId) return;
  const end = result.started === 'no' ? '; no new run was started' : '';
  const message = `${start} ${startOf(finished)}, which finished ${finished.status}${end}`;
  result.replayedFailure = message;
  reporter.observe({ event: 'warning', name: 'replayed_failure', message, run });
}

/** Prints the ids of the started runs on stderr if they couldn't be written to stdout. */
async function reportUnread(results: readonly ArgumentResult[], { stdout, stderr, clock }: Invocation): Promise<void> {
  // A failed write shows up in the next turn of the event loop.
  await clock.sleep(0);
  if (!stdout.closed.aborted) return;
  for (const { run } of results) if (run) stderr.write(`runctl: ${nameOf(run.target)}: run ${run.executionId}\n`);
}

function notStarted({ target, idempotencyKey }: StartRequest, signal: AbortSignal): StartResult {
  return { kind: 'failed', target, problem: noRunProblem(signal), idempotencyKey };
}

async function splay(splayMs: number | undefined, { random, clock, signal, reporter }: Invocation): Promise<void> {
  if (!splayMs) return;
  const waitMs = random() * splayMs;
  reporter.observe({ event: 'waiting', for: 'splay', nextMs: waitMs });
  await pause(waitMs, clock, signal);
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
