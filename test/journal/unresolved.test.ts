import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { NewRecord } from '../../src/journal/records.ts';
import { createUnresolvedLines, unresolvedOf } from '../../src/journal/unresolved.ts';
import { accepted, baseUrl, key, refused, triggered } from './records.ts';
import { createStateFolder, linesIn } from './state-folder.ts';

test.each([
  ['is as old as its record', 60_000, 60_000],
  ['may seem to come from the near future', -300_000, -300_000],
  ['has an unknown age where the clock was set back', -300_001, Number.POSITIVE_INFINITY],
])('a trigger %s: %d ms later it is %d ms old', (_, laterMs, ageMs) => {
  const { open, clock } = createStateFolder();
  open().append({ ...triggered(1), process: 'host 1 1' });
  clock.nowMs += laterMs;
  expect(open().unresolvedTriggers({ baseUrl })).toMatchObject([{ ageMs, senders: [{ process: 'host 1 1', ageMs }] }]);
});

test('a trigger of which every attempt has an outcome is none', () => {
  const entry = { isWhole: true };
  expect(() => unresolvedOf({ at: '', attempts: [], entry }, 0)).toThrow('every attempt');
});

test('of the lines, newest first, those of triggers that were accepted are left out, unless they are written otherwise', () => {
  const { open, folder } = createStateFolder();
  const odd = { idempotencyKey: 'a "b"' };
  const rows: [NewRecord, boolean][] = [
    [triggered(1), false],
    [accepted(1), false],
    [triggered(2), true],
    [{ ...triggered(3), ...odd }, true],
    [{ ...accepted(3), ...odd }, true],
    [refused(2), true],
    [{ type: 'forgotten', ...key(4) }, true],
  ];
  for (const [record] of rows) open().append(record);
  const lines = linesIn(folder).filter((line) => line !== '');
  const isWanted = createUnresolvedLines();
  expect(lines.toReversed().map(isWanted).reverse()).toEqual(rows.map(([, wanted]) => wanted));
  expect(isWanted('{"schema":1,"at":"20')).toBe(true);
});

test.each([
  ['has other bytes before it', (line: string) => `x${line}`],
  ['has other bytes behind it', (line: string) => `${line}x`],
  ['is torn', (line: string) => line.slice(0, -1)],
])('an acceptance that %s, and which is no record, leaves its trigger unresolved', (_, spoil) => {
  const { open, folder, file } = createStateFolder();
  for (const record of [triggered(1), accepted(1)]) open().append(record);
  const [sent = '', answered = ''] = linesIn(folder).filter((line) => line !== '');
  writeFileSync(file, `${sent}\n${spoil(answered)}\n`);
  expect(open().unresolvedTriggers({ baseUrl })).toHaveLength(1);
});

test('of a trigger that was sent again after it was accepted, every line is wanted', () => {
  const { open, folder } = createStateFolder();
  for (const record of [triggered(1), accepted(1), triggered(1)]) open().append(record);
  const lines = linesIn(folder).filter((line) => line !== '');
  expect(lines.toReversed().map(createUnresolvedLines())).toEqual([true, true, true]);
});
