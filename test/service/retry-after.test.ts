import fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { parseHttpDate, retryAfterMs } from '../../src/service/retry-after.ts';

const nowMs = Date.UTC(2026, 10, 21, 9);
const noon = 'Sat, 21 Nov 2026 12:00:00 GMT';
const wait = (value: string, headers: Record<string, string> = {}) =>
  retryAfterMs({ 'retry-after': value, ...headers }, nowMs);

const second = fc.integer({ min: 0, max: 4_102_444_800 }).map((s) => new Date(s * 1000));

describe('Retry-After', () => {
  test.each([
    ['0', 0],
    ['7', 7000],
    ['007', 7000],
    [' 7\t', 7000],
    ['86400', 86_400_000],
    ['5, 6', 6000],
    ['600,7 , 8', 600_000],
    ['9999999999', 9_999_999_999_000],
  ])('of %j seconds is obeyed', (value, expectedMs) => expect(wait(value)).toBe(expectedMs));

  test.each(['99999999999', '9'.repeat(30), '9'.repeat(500)])('of %j is a very long wait, not none', (value) => {
    expect(wait(value)).toBeGreaterThanOrEqual(99_999_999_999_000);
    expect(wait(value)).toBeLessThan(Number.POSITIVE_INFINITY);
  });

  test.each([
    ['IMF-fixdate', 'Sat, 21 Nov 2026 09:00:30 GMT'],
    ['RFC 850', 'Saturday, 21-Nov-26 09:00:30 GMT'],
    ['asctime', 'Sat Nov 21 09:00:30 2026'],
  ])('with a date in the form of %s is obeyed', (_, value) => expect(wait(value)).toBe(30_000));

  test.each([noon, ` ${noon}\t`])('with a date is read by the clock of the service, %j, not by ours', (date) => {
    expect(wait('Sat, 21 Nov 2026 12:01:00 GMT', { date })).toBe(60_000);
  });

  test('with a date that names no time zone is in GMT, whatever the time zone of the machine', () => {
    const parse = Date.parse;
    const inApia = (text: string) => parse(text.endsWith('GMT') ? text : `${text} GMT+1300`);
    const mock = vi.spyOn(Date, 'parse').mockImplementation(inApia);
    onTestFinished(() => mock.mockRestore());
    expect(wait('Sat Nov 21 09:00:30 2026')).toBe(30_000);
  });

  test('with a date is read by our clock if the Date header is missing or malformed', () => {
    expect(wait(noon)).toBe(3 * 3_600_000);
    expect(wait(noon, { date: 'yesterday' })).toBe(3 * 3_600_000);
  });

  test('with a date in the past asks for no wait', () => expect(wait('Sun, 06 Nov 1994 08:49:37 GMT')).toBe(0));

  const malformed = '| |-1|+5|1.5|1e3|0x10|5 s|5, soon|5,|٣|soon|NaN|Infinity|2026-11-21T12:00:00Z';
  const malformedDates = [
    'Sat, 21 Nov 2026 12:00:00',
    'Sat, 21 Nov 2026 12:00:00 +0100',
    'sat, 21 nov 2026 12:00:00 gmt',
    'Sat, 1 Nov 2026 12:00:00 GMT',
    'Sat, 99 Nov 2026 12:00:00 GMT',
    'Sat, 21 Foo 2026 12:00:00 GMT',
    'Sat, 21 Nov 2026 99:00:00 GMT',
    'Saturday, 21-Nov-2026 12:00:00 GMT',
  ];
  test.each([...malformed.split('|'), ...malformedDates])('of %j is malformed and asks for nothing', (value) =>
    expect(wait(value)).toBeUndefined(),
  );

  test('that is missing asks for nothing', () => expect(retryAfterMs({}, nowMs)).toBeUndefined());

  test('of any text gives a wait that is never negative and always a number', () => {
    const header = fc.oneof(
      fc.string(),
      fc.bigInt().map(String),
      second.map((date) => date.toUTCString()),
    );
    fc.assert(
      fc.property(header, header, fc.integer({ min: 0, max: 2 ** 43 }), (value, date, clockMs) => {
        const ms = retryAfterMs({ 'retry-after': value, date }, clockMs);
        expect(ms === undefined || (ms >= 0 && Number.isFinite(ms))).toBe(true);
      }),
    );
  });

  test('with any date that JavaScript writes in the preferred form is read back', () => {
    fc.assert(fc.property(second, (date) => void expect(parseHttpDate(date.toUTCString())).toBe(date.getTime())));
  });
});
