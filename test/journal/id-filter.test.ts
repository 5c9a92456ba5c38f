import { expect, test } from 'vitest';
import { createIdFilter } from '../../src/journal/id-filter.ts';
import { status, uuid } from './records.ts';

const numbers = Array.from({ length: 300 }, (_, n) => n);
const fileOf = (ids: string[]) =>
  Buffer.from(ids.map((executionId) => `${JSON.stringify({ ...status(1, 'RUNNING'), executionId })}\n`).join(''));

test('every id of the files may be in them, whatever its case, and nearly no other', () => {
  const mayHold = createIdFilter([fileOf(numbers.map(uuid)), fileOf(['ABC-def_1', 'a'])]);
  for (const id of [...numbers.map(uuid), 'abc-DEF_1', 'A']) expect(mayHold(id), id).toBe(true);
  expect(numbers.map((n) => uuid(1000 + n)).filter(mayHold).length).toBeLessThan(5);
  expect(['', 'b', 'abc', 'abc-def_10', 'key-1', 'RUNNING'].map((id) => id !== '' && mayHold(id))).not.toContain(true);
});

test('an id that JSON may write otherwise may be in any file', () => {
  expect(['a"b', 'é', 'a b', ''].map(createIdFilter([]))).toEqual([true, true, true, true]);
});

test('the end of a file that is torn within an id is no trouble', () => {
  const whole = fileOf([uuid(1), uuid(2)]);
  const mayHold = createIdFilter([whole.subarray(0, whole.lastIndexOf(uuid(2)) + 9)]);
  expect([mayHold(uuid(1)), mayHold(uuid(2))]).toEqual([true, false]);
});
