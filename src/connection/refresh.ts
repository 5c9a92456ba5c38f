import { withReport } from '../journal/fold-run.ts';
import { type Entry, executionIdOf, type KnownRun, type RunEntry, runOf } from '../run/entry.ts';
import { type Fault, isOverload } from '../run/fault.ts';
import { defaults } from '../run/limits.ts';
import type { Service } from '../run/service.ts';
import { formatDuration } from '../system/time-text.ts';
import { fetchStatusOnce } from '../watch/fetch-run.ts';
import type { Connection } from './connection.ts';

/**
 * The results of polling several runs, by id: the current status of each run, or the fault of the
 * poll.
 */
interface Refreshed {
  current: ReadonlyMap<string, KnownRun>;
  faults: ReadonlyMap<string, Fault>;
}

/** Polls each run once and records the statuses. All polls together take at most `maxMs`. */
export async function refreshRuns(
  runs: readonly RunEntry[],
  maxMs: number,
  connection: Connection,
): Promise<Refreshed> {
  const { context, service, limiter, journal, baseUrl, clock } = connection;
  const end = new AbortController();
  const signal = AbortSignal.any([end.signal, context.signal]);
  const current = new Map<string, KnownRun>();
  const faults = new Map<string, Fault>();
  let pausedBy: Fault | undefined;
  const poll = async (entry: RunEntry) => {
    const run = runOf(entry);
    let isSent = false;
    const status: Service['status'] = (...request) => {
      isSent = true;
      return service.status(...request);
    };
    const ports = { ...connection, signal, service: { ...service, status } };
    const answer = await fetchStatusOnce(run, ports);
    if (answer.kind === 'ok') {
      journal.recordStatus(baseUrl, run, answer.value);
      const polledAt = new Date(clock.nowMs()).toISOString();
      current.set(run.executionId, withReport(entry, answer.value, polledAt));
      return;
    }
    if (signal.aborted) {
      const fault = isSent ? tooSlow(maxMs) : (pausedBy ?? tooMany(maxMs, runs.length));
      faults.set(run.executionId, fault);
      return;
    }
    faults.set(run.executionId, answer.fault);
    if (!isOverload(answer.fault)) return;
    pausedBy = answer.fault;
    limiter.pausePolls(answer.fault.retryAfterMs ?? 0);
  };
  const polls = runs.map(poll);
  const timer = clock.sleep(maxMs, end.signal);
  await Promise.race([Promise.all(polls), timer]);
  end.abort();
  await Promise.all(polls);
  return { current, faults };
}

const tooSlow = (maxMs: number): Fault => ({
  kind: 'lost',
  message: `no response within ${formatDuration(maxMs)}`,
  hint: 'give it more time with `--give-up-after 5m`',
});

/**
 * The rate limiter gave no permit in time. The hint names a time that is enough for this number of
 * runs at the default rate.
 */
function tooMany(maxMs: number, runs: number): Fault {
  const minutes = Math.max(5, Math.ceil(runs / defaults.rate / 60) + 1);
  return {
    kind: 'no_permit',
    message: `${formatDuration(maxMs)} isn't enough to poll all runs`,
    hint: `give it more time with \`--give-up-after ${minutes}m\``,
  };
}

/** An entry with the current status, or as the journal has it if the run wasn't polled. */
export const currentOf = (entry: Entry, { current }: Refreshed): Entry =>
  current.get(executionIdOf(entry) ?? '') ?? entry;
