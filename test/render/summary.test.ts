import { describe, expect, test } from 'vitest';
import { summary } from '../../src/render/summary.ts';
import { createTheme, loadColors } from '../../src/render/theme.ts';
import { isFinalStatus } from '../../src/runs/statuses.ts';
import { executionId, run } from '../helpers/scripted-service.ts';

await loadColors({ colors: true });
const plain = createTheme({ colors: false, unicode: true });
const ascii = createTheme({ colors: false, unicode: false });
const colored = createTheme({ colors: true, unicode: true });

const times = { startedAt: '2026-01-02T03:00:00Z', completedAt: '2026-01-02T03:04:12Z' };
const execution = (status: string, fields = {}) => ({
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

test('a run that completed: its status, time, steps, cost and id, then its output', () => {
  const steps = { stepCount: 4, succeededSteps: 3, failedSteps: 0, skippedSteps: 1 };
  const watched = {
    run,
    execution: execution('COMPLETED', { creditsCharged: 7 }),
    result: result('COMPLETED', { summary: steps, output: 'Sent to 3 people.' }),
  };
  expect(summary(watched, plain, {})).toBe(`✔ COMPLETED nightly in 4m 12s
  steps    3 succeeded, 0 failed, 1 skipped of 4
  credits  7
  run      ${executionId}

Sent to 3 people.
`);
  expect(summary(watched, ascii, {})).toMatch(/^v COMPLETED nightly in 4m 12s\n/);
});

test('a run that failed: its error first', () => {
  const error = { type: 'step_failed', message: 'Step "Post": 403' };
  const watched = { run, execution: execution('FAILED'), result: result('FAILED', { error }) };
  expect(summary(watched, plain, {})).toBe(`✖ FAILED nightly after 4m 12s
  error    step_failed: Step "Post": 403
  credits  –
  run      ${executionId}
`);
});

test.each<[string, Parameters<typeof summary>[0], string]>([
  [
    'whose end only the result has',
    {
      run,
      execution: execution('CANCELLED', { completedAt: undefined }),
      result: result('CANCELLED', { completedAt: times.completedAt }),
    },
    `✖ CANCELLED nightly after 4m 12s\n  credits  –\n  run      ${executionId}\n`,
  ],
  [
    'without a result',
    { run, execution: execution('CANCELLED') },
    `✖ CANCELLED nightly after 4m 12s\n  credits  –\n  run      ${executionId}\n`,
  ],
  [
    'without times',
    { run, execution: { status: 'COMPLETED', isFinal: true, document: {} } },
    `✔ COMPLETED nightly\n  credits  –\n  run      ${executionId}\n`,
  ],
  ['with the result alone', { run, result: result('COMPLETED') }, `✔ COMPLETED nightly\n  run  ${executionId}\n`],
])('a run %s', (_, watched, text) => expect(summary(watched, plain, {})).toBe(text));

test.each([
  [{ succeededSteps: 2 }, '2 succeeded'],
  [{ stepCount: 3 }, 'of 3'],
  [{ stepCount: 0, succeededSteps: 0 }, '0 succeeded of 0'],
])('steps of which only %j is known', (steps, words) => {
  const watched = { run, execution: execution('COMPLETED'), result: result('COMPLETED', { summary: steps }) };
  expect(summary(watched, plain, {})).toMatch(new RegExp(`^ +steps +${words}$`, 'm'));
});

describe('the text of the service', () => {
  const hostile = 'a\u001B[2Jb\u202Ec\r\nd\u0007';
  const watched = {
    run: { ...run, target: { ...run.target, automationName: hostile } },
    execution: execution('COMPLETED'),
    result: result('COMPLETED', { output: hostile, error: { type: hostile, message: hostile } }),
  };

  test('is harmless on a terminal', () => {
    expect(summary(watched, plain, { columns: 80 })).not.toMatch(/(?!\n)\p{Cc}|\u202E/u);
  });

  test('is unchanged in a pipe where it is the output, harmless where it stands beside', () => {
    const text = summary(watched, plain, {});
    expect(text.endsWith(`\n${hostile}\n`)).toBe(true);
    expect(text.slice(0, -hostile.length - 1)).not.toMatch(/(?!\n)\p{Cc}|\u202E/u);
  });

  test('that ends with a line break gets no second one, and nothing where there is no output', () => {
    const output = (text: string) => summary({ ...watched, result: result('COMPLETED', { output: text }) }, plain, {});
    expect(output('one\n')).toMatch(/\n\none\n$/);
    expect(output('')).toMatch(new RegExp(`${executionId}\\n$`));
  });
});

test('colors change nothing but the colors', () => {
  const watched = { run, execution: execution('FAILED'), result: result('FAILED', { error: { type: 'run_failed' } }) };
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what colors are made of
  expect(summary(watched, colored, {}).replace(/\u001B\[\d+m/g, '')).toBe(summary(watched, plain, {}));
});
