import type { Connection } from '../connection/connection.ts';
import { argumentOf } from '../connection/followable.ts';
import { createFinalHooks, type FinalHooks } from '../hooks/on-final.ts';
import { type Document, documentOf } from '../output/document.ts';
import { contextWithBoard } from '../output/reporter.ts';
import type { Outcome } from '../problems/outcome.ts';
import { createWatchGroup, type WatchGroup } from '../watching/watch-group.ts';
import type { Plan } from './plan.ts';

/** A connection, and everything shared by the runs that a command triggers or watches. */
export interface Following extends Connection {
  /** Shared by all watches of this command. `--timeout` counts from its creation. */
  watches: WatchGroup;
  hooks: FinalHooks;
  /** May the command line be repeated without a second run, as far as its triggers have ended? */
  repeat: { isSafe: boolean };
}

/** Puts up a board if stderr is a terminal, and starts `--timeout`. The caller must stop the reporter. */
export async function startFollowing(
  connection: Connection,
  plan: Pick<Plan, 'timeoutMs' | 'onFinal' | 'quiet'>,
  runs: number,
): Promise<Following> {
  const { usualDuration } = connection;
  const context = await contextWithBoard(plan, { runs, usualDuration }, connection.context);
  return createFollowing({ ...connection, context }, plan);
}

/** Without a board, and at once. */
export function createFollowing(connection: Connection, plan: Pick<Plan, 'timeoutMs' | 'onFinal'>): Following {
  const { context } = connection;
  return {
    ...connection,
    watches: createWatchGroup(plan.timeoutMs, context.clock),
    hooks: createFinalHooks(plan.onFinal, context),
    repeat: { isSafe: true },
  };
}

/** The document of one argument, with what the whole command knows. */
export function documentIn(following: Following, outcome: Outcome): Document {
  const { run } = outcome;
  const argument = run && argumentOf(run, following);
  return documentOf({ ...outcome, argument, safeToRepeat: following.repeat.isSafe }, following.context);
}
