import { describe, expect, test } from 'vitest';
import { renderSummary } from '../../src/output/summary.ts';
import { createTheme } from '../../src/output/theme.ts';
import { isFinalStatus } from '../../src/run/statuses.ts';
import { executionId, run } from '../helpers/scripted-service.ts';

const plain = createTheme({ colors: false, unicode: true });

const times = { startedAt: '2026-01-02T03:00:00Z', completedAt: '2026-01-02T03:04:12Z' };
const state = (status: string, fields = {}) => ({
  executionId,
  status,
  isFinal: isFinalStatus(status),
  document: {},
  ...times,
  ...fields,
});
const result = (status: string, fields = {}) => ({
  status,
  isFinal: isFinalStatus(status),
  document: {},
  ...fields,
});

// How a whole summary reads is in test/words.txt.

const untimed = state('COMPLETED', { startedAt: undefined, completedAt: undefined });
const startedOnly = state('CANCELLED', { completedAt: undefined });

test.each<[string, Parameters<typeof renderSummary>[0], RegExp]>([
  ['whose end only the result has', { run, snapshot: startedOnly, result: result('CANCELLED', times) }, / 4m 12s\n/],
  ['without times', { run, snapshot: state('COMPLETED', { startedAt: undefined }) }, /^✔ COMPLETED nightly\n/],
  ['whose cost is not known', { run, snapshot: state('COMPLETED') }, / –\n/],
  [
    'with the result alone',
    { run, snapshot: untimed, result: result('COMPLETED'), isResultOnly: true },
    /^✔ COMPLETED nightly\n +\w+ +[\da-f-]{36}\n$/,
  ],
])('a run %s', (_, watched, text) => expect(renderSummary(watched, plain, {})).toMatch(text));

test.each([
  [{ succeededSteps: 2 }, '2'],
  [{ stepCount: 3 }, '3'],
  [{ stepCount: 0, succeededSteps: 0 }, '0 0'],
  [{ stepCount: 4, succeededSteps: 3, failedSteps: 0, skippedSteps: 1 }, '3 0 1 4'],
])('the line of steps has only the known numbers: %j', (steps, numbers) => {
  const watched = { run, snapshot: state('COMPLETED'), result: result('COMPLETED', { summary: steps }) };
  const [, line] = renderSummary(watched, plain, {}).split('\n');
  expect(line?.match(/\d+/g)?.join(' ')).toBe(numbers);
});

describe('the text of the service', () => {
  const hostile = 'a\u001B[2Jb\u202Ec\r\nd\u0007';
  const watched = {
    run: { ...run, target: { ...run.target, automationName: hostile } },
    snapshot: state('COMPLETED'),
    result: result('COMPLETED', { output: hostile, error: { type: hostile, message: hostile } }),
  };

  test('is made harmless on a terminal', () => {
    expect(renderSummary(watched, plain, { columns: 80 })).not.toMatch(/(?!\n)\p{Cc}|\u202E/u);
  });

  test('is unchanged in a pipe if it is the output, and made harmless everywhere else', () => {
    const text = renderSummary(watched, plain, {});
    expect(text.endsWith(`\n${hostile}\n`)).toBe(true);
    expect(text.slice(0, -hostile.length - 1)).not.toMatch(/(?!\n)\p{Cc}|\u202E/u);
  });

  test('gets a line break only if it has none, and is empty if there is no output', () => {
    const output = (text: string) =>
      renderSummary({ ...watched, result: result('COMPLETED', { output: text }) }, plain, {});
    expect(output('one\n')).toMatch(/\n\none\n$/);
    expect(output('')).toMatch(new RegExp(`${executionId}\\n$`));
  });
});
