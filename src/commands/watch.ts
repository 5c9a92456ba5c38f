import type { Context } from '../context.ts';
import { Problem, type UnknownReport } from '../core/report.ts';
import { unknownReport } from '../core/start-run.ts';
import { dayMs } from '../core/time.ts';
import { isUnreported, type JournalEntry } from '../journal/entries.ts';
import { type FoundRun, findRun } from './arguments.ts';
import type { CommandResult } from './command.ts';
import { type Opened, open } from './open.ts';
import { whyNotSent } from './unsent.ts';
import { type CommonWatchFlags, watchOne } from './watch-one.ts';

export interface WatchFlags extends CommonWatchFlags {
  all?: boolean;
}

/** Follows runs until they finish: those that are named, or every unfinished one of the last day. */
export async function watch(
  names: readonly string[],
  flags: WatchFlags,
  context: Context,
): Promise<CommandResult> {
  const { all = false } = flags;
  const isNamed = names.length > 0;
  if (all === isNamed) {
    throw new Problem('watch needs a run, such as nightly or @last, or else --all', {
      command: 'runctl help watch',
    });
  }
  const opened = await open(context);
  const { emit } = context;
  const found = all
    ? unfinishedRuns(opened, context)
    : names.map((name) => findRun(name, opened, emit));
  const ids = found.map(({ run }) => run.executionId);
  const twice = names.find((_, index) => ids.indexOf(ids[index] as string) < index);
  if (twice) throw new Problem(`${twice} is a run that is named twice`);
  const unknown = all ? unknownTriggers(opened) : [];
  if (all && found.length + unknown.length === 0) {
    emit({ type: 'note', text: 'nothing to watch: no run of the last 24h is unfinished' });
  }
  const reports = await Promise.all(
    found.map(({ run, isRecorded }) =>
      watchOne(run, { isAccepted: false, isRecorded }, flags, opened, context),
    ),
  );
  return { reports: [...unknown, ...reports], show: 'summaries' };
}

/** Without those of another API key, because another profile's `watch --all` follows them. */
function unfinishedRuns({ journal, apiKeyHash }: Opened, { clock }: Context): FoundRun[] {
  const isOwn = ({ trigger }: JournalEntry) =>
    !trigger?.openSents.length || trigger.openSents.some((sent) => sent.apiKeyHash === apiKeyHash);
  const runs = journal
    .recent()
    .filter(({ status, atMs }) => !status?.isFinal && atMs > clock.nowMs() - dayMs)
    .filter(isOwn)
    .flatMap(({ automation, executionId }) =>
      executionId === undefined ? [] : [{ automation, executionId }],
    );
  // A service that replays responses may have given several triggers one run.
  const byId = new Map(runs.map((run) => [run.executionId, run]));
  return [...byId.values()].map((run) => ({ run, isRecorded: true }));
}

const unknownTriggers = (opened: Opened): UnknownReport[] =>
  opened.journal
    .recent()
    .filter(isUnreported)
    .flatMap((entry) => {
      const { trigger, atMs } = entry;
      return trigger ? { ...unknownReport(trigger), atMs, ...whyNotSent(entry, opened) } : [];
    });
