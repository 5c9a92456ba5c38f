import type { JournalRun } from '../journal/fold.ts';
import { pathOf } from '../journal/records.ts';
import type { PastRuns, RecordedRun } from '../runs/statistics.ts';

/** The runs by base URL and target, for statistics. */
export function runsByTarget(runs: Iterable<JournalRun>): PastRuns[] {
  const groups = new Map<string, PastRuns>();
  for (const run of runs) {
    const { baseUrl, target } = run;
    if (run.executionId === null) continue;
    const id = `${baseUrl}\n${pathOf(target)}`;
    const group = groups.get(id) ?? { baseUrl, target, runs: [] };
    groups.set(id, group);
    group.runs.push(recordedRunOf(run));
  }
  return [...groups.values()];
}

function recordedRunOf({ status, startedAt, completedAt, creditsCharged: credits, at }: JournalRun): RecordedRun {
  return { status, startedMs: msOf(startedAt), endedMs: msOf(completedAt), credits, atMs: Date.parse(at) };
}

function msOf(time: string | null): number | null {
  const ms = Date.parse(time ?? '');
  return Number.isNaN(ms) ? null : ms;
}
