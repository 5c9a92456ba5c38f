import { type ConnectOptions, connect } from '../connection/connect.ts';
import { alsoEndedBy, type Connection, inContext } from '../connection/connection.ts';
import type { JournalNeed } from '../connection/open-journal.ts';
import type { CommandContext } from '../context.ts';
import type { CommandResult, OutputOptions } from '../output/command-result.ts';
import { documentOf } from '../output/document.ts';
import { doneEvent, reportRuns } from '../output/final-report.ts';
import { createFinalHooks } from '../output/on-final.ts';
import { contextWithBoard } from '../output/reporter.ts';
import { defaults } from '../run/limits.ts';
import type { RunHandle, TargetOutcome, TriggerInfo } from '../run/outcome.ts';
import { watchRun } from '../watch/watch-run.ts';

// Functions that `trigger` and `watch` share.

export interface WatchFlags extends OutputOptions, ConnectOptions {
  onFinal?: string;
}

/** Connects for a command that may watch runs. The time of `--timeout` begins now. */
export const connectToWatch = (
  flags: WatchFlags,
  context: CommandContext,
  need: JournalNeed,
): Promise<Connection> =>
  connect({ ...flags, timeout: flags.timeout ?? defaults.timeoutMs }, context, need);

/** How the runs of one command are watched. */
export interface Watcher {
  /** Its events are shown on the board if stderr is a terminal. */
  boardConnection: Connection;
  /** How the triggers so far have ended. */
  triggerInfos: TriggerInfo[];
  watch(handle: RunHandle, triggerInfo?: TriggerInfo): Promise<TargetOutcome>;
  /** Called once for each run, when the command is done with it. */
  done(outcome: TargetOutcome): void;
}

/**
 * Shows a board on a terminal while `act` watches this number of runs. Then waits for their
 * `--on-final` commands and reports the outcomes.
 */
export async function watchAndReport(
  count: number,
  flags: WatchFlags,
  connection: Connection,
  act: (watcher: Watcher) => Promise<TargetOutcome[]>,
): Promise<CommandResult> {
  const { usualDuration, hintContext, settings } = connection;
  const context = await contextWithBoard(flags, { runs: count, usualDuration }, connection.context);
  const hooks = createFinalHooks(flags.onFinal, context);
  const boardConnection = inContext(connection, context);
  const watchConnection = alsoEndedBy(boardConnection, context.stdout.closed);
  const triggerInfos: TriggerInfo[] = [];
  let pending = count;
  const watcher: Watcher = {
    boardConnection,
    triggerInfos,
    async watch(handle, triggerInfo) {
      const outcome = await watchRun(handle, watchConnection, triggerInfo);
      const isSafeToRepeat = triggerInfos.every((info) => info.isSafeToRepeat);
      if (outcome.kind === 'status')
        hooks.start(outcome, documentOf(outcome, context, { hintContext, isSafeToRepeat }));
      return outcome;
    },
    done(outcome) {
      pending = Math.max(0, pending - 1);
      context.reporter.emit(doneEvent(outcome, pending, hintContext));
    },
  };
  try {
    const outcomes = await act(watcher);
    await hooks.waitForAll();
    return await reportRuns(
      outcomes,
      flags,
      { hintContext, project: settings.project.value },
      context,
    );
  } finally {
    context.reporter.stop();
  }
}
