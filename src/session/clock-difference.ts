import type { Context } from '../context.ts';
import type { JournalRun } from '../journal/journal.ts';
import { formatAge } from '../runs/duration.ts';
import { nameOf } from '../runs/run.ts';

const mostMs = 300_000; // how wrong a synchronized clock may be

/** How far this machine's clock was ahead of the service's when the run was recorded. Undefined if unknown. */
export function clockAheadMs({ startedAt, startSeenAt = '', notBeforeMs }: JournalRun): number | undefined {
  if (startedAt === null) return undefined;
  // A start can't be seen before it happened.
  const behindMs = Date.parse(startedAt) - Date.parse(startSeenAt);
  if (behindMs > mostMs) return -behindMs;
  if (notBeforeMs === undefined) return undefined;
  const aheadMs = notBeforeMs - Date.parse(startedAt);
  return aheadMs > mostMs ? aheadMs : 0;
}

/** Warns if the newest run with usable times shows that the clocks differ. Runs are newest first. */
export function warnOfClock(runs: Iterable<JournalRun>, { reporter }: Pick<Context, 'reporter'>): void {
  for (const run of runs) {
    const aheadMs = clockAheadMs(run);
    if (aheadMs === undefined) continue;
    if (aheadMs !== 0) reporter.observe({ event: 'warning', name: 'clock_differs', message: sentenceOf(run, aheadMs) });
    return;
  }
}

function sentenceOf({ target }: JournalRun, aheadMs: number): string {
  const roundedMs = Math.round(Math.abs(aheadMs) / mostMs) * mostMs;
  const how = `about ${formatAge(roundedMs)} ${aheadMs > 0 ? 'ahead of' : 'behind'}`;
  return `this machine's clock was ${how} the service's clock at the last ${nameOf(target)} run, so the times and ages shown here may be wrong; set the clock, and see \`runctl doctor\``;
}
