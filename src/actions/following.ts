import type { Connection } from '../connection/connection.ts';

import { createFinalHooks, type FinalHooks, finalHookRecord, type HookRecord } from '../hooks/on-final.ts';
import type { OutputOptions } from '../render/output.ts';
import { contextWithBoard } from '../render/reporter.ts';
import { createWatchGroup, timeoutMsOf, type WatchGroup } from '../watching/watch-group.ts';

/** A connection, and everything shared by the runs that a command triggers or watches. */
export interface Following extends Connection {
  /** Shared by all watches of this command. `--timeout` counts from its creation. */
  watches: WatchGroup;
  hooks: FinalHooks;
  /** How many runs are triggered or watched together. */
  runs: number;
}

interface FollowingFlags {
  timeoutMs?: number; // 0 means no limit
  onFinal?: string;
}

/** Created when `--timeout` begins to count, after `--splay`. */
export function createFollowing(
  connection: Connection,
  flags: FollowingFlags,
  runs: number,
  hookRecord: HookRecord = finalHookRecord(connection),
): Following {
  const { context } = connection;
  const watches = createWatchGroup(timeoutMsOf(flags), context.clock);
  return { ...connection, watches, runs, hooks: createFinalHooks(flags.onFinal, context, hookRecord) };
}

/** The connection with a board for this many runs, if stderr is a terminal. The caller must stop its reporter. */
export async function withBoard<C extends Connection>(connection: C, flags: OutputOptions, runs: number): Promise<C> {
  const { context, pastRuns } = connection;
  return { ...connection, context: await contextWithBoard(flags, { runs, pastRuns }, context) };
}
