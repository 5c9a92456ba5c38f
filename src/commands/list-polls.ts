import { type ConnectOptions, connectWith } from '../connection/connect.ts';
import type { Connection } from '../connection/connection.ts';
import { journalOf } from '../connection/open-journal.ts';
import { currentOf, refreshRuns } from '../connection/refresh.ts';
import type { CommandContext } from '../context.ts';
import type { Journal } from '../journal/journal.ts';
import { snapshotIn } from '../journal/run-handle.ts';
import { type Entry, isOpen, type KnownRun, type RunEntry, runOf } from '../run/entry.ts';
import type { Fault } from '../run/fault.ts';
import { defaults } from '../run/limits.ts';
import { Problem, problemOrThrow } from '../run/problem.ts';
import { isSuccess } from '../run/statuses.ts';
import { requiredValue, type Settings } from '../settings/resolve.ts';
import { readResultsOfFailed, recordedErrorOf } from '../watch/read-errors.ts';

/** A run that couldn't be polled, though its status may have changed, and why. */
export interface UnpolledRun {
  entry: RunEntry;
  cause: Fault | Problem;
}

/** The entries with their current statuses, newest first, and the runs that couldn't be polled. */
export interface PolledList {
  entries: readonly Entry[];
  unpolled: readonly UnpolledRun[];
}

/** Where a list comes from: the journal, and the service if runs can be polled. */
interface ListSource {
  journal: Journal;
  /** False with `--offline`, and if a setting is missing. Then nobody expects current statuses. */
  canPoll: boolean;
  /** Polls each of these runs once, then reads the errors of those that failed. */
  poll(entries: readonly Entry[], pollable: readonly RunEntry[]): Promise<PolledList>;
}

/** Opens the journal, and connects unless there are no settings, as with `--offline`. */
export async function openSource(
  settings: Settings | undefined,
  options: ConnectOptions & { status?: unknown },
  context: CommandContext,
): Promise<ListSource> {
  const connection = settings ? await connectToPoll(settings, options, context) : offlineProblem;
  if (connection instanceof Problem) {
    const poll: ListSource['poll'] = async (entries, pollable) =>
      allUnpolled(entries, pollable, connection);
    return { journal: journalOf(context, { needed: true }), canPoll: false, poll };
  }
  return {
    journal: connection.journal,
    canPoll: true,
    poll: (entries, pollable) => pollAll(entries, pollable, connection, options),
  };
}

/** Why no run is polled with `--offline`. It isn't printed, because the user has chosen that. */
const offlineProblem = new Problem({
  name: 'usage',
  message: 'with `--offline` nothing is polled',
});

/**
 * Connects, or returns the problem of a missing setting. A command that prints the API key may be
 * slow, so it is only run with `--status`, which needs current statuses.
 */
async function connectToPoll(
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

const allUnpolled = (
  entries: readonly Entry[],
  pollable: readonly RunEntry[],
  cause: Problem,
): PolledList => ({ entries, unpolled: pollable.map((entry) => ({ entry, cause })) });

async function pollAll(
  entries: readonly Entry[],
  pollable: readonly RunEntry[],
  connection: Connection,
  { giveUpAfter }: ConnectOptions,
): Promise<PolledList> {
  const { settings, context, clock } = connection;
  // A command that prints the API key isn't run if there is nothing to poll.
  if (pollable.length === 0 && settings.apiKey.command !== undefined)
    return { entries, unpolled: [] };
  try {
    await connection.readApiKey();
  } catch (error) {
    return allUnpolled(entries, pollable, problemOrThrow(error));
  }
  const { isTTY } = context.stdout;
  const maxMs =
    giveUpAfter ?? (isTTY ? defaults.listGiveUpAtTerminalMs : defaults.listGiveUpAfterMs);
  const refreshed = await refreshRuns(pollable, maxMs, connection);
  const current = entries.map((entry) => currentOf(entry, refreshed));
  const unpolled = pollable.flatMap((entry) => {
    const cause = refreshed.faults.get(entry.executionId);
    // If the service again says that it doesn't know the run, the poll has succeeded.
    const isConfirmed = entry.kind === 'not_found' && cause?.kind === 'not_found';
    return cause && !isConfirmed ? { entry, cause } : [];
  });
  const isAnswered = pollable.length === 0 || unpolled.length < pollable.length;
  return {
    entries: isAnswered ? await withErrors(current, clock.nowMs(), connection) : current,
    unpolled,
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
