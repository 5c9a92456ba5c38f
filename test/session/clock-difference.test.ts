import { expect, test } from 'vitest';
import type { NewRecord } from '../../src/journal/records.ts';
import { clockAheadMs } from '../../src/session/clock-difference.ts';
import { accepted, status, triggered } from '../journal/records.ts';
import { createStateFolder } from '../journal/state-folder.ts';

const minute = 60_000;
const day = 86_400_000;
const hereMs = Date.parse('2026-11-21T03:00:00Z'); // the state folder's clock
const at = (ms: number) => new Date(hereMs + ms).toISOString();

const given = { ...triggered(1), userProvided: true } as const;
const ended = (ms: number) => ({ ...status(1, 'COMPLETED'), startedAt: at(ms), completedAt: at(ms + minute) });

test.each<[string, NewRecord[], number | undefined]>([
  ['began as it was triggered', [triggered(1), accepted(1), ended(-minute)], 0],
  ['began four minutes before its trigger', [triggered(1), { ...accepted(1), startedAt: at(-4 * minute) }], 0],
  ['began two days before its trigger', [triggered(1), { ...accepted(1), startedAt: at(-2 * day) }], 2 * day],
  ['was found by its given key a day later', [given, { ...accepted(1), startedAt: at(-day) }], 0],
  ['began two days before the first use of its key', [given, { ...accepted(1), startedAt: at(-2 * day) }], day],
  ['was only looked at, days later', [ended(-2 * day)], undefined],
  ['began after that was recorded', [{ ...status(1, 'RUNNING'), startedAt: at(6 * minute) }], -6 * minute],
  // As at a copy of the service whose clock is fast.
  [
    'ends in the future',
    [triggered(1), accepted(1), { ...status(1, 'COMPLETED'), startedAt: at(0), completedAt: at(day) }],
    0,
  ],
  ['has no times', [triggered(1), accepted(1)], undefined],
])('a run that %s says how far our clock is ahead', (_, records, aheadMs) => {
  const { open } = createStateFolder();
  const journal = open();
  for (const record of records) journal.append(record);
  expect([...open().runs()].map(clockAheadMs)).toEqual([aheadMs]);
});
