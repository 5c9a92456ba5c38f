import { endedBy } from '../context.ts';
import { isInterruptName } from '../problems/exit-codes.ts';
import { interruptNameOf } from '../problems/fault-facts.ts';
import { Problem } from '../problems/problem.ts';
import type { CommandResult } from '../render/output.ts';
import { defaults } from '../runs/defaults.ts';
import { onAbort } from '../runs/on-abort.ts';
import type { Run } from '../runs/run.ts';
import type { KnownRun } from '../session/known-run.ts';
import { type Session, sessionEndedBy, withReporter } from '../session/session.ts';
import { type ArgumentResult, type Followed, failFastReason, isOk, resultOfFollow } from './argument-result.ts';
import type { ActionFlags } from './flags.ts';
import { followRun, reportManyRuns } from './follow-run.ts';
import { createDoneReport, reportResults } from './report.ts';

/** Follows each run once, and reports in the order given. `more` gives further runs; what it throws is thrown. */
export async function followAll(
  runs: KnownRun[],
  flags: ActionFlags,
  base: Session,
  more?: AsyncIterable<KnownRun>,
): Promise<CommandResult> {
  const keyOf = ({ run }: KnownRun) => JSON.stringify(run);
  const count = more ? Number.POSITIVE_INFINITY : new Set(runs.map(keyOf)).size;
  const session = await withReporter(base, flags, count);
  const { context, reporter } = session;
  const enough = new AbortController();
  try {
    const watching = sessionEndedBy(session, context.stdout.closed);
    const { signal: leave } = endedBy(watching.context, enough.signal);
    const reportDone = createDoneReport(session, count);
    const followOne = async (known: KnownRun): Promise<ArgumentResult> => {
      const followed = await followRun(known, flags, watching, { leave });
      const isForgotten = flags.all && isClosed(known.run, followed, session);
      const result = resultOfFollow({ ...followed, isForgotten }, session);
      if (flags.failFast && !isOk(result)) enough.abort(failFastReason);
      reportDone(result);
      return result;
    };
    const follows = new Map<string, Promise<ArgumentResult>>();
    const mostAtRate = Math.floor((flags.rate ?? defaults.rate) * 60);
    const follow = (known: KnownRun): Promise<ArgumentResult> => {
      const key = keyOf(known);
      const started = follows.get(key) ?? followOne(known);
      follows.set(key, started);
      if (more && follows.size === mostAtRate + 1) reportManyRuns(follows.size, flags, session);
      return started;
    };
    if (!more) reportManyRuns(count, flags, session);
    const following = runs.map(follow);
    const isWhole = !more || (await takeEach(more, (known) => following.push(follow(known)), leave, session));
    const results = await Promise.all(following);
    await session.hooks.waitForAll();
    const result = await reportResults(results, flags, session);
    const isReported = isWhole || enough.signal.aborted || result.exitNames?.some(isInterruptName);
    return isReported ? result : withUnfinishedInput(result, session);
  } catch (error) {
    enough.abort(failFastReason);
    throw error;
  } finally {
    reporter.stop();
  }
}

/** Does the journal no longer count the run as unfinished, because the service does not know it? */
function isClosed({ executionId }: Run, { problem }: Followed, { journal, baseUrl }: Session): boolean {
  return problem?.facts.name === 'not_found' && journal.find(executionId, { baseUrl, fresh: true })?.status === null;
}

/** Takes the items as they come. Returns false if `signal` or `--timeout` ends this before the input does. */
async function takeEach<T>(
  items: AsyncIterable<T>,
  take: (item: T) => void,
  signal: AbortSignal,
  { watches, context }: Session,
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

/** The result of a command that ended before its input did, and so ends with what ended it. */
function withUnfinishedInput(result: CommandResult, { context }: Session): CommandResult {
  const { signal, stdout } = context;
  const interrupt = [signal, stdout.closed].find(({ aborted }) => aborted);
  const problem = interrupt
    ? new Problem({ name: interruptNameOf(interrupt), message: 'interrupted' })
    : new Problem({ name: 'timeout', message: '`--timeout` passed before the input had ended' });
  return {
    ...result,
    exitNames: [...(result.exitNames ?? []), problem.facts.name],
    problems: [...(result.problems ?? []), { problem }],
  };
}
