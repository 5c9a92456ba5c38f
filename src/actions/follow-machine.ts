import { existsSync } from 'node:fs';
import { resolveStateFolder } from '../config/paths.ts';
import type { Connection } from '../connection/connection.ts';
import { followableOf } from '../connection/followable.ts';
import { journalOf } from '../connection/open-journal.ts';
import { endedBy } from '../context.ts';
import { createHookRecord, dueText, leftHooks, recordDueHook, reportCutOffHooks } from '../hooks/follower-hooks.ts';
import { claimFollowing, type FollowerClaim, nameOfFollower } from '../journal/follower-claim.ts';
import type { JournalRecord } from '../journal/records.ts';
import { createTail, type Tail } from '../journal/tail.ts';
import { interruptNameOf } from '../problems/exit-codes.ts';
import { Problem, usageProblem } from '../problems/problem.ts';
import { type CommandResult, printSentence } from '../render/output.ts';
import type { Clock } from '../runs/clock.ts';
import type { Run } from '../runs/run.ts';
import { isFinalStatus } from '../runs/statuses.ts';
import type { Followable } from '../watching/watch-run.ts';
import { followRun } from './follow-run.ts';
import { type Following, startFollowing } from './following.ts';
import { type ActionFlags, planOf } from './plan.ts';
import { createDoneReport } from './report-results.ts';

const betweenReadsMs = 1_000;
const renewalMs = 10_000;
const onlyOneFollower = 'only one follower is allowed for a state folder and base URL';

/** Follows this machine's runs, including later ones. Throws a usage problem if another process already does. */
export async function followMachine(
  findUnfinished: (connection: Connection) => Followable[],
  flags: ActionFlags,
  connection: Connection,
): Promise<CommandResult> {
  const claim = claimOrThrow(connection, flags.onFinal !== undefined);
  const plan = planOf({ giveUpAfterMs: Number.POSITIVE_INFINITY, ...flags, timeoutMs: 0 }, 'watch');
  const following = await startFollowing(connection, plan, Number.POSITIVE_INFINITY, createHookRecord);
  const { context, baseUrl, journal } = following;
  const { clock, reporter } = context;
  const ending = new AbortController();
  const { signal } = endedBy(context, AbortSignal.any([ending.signal, context.stdout.closed]));
  const underWay = new Map<string, Promise<void>>();
  let left = 0;

  const follow = (followable: Followable): void => {
    const id = followable.run.executionId.toLowerCase();
    if (!underWay.has(id))
      underWay.set(
        id,
        toEnd(followable).finally(() => underWay.delete(id)),
      );
  };
  async function toEnd(followable: Followable): Promise<void> {
    // An open journal keeps every run that it was asked for in memory, and this process lives too long for that.
    const own = { ...following, journal: journalOf(context, { quiet: true }) };
    if (flags.onFinal !== undefined) recordDueHook(followable.run, own);
    const followed = await followRun(followable, plan, own, { leave: signal });
    if (signal.aborted) return;
    const { problem } = followed;
    const isHopeless = problem?.facts.name === 'unauthorized' || (problem && !following.watches.isAnswered);
    const isEnd = isHopeless && problem.facts.name !== 'not_found';
    // What ends the follower is its last word. No other word follows for a run that it drops.
    createDoneReport(own, isEnd ? 1 : Number.POSITIVE_INFINITY)(followed);
    const { warnings } = context;
    const isFollowed = (run: Run) => run !== followable.run && underWay.has(run.executionId.toLowerCase());
    warnings.splice(0, warnings.length, ...warnings.filter(({ run }) => run && isFollowed(run)));
    if (isEnd) ending.abort(problem);
  }

  try {
    const folder = folderOf(following);
    const { tail, open } = orRefuseFolder(folder, () => {
      reportCutOffHooks(following);
      const tail = createTail(folder);
      const unfinished = findUnfinished(following);
      const { due } = leftHooks(following);
      if (flags.onFinal === undefined) {
        reportDueHooks(due.length, following);
        return { tail, open: unfinished };
      }
      const dueRuns = due.map((run) => followableOf(run, journal.find(run.executionId, { baseUrl }), clock));
      return { tail, open: [...unfinished, ...dueRuns] };
    });
    const newRuns = createNewRuns(tail, folder, following);
    for (const followable of open) follow(followable);
    if (underWay.size === 0 && !flags.quiet && !flags.events)
      printSentence('No unfinished runs. Waiting for runs that are triggered on this machine.', context);
    for (let renewedMs = clock.elapsedMs(); !signal.aborted; ) {
      await clock.sleep(betweenReadsMs, signal);
      for (const followable of newRuns()) follow(followable);
      if (clock.elapsedMs() - renewedMs < renewalMs) continue;
      renewedMs = clock.elapsedMs();
      if (!claim.renew())
        ending.abort(usageProblem(`another process is now following the runs of ${baseUrl}`, onlyOneFollower));
    }
    left = underWay.size;
    await Promise.all(underWay.values());
    await following.hooks.waitForAll();
    reportLeftHooks(following);
  } finally {
    ending.abort();
    reporter.stop();
    claim.release();
  }
  const { reason } = signal;
  const message = left > 0 ? 'interrupted: unfinished runs continue' : 'interrupted';
  const hint = `follow ${left > 0 ? 'them' : 'runs'} again with \`runctl watch --follow\``;
  const problem = reason instanceof Problem ? reason : new Problem({ name: interruptNameOf(signal), message, hint });
  return { exitNames: [problem.facts.name], problems: [{ problem }] };
}

/** A follower without a hook leaves what an earlier one owed to the next one that has a hook. */
function reportDueHooks(due: number, { context: { reporter } }: Following): void {
  if (due === 0) return;
  const message = `${dueText(due)}, and this one runs none: start it with \`--on-final …\` instead`;
  reporter.observe({ event: 'warning', name: 'hooks_left', message });
}

function reportLeftHooks({ hooks: { left }, context: { reporter } }: Following): void {
  if (left.length === 0) return;
  const commands = left.length === 1 ? '1 --on-final command was' : `${left.length} --on-final commands were`;
  const message = `${commands} not run: the next \`runctl watch --follow --on-final …\` within 48 hours runs them`;
  reporter.observe({ event: 'warning', name: 'hooks_left', message });
}

/** The journal's folder. Without one, `connect` would have thrown. */
const folderOf = ({ context }: Connection): string => resolveStateFolder(context.env) ?? '';

/** Throws a usage problem if a follower can't work with the folder, or with the journal in it. */
function orRefuseFolder<T>(folder: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    // If the journal can't be read, its own problem says so, with the exit code of commands that only read.
    if (error instanceof Problem) throw error.with({ name: 'usage' });
    const message = `runs can't be followed with the state folder ${folder} (${(error as Error).message})`;
    throw usageProblem(message, 'fix it, or set RUNCTL_STATE_DIR to another folder');
  }
}

function claimOrThrow(connection: Connection, hasHook: boolean): FollowerClaim {
  const { baseUrl, processes, context } = connection;
  const folder = folderOf(connection);
  const claim = orRefuseFolder(folder, () =>
    claimFollowing({ folder, baseUrl, hasHook, processes, nowMs: context.clock.nowMs }),
  );
  if ('renew' in claim) return claim;
  throw usageProblem(`${nameOfFollower(claim)} is already following the runs of ${baseUrl}`, onlyOneFollower);
}

/** Returns the runs that were recorded since the last call. If the journal is gone or can't be read, reports that once. */
function createNewRuns(tail: Tail, folder: string, { baseUrl, context }: Connection): () => Followable[] {
  let isReported = false;
  return () => {
    try {
      if (!existsSync(folder)) throw new Error('the state folder was removed');
      return tail
        .read()
        .flatMap((record) => (record.baseUrl === baseUrl ? (newRunOf(record, context.clock) ?? []) : []));
    } catch (error) {
      const message = `the journal can't be read (${(error as Error).message}); new runs are not followed until it can be`;
      if (!isReported) context.reporter.observe({ event: 'warning', name: 'journal_unavailable', message });
      isReported = true;
      return [];
    }
  };
}

/** The run of a record that says that it was triggered, or watched for the first time. */
function newRunOf(record: JournalRecord, clock: Clock): Followable | undefined {
  if (record.type !== 'accepted' && record.type !== 'status') return undefined;
  const { target } = record;
  const isNew = record.type === 'accepted' || (record.first === true && !isFinalStatus(record.status, target));
  const { executionId, at } = record;
  const sinceTriggerMs = record.type === 'accepted' ? () => clock.nowMs() - Date.parse(at) : undefined;
  return isNew ? { run: { target, executionId }, sinceTriggerMs } : undefined;
}
