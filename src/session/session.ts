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

/** What travels together while a command that asks the service for something runs. */
export interface Session {
  /** Streams, clocks, chance and the signal that ends the command. */
  context: Context;
  settings: Settings;
  baseUrl: string;
  /**
   * Distinguishes the API key in force from others without holding it; that of an idempotency key stays the one it was
   * first sent with. Throws the problems of `ApiKeys`.
   */
  account(idempotencyKey?: string): Promise<string>;
  service: Service;
  journal: Journal;
  processes: Processes;
  /** Shared by every request of this process. */
  limiter: RateLimiter;
  /** Shared by every watch of this command; `--timeout` counts from its making. */
  watches: WatchGroup;
  /** The time limit of one request. */
  requestTimeoutMs: number;
  reporter: Reporter;
  /** How many runs are triggered or watched together. */
  runs: number;
  /** The project that a bare automation name means in a hint; undefined where none is set, or one that is refused. */
  hintProject?: string;
  /** The last completed runs of a target, newest first. */
  history(target: Target): readonly PastRun[];
  /** May the command line be repeated without a second run, as far as is known? */
  safeToRepeat(): boolean;
  /** Those of `--on-final`. */
  hooks: FinalHooks;
  /** Limits how many triggers are in flight; without it nothing does. */
  inTurn?: Turns;
  /** The idempotency keys of the triggers that this process has sent, or is about to send. */
  sentKeys: Set<string>;
  /** Writes a line, where `--debug` asks for it. */
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

/** The session, which this signal ends, too. */
export function sessionEndedBy(session: Session, signal: AbortSignal): Session {
  return { ...session, context: endedBy(session.context, signal) };
}
