import type { Settings } from '../config/settings.ts';
import { type Context, endedBy } from '../context.ts';
import { createFinalHooks, type FinalHooks } from '../hooks/on-final.ts';
import type { Journal } from '../journal/journal.ts';
import type { Processes } from '../journal/processes.ts';
import type { OutputOptions } from '../render/output.ts';
import { contextWithBoard } from '../render/reporter.ts';
import type { Reporter } from '../runs/events.ts';
import type { RateLimiter } from '../runs/rate-limiter.ts';
import type { Target } from '../runs/run.ts';
import type { Service } from '../runs/service.ts';
import type { PastRun } from '../runs/statistics.ts';
import type { Turns } from '../runs/turns.ts';
import type { WatchGroup } from '../watching/watch-group.ts';

/** What a command that asks the service for something needs while it runs. */
export interface Session {
  context: Context;
  settings: Settings;
  baseUrl: string;
  /** The fingerprint of the API key, as `ApiKeys.of` chooses it. Throws its problems. */
  account(idempotencyKey?: string): Promise<string>;
  service: Service;
  /** Has a new API key been asked for, before a 401 ends a watch? */
  renewApiKey(): Promise<boolean>;
  journal: Journal;
  processes: Processes;
  limiter: RateLimiter;
  /** Shared by every watch of this command; `--timeout` counts from its creation. */
  watches: WatchGroup;
  requestTimeoutMs: number;
  reporter: Reporter;
  /** How many runs are triggered or watched together. */
  runs: number;
  /** The last completed runs of a target, newest first. */
  history(target: Target): readonly PastRun[];
  hooks: FinalHooks;
  /** Limits how many triggers are sent at once; undefined for no limit. */
  inTurn?: Turns;
  /** The idempotency keys of the triggers that this process has sent, or is about to send. */
  sentKeys: Set<string>;
  debug?(line: string): void;
}

/** The session with the hooks of `--on-final` and a reporter for this many runs, which has to be stopped. */
export async function withReporter(
  session: Session,
  flags: OutputOptions & { onFinal?: string },
  runs: number,
): Promise<Session> {
  const { context, history } = session;
  const followed = await contextWithBoard(flags, { runs, history }, context);
  const hooks = createFinalHooks(flags.onFinal, followed);
  return { ...session, runs, context: followed, reporter: followed.reporter, hooks };
}

/** What attempts with retries need, for so long without a valid answer. */
export function retryPortsOf({ limiter, requestTimeoutMs, context }: Session, giveUpAfterMs: number) {
  const { clock, random, signal } = context;
  return { limiter, clock, random, signal, giveUpAfterMs, requestTimeoutMs };
}

export function sessionEndedBy(session: Session, signal: AbortSignal): Session {
  return { ...session, context: endedBy(session.context, signal) };
}
