import { type ConnectOptions, connectWith } from '../connection/connect.ts';
import type { Connection } from '../connection/connection.ts';
import { currentOf, refreshRuns } from '../connection/refresh.ts';
import type { CommandContext } from '../context.ts';
import { snapshotIn } from '../journal/run-handle.ts';
import { type Entry, isOpen, type KnownRun, type RunEntry, runOf } from '../run/entry.ts';
import type { Fault } from '../run/fault.ts';
import { defaults } from '../run/limits.ts';
import { Problem, problemOrThrow } from '../run/problem.ts';
import { isSuccess } from '../run/statuses.ts';
import { requiredValue, type Settings } from '../settings/resolve.ts';
import { readResultsOfFailed, recordedErrorOf } from '../watch/fetch-run.ts';

/** A run that couldn't be polled, though its status may have changed, and why. */
export interface UnpolledRun {
  entry: RunEntry;
  cause: Fault | Problem;
}

/** The entries with their current statuses, newest first, and the runs that couldn't be polled. */
export interface PolledList {
  entries: readonly Entry[];
  missed: readonly UnpolledRun[];
}

/**
 * Connects, or returns the problem of a missing setting. A command that prints the API key may be
 * slow, so it is only run with `--status`, which needs current statuses.
 */
export async function connectToPoll(
  settings: Settings,
  { status, ...flags }: ConnectOptions & { status?: unknown },
  context: CommandContext,
): Promise<Connection | Problem> {
  const { command } = settings.apiKey;
  try {
    requiredValue('baseUrl', settings);
    if (command === undefined) requiredValue('apiKey', settings);
  } catch (error) {
    return problemOrThrow(error);
  }
  if (command !== undefined && status === undefined)
    return new Problem({
      name: 'usage',
      message: "the command that prints the API key isn't run for a list",
    });
  return connectWith(settings, flags, context, { needed: true });
}

/** Polls each of these runs once, then reads the errors of those that failed. */
export async function pollAll(
  entries: readonly Entry[],
  pollable: readonly RunEntry[],
  reached: Connection | Problem,
  { giveUpAfter }: ConnectOptions,
  { stdout, clock }: CommandContext,
): Promise<PolledList> {
  const missedBecause = (cause: Problem): PolledList => ({
    entries,
    missed: pollable.map((entry) => ({ entry, cause })),
  });
  if (reached instanceof Problem) return missedBecause(reached);
  const isCommandNeeded = pollable.length > 0 || reached.settings.apiKey.command === undefined;
  if (!isCommandNeeded) return { entries, missed: [] };
  try {
    await reached.readApiKey();
  } catch (error) {
    return missedBecause(problemOrThrow(error));
  }
  const maxMs =
    giveUpAfter ?? (stdout.isTTY ? defaults.listGiveUpAtTerminalMs : defaults.listGiveUpAfterMs);
  const refreshed = await refreshRuns(pollable, maxMs, reached);
  const current = entries.map((entry) => currentOf(entry, refreshed));
  const missed = pollable.flatMap((entry) => {
    const cause = refreshed.faults.get(entry.executionId);
    // If the service again says that it doesn't know the run, the poll has succeeded.
    const isConfirmed = entry.kind === 'not_found' && cause?.kind === 'not_found';
    return cause && !isConfirmed ? { entry, cause } : [];
  });
  const isAnswered = pollable.length === 0 || missed.length < pollable.length;
  return {
    entries: isAnswered ? await withErrors(current, clock.nowMs(), reached) : current,
    missed,
  };
}

/**
 * Adds the errors of failed runs whose result hasn't been read yet. Only open runs are read,
 * because there may be many others.
 */
async function withErrors(
  entries: readonly Entry[],
  nowMs: number,
  connection: Connection,
): Promise<Entry[]> {
  const isUnread = (entry: Entry): entry is KnownRun =>
    entry.kind === 'run' && entry.isFinal && !isSuccess(entry.status) && entry.error === undefined;
  const unread = entries.filter(isUnread).filter((entry) => isOpen(entry, nowMs));
  const finished = unread.map((entry) => ({ run: runOf(entry), snapshot: snapshotIn(entry) }));
  const results = await readResultsOfFailed(finished, connection);
  return entries.map((entry) => {
    const result = entry.kind === 'run' ? results.get(entry.executionId) : undefined;
    return result ? { ...entry, error: recordedErrorOf(result) } : entry;
  });
}
