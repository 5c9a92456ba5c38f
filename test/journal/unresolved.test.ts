import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { unresolvedOf } from '../../src/journal/fold.ts';
import { accepted, baseUrl, triggered } from './records.ts';
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
