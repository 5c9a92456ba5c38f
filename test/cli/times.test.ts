import { InvalidArgumentError } from 'commander';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { moment } from '../../src/cli/values.ts';
import { localTime } from '../../src/system/time-text.ts';

const nowMs = Date.parse('2026-11-22T03:00:00Z');
const zone = process.env.TZ;

// At 22:00 of the 21st, there.
beforeEach(() => Object.assign(process.env, { TZ: 'America/New_York' }));
afterEach(() => Object.assign(process.env, { TZ: zone }));

test.each([
  ['2d', '2026-11-20T03:00:00Z'],
  ['today', '2026-11-21T05:00:00Z'],
  ['yesterday', '2026-11-20T05:00:00Z'],
  ['2026-11-16', '2026-11-16T05:00:00Z'],
  ['2026-07-16', '2026-07-16T04:00:00Z'],
  ['2026-11-16T02:00', '2026-11-16T07:00:00Z'],
  ['2026-11-16 02:00:30', '2026-11-16T07:00:30Z'],
  ['2026-11-16T02:00Z', '2026-11-16T02:00:00Z'],
  ['2026-11-16T02:00:00+01:00', '2026-11-16T01:00:00Z'],
  ['2026-11-16 02:00:00 -0500', '2026-11-16T07:00:00Z'],
])('%s is read as a person in that time zone means it: %s', (text, time) => {
  expect(new Date(moment(text)(nowMs)).toISOString()).toBe(time.replace('Z', '.000Z'));
});

test.each([
  // At 22:00 of the 2nd, there; it is an hour more than a day since the 1st began.
  ['America/New_York', '2026-11-03T03:00:00Z', '2026-11-01T04:00:00Z'],
  // At 8:00 of the 6th, there, which began at 1:00.
  ['America/Santiago', '2026-09-06T11:00:00Z', '2026-09-05T04:00:00Z'],
])('yesterday is a whole day even if the clocks of %s have changed', (TZ, now, time) => {
  Object.assign(process.env, { TZ });
  expect(moment('yesterday')(Date.parse(now))).toBe(Date.parse(time));
});

test('a time that is shown can be typed', () => {
  expect(moment(localTime(nowMs))(0)).toBe(nowMs);
});

test.each(['2', 'tomorrow', '2026-11', '2026-11-16T', '2026-13-01', '2026-11-31', '02:00', '-2d'])(
  '%s is refused',
  (text) => {
    expect(() => moment(text)).toThrow(InvalidArgumentError);
  },
);
