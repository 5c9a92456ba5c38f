import fc from 'fast-check';
import { expect, test } from 'vitest';
import { localTime } from '../../src/runs/time-text.ts';

test('a time is written as the clock on the wall has it, and says how far that is from UTC', () => {
  const seconds = fc.integer({ min: 0, max: 4_000_000_000 });
  fc.assert(
    fc.property(seconds, (second) => {
      const text = localTime(new Date(second * 1000).toISOString());
      expect(text).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4}$/);
      expect(Date.parse(text)).toBe(second * 1000);
      expect(Number(text.slice(11, 13))).toBe(new Date(second * 1000).getHours());
    }),
  );
});
