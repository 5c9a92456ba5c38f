import fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { formatAge, formatAgo, formatDuration, localTime, parseDuration } from '../../src/system/time-text.ts';

describe('parseDuration', () => {
  test.each([
    ['500ms', 500],
    ['30s', 30_000],
    ['5m', 300_000],
    ['1h30m', 5_400_000],
    ['3h15m', 11_700_000],
    ['2d', 172_800_000],
    ['1d2h3m4s5ms', 93_784_005],
    ['1.5h', 5_400_000],
    ['0s', 0],
    ['007s', 7000],
  ])('reads %s as %d ms', (text, ms) => expect(parseDuration(text)).toBe(ms));

  const refused = '|0|30|30S|5 m| 5m|5m |5m\n|1h30|30m1h|1h1h|-5m|1e3s|.5s|5.s|2w|٣s|Infinitys|99999999999999999d';
  test.each(refused.split('|'))('refuses %j', (text) => expect(parseDuration(text)).toBeUndefined());

  test('adds up its parts', () => {
    const few = fc.nat(5000);
    fc.assert(
      fc.property(few, few, few, few, few, (d, h, m, s, ms) => {
        expect(parseDuration(`${d}d${h}h${m}m${s}s${ms}ms`)).toBe((((d * 24 + h) * 60 + m) * 60 + s) * 1000 + ms);
      }),
    );
  });

  test('returns undefined or a whole, non-negative number for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('1', '9', '.', 'd', 'h', 'm', 's', ' ', '-', 'e') }), (text) => {
        const ms = parseDuration(text) ?? 0;
        expect(Number.isSafeInteger(ms) && ms >= 0, `${ms} is a count of milliseconds`).toBe(true);
      }),
    );
  });
});

describe('formatDuration', () => {
  test.each([
    [0, '0s'],
    [-5, '0s'],
    [Number.NaN, '0s'],
    [0.4, '0s'],
    [450, '450ms'],
    [999.9, '999ms'],
    [1000, '1s'],
    [3250, '3.2s'],
    [9999, '9.9s'],
    [10_000, '10s'],
    [59_999, '59s'],
    [60_000, '1m'],
    [252_000, '4m 12s'],
    [3_599_999, '59m 59s'],
    [3_600_000, '1h'],
    [86_400_000, '1d'],
    [5_400_000, '1h 30m'],
    [10_800_000, '3h'],
    [183_600_000, '2d 3h'],
  ])('writes %d ms as %s', (ms, text) => expect(formatDuration(ms)).toBe(text));

  test.each([
    [-1, '0s'],
    [999, '0s'],
    [3_250, '3s'],
    [61_999, '1m 1s'],
  ])('writes %d ms as an age in whole seconds: %s', (ms, text) => expect(formatAge(ms)).toBe(text));

  test.each([
    [0, 'just now'],
    [252_000, '4m ago'],
    [183_600_000, '2d ago'],
  ])('writes how long ago %d ms are in one unit: %s', (ms, text) => {
    expect(formatAgo(ms)).toBe(text);
  });

  test('writes what parseDuration reads as the same time, or less than one unit before it', () => {
    fc.assert(
      fc.property(fc.nat(40 * 86_400_000), (ms) => {
        const readMs = parseDuration(formatDuration(ms).replace(' ', '')) ?? Number.NaN;
        const smallUnitMs = ms < 10_000 ? 100 : ms < 3_600_000 ? 1000 : ms < 86_400_000 ? 60_000 : 3_600_000;
        expect(readMs).toBeLessThanOrEqual(ms);
        expect(ms - readMs).toBeLessThan(smallUnitMs);
      }),
    );
  });
});

test.each(['UTC', 'America/St_Johns', 'Pacific/Apia'])(
  'a time is written as local time in %s, with its offset from UTC',
  (zone) => {
    vi.stubEnv('TZ', zone);
    onTestFinished(() => void vi.unstubAllEnvs());
    const seconds = fc.integer({ min: 0, max: 4_000_000_000 });
    fc.assert(
      fc.property(seconds, (second) => {
        const text = localTime(new Date(second * 1000).toISOString());
        expect(text).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4}$/);
        expect(Date.parse(text)).toBe(second * 1000);
        expect(Number(text.slice(11, 13))).toBe(new Date(second * 1000).getHours());
      }),
    );
  },
);
