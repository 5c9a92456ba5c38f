import { endedBy } from '../context.ts';
import { isInterruptName } from '../problems/exit-codes.ts';
import { interruptNameOf } from '../problems/fault-facts.ts';
import { Problem } from '../problems/problem.ts';
import type { CommandResult } from '../render/output.ts';
import { defaults } from '../runs/defaults.ts';
import { onAbort } from '../runs/on-abort.ts';
import type { Run } from '../runs/run.ts';
import { alsoEndedBy, type Connection } from '../session/connection.ts';
import { createFollowing, type Following, withBoard } from '../session/following.ts';
import type { RunToPoll } from '../session/run-to-poll.ts';
import { type ArgumentResult, type Followed, failFastReason, isOk, resultOfFollow } from './argument-result.ts';
import type { ActionFlags } from './flags.ts';
import { followRun, reportManyRuns } from './follow-run.ts';
import { createDoneReport, reportResults } from './report.ts';

/** Follows each run once, and reports in the order given. `more` yields further runs, and its errors are thrown. */
export async function followAll(
  runs: RunToPoll[],
  flags: ActionFlags,
  connection: Connection,
  more?: AsyncIterable<RunToPoll>,
): Promise<CommandResult> {
  const keyOf = ({ run }: RunToPoll) => JSON.stringify(run);
  const count = more ? Number.POSITIVE_INFINITY : new Set(runs.map(keyOf)).size;
  const following = createFollowing(await withBoard(connection, flags, count), flags, count);
  const { context } = following;
  const enough = new AbortController();
  try {
    const watching = alsoEndedBy(following, context.stdout.closed);
    const { signal: leave } = endedBy(watching.context, enough.signal);
    const reportDone = createDoneReport(following, count);
    const followOne = async (runToPoll: RunToPoll): Promise<ArgumentResult> => {
      const followed = await followRun(runToPoll, flags, watching, { leave });
      const isForgotten = flags.all && isClosed(runToPoll.run, followed, following);
      const result = resultOfFollow({ ...followed, isForgotten }, following);
      if (flags.failFast && !isOk(result)) enough.abort(failFastReason);
      reportDone(result);
      return result;
    };
    const follows = new Map<string, Promise<ArgumentResult>>();
    const mostAtRate = Math.floor((flags.rate ?? defaults.rate) * 60);
    const follow = (runToPoll: RunToPoll): Promise<ArgumentResult> => {
      const key = keyOf(runToPoll);
      const started = follows.get(key) ?? followOne(runToPoll);
      follows.set(key, started);
      if (more && follows.size === mostAtRate + 1) reportManyRuns(follows.size, flags, following);
      return started;
    };
    if (!more) reportManyRuns(count, flags, following);
    const pending = runs.map(follow);
    const isWhole = !more || (await takeEach(more, (runToPoll) => pending.push(follow(runToPoll)), leave, following));
    const results = await Promise.all(pending);
    await following.hooks.waitForAll();
    const result = await reportResults(results, flags, following);
    const isReported = isWhole || enough.signal.aborted || result.exitNames?.some(isInterruptName);
    return isReported ? result : withUnfinishedInput(result, following);
  } catch (error) {
    enough.abort(failFastReason);
    throw error;
  } finally {
    context.reporter.stop();
  }
}

/** Does the journal no longer count the run as unfinished, because the service doesn't know it? */
function isClosed({ executionId }: Run, { problem }: Followed, { journal, baseUrl }: Following): boolean {
  return problem?.facts.name === 'not_found' && journal.find(executionId, { baseUrl, fresh: true })?.status === null;
}

/** Takes the items as they come. Returns false if `signal` or `--timeout` stops this before the input ends. */
async function takeEach<T>(
  items: AsyncIterable<T>,
  take: (item: T) => void,
  signal: AbortSignal,
  { watches, context }: Following,
): Promise<boolean> {
  const iterator = items[Symbol.asyncIterator]();
  const ended = new Promise<undefined>((resolve) => {
    const end = () => resolve(undefined);
    if (signal.aborted) end();
    onAbort(signal, end);
    if (Number.isFinite(watches.timeoutMs)) void context.clock.sleep(watches.leftMs(), signal).then(end);
  });
  for (;;) {
    const next = await Promise.race([ended, iterator.next()]);
    if (!next) return false;
    if (next.done) return true;
    take(next.value);
  }
}

/** The result of a command that was stopped before its input ended: it exits with what stopped it. */
function withUnfinishedInput(result: CommandResult, { context }: Following): CommandResult {
  const { signal, stdout } = context;
  const interrupt = [signal, stdout.closed].find(({ aborted }) => aborted);
  const problem = interrupt
    ? new Problem({ name: interruptNameOf(interrupt), message: 'interrupted' })
    : new Problem({ name: 'timeout', message: '`--timeout` expired before the input ended' });
  return {
    ...result,
    exitNames: [...(result.exitNames ?? []), problem.facts.name],
    problems: [...(result.problems ?? []), { problem }],
  };
}
