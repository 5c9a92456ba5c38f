import { reported } from '../journal/fold.ts';
import { type Entry, executionIdOf, type KnownRun, type RunEntry, runOf } from '../run/entry.ts';
import type { Fault } from '../run/fault.ts';
import { pollOnce } from '../watch/ask.ts';
import type { Connection } from './connection.ts';

/** By id: what the service says now of each run that it answered for, and why it didn't for others. */
export interface Refreshed {
  current: ReadonlyMap<string, KnownRun>;
  faults: ReadonlyMap<string, Fault>; // has nothing of a run for which there was no response in time
}

// What only decorates a list must not keep the user waiting for it.
const longestRefreshMs = 3_000;

/** Polls each run once, for at most three seconds, and records the results. */
export async function refreshRuns(runs: readonly RunEntry[], connection: Connection): Promise<Refreshed> {
  const { context, journal, baseUrl, clock } = connection;
  const end = new AbortController();
  const signal = AbortSignal.any([end.signal, context.signal]);
  const current = new Map<string, KnownRun>();
  const faults = new Map<string, Fault>();
  const polls = runs.map(async (entry) => {
    const run = runOf(entry);
    const answer = await pollOnce(run, { ...connection, signal });
    if (answer.kind === 'ok') {
      journal.recordStatus(baseUrl, run, answer.value);
      current.set(run.executionId, reported(entry, answer.value, new Date(clock.nowMs()).toISOString()));
    } else if (!signal.aborted) faults.set(run.executionId, answer.fault);
  });
  const timer = clock.sleep(longestRefreshMs, end.signal);
  await Promise.race([Promise.all(polls), timer]);
  end.abort();
  await Promise.all(polls);
  return { current, faults };
}

/** What the journal has, or what the service says now. */
export const currentOf = (entry: Entry, { current }: Refreshed): Entry =>
  current.get(executionIdOf(entry) ?? '') ?? entry;
