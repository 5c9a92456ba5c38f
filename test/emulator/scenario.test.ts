import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { builtInScenarios, findBuiltInScenario } from '../../src/emulator/built-in-scenarios.ts';
import { parseScenario, readScenario } from '../../src/emulator/read-scenario.ts';
import type { Scenario } from '../../src/emulator/scenario.ts';
import { Problem } from '../../src/problems/problem.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { createEmulatorHarness } from './harness.ts';
import { objectNames } from './object-names.ts';

function mistakeIn(text: string): string {
  try {
    parseScenario(text, 'my.json');
  } catch (error) {
    if (error instanceof Problem && error.exitCode === 2) return error.message;
    throw error;
  }
  return 'none';
}

describe('parseScenario', () => {
  test('takes an empty document', () => {
    expect(parseScenario('{}', 'my.json')).toEqual({});
  });

  test('takes every field there is', () => {
    const scenario: Scenario = {
      automations: {
        'a name': {
          duration: '1h30m',
          outcome: ['FAILED', 'COMPLETED'],
          statusLate: '500ms',
          steps: { count: 3, failed: 1, skipped: 2 },
          output: null,
          error: { type: 'reaped', message: '' },
          creditsCharged: 1.5,
          resultLate: '2s',
          extra: { region: { name: 'north' } },
        },
      },
      faults: [
        {
          on: 'any',
          automation: 'a',
          during: { after: '1h', for: '5m' },
          nth: 1,
          from: 1,
          to: 2,
          every: 1,
          chance: 0.5,
          do: 'status',
          status: 502,
          body: [],
          headers: { 'X-Request-Id': 'r 1' },
          acts: true,
        },
        { do: 'html', status: 200 },
        { do: 'hang', acts: false },
        { do: 'loseAnswer' },
        { do: 'wrongJson' },
        { do: 'drip', gap: '5ms' },
        { do: 'delay', delay: '1s' },
      ],
      errorShape: 'problem',
      order: 'activeFirst',
      replayErrors: true,
      namesActiveRun: true,
      rateLimit: { requests: 5, window: '1m', on: 'any', retryAfter: 'date' },
      credits: 0,
      runLimit: '1m',
      apiKeys: ['second'],
    };
    expect(parseScenario(JSON.stringify(scenario), 'my.json')).toEqual(scenario);
  });

  test.each<[string, string]>([
    ['', "my.json can't be read as JSON"],
    ['sk-live-0123', "my.json can't be read as JSON"],
    ['{\u0000}', "my.json can't be read as JSON at position 1"],
    ['{"credits":1,}', "my.json can't be read as JSON at position 13"],
    ['[]', 'my.json: a scenario is a JSON object'],
    ...objectNames.map((name): [string, string] => [`{"${name}":1}`, `my.json: ${name} is not a field of a scenario`]),
    ['{"automations":[]}', 'my.json: automations must be an object, not Array'],
    ['{"automations":{"constructor":5}}', 'my.json: automations.constructor must be Object, not 5'],
    ['{"fault":[]}', 'my.json: fault is not a field of a scenario'],
    ['{"automations":{"*":{"durationMs":5}}}', 'my.json: automations["*"].durationMs is not a field of a scenario'],
    [
      '{"automations":{"a b":{"duration":"5"}}}',
      'my.json: automations["a b"].duration must be a duration such as 500ms, 30s, 5m or 1h30m, not "5"',
    ],
    ['{"automations":{"a":{"duration":5}}}', 'my.json: automations.a.duration must be string, not 5'],
    ['{"automations":{"a":{"creditsCharged":-1}}}', 'my.json: automations.a.creditsCharged must be 0 or more, not -1'],
    [
      '{"automations":{"a":{"steps":{"count":1,"failed":2}}}}',
      'my.json: automations.a.steps must be a count (default: 3), at least the failed and skipped steps together, not Object',
    ],
    ['{"automations":{"a":{"error":{"type":"x"}}}}', 'my.json: automations.a.error.message is missing'],
    ['{"order":"first"}', 'my.json: order must be keyFirst or activeFirst, not "first"'],
    ['{"faults":[{"do":"reset"},{"nth":1}]}', 'my.json: faults[1].do is missing'],
    ['{"faults":[{"do":"status"}]}', 'my.json: faults[0].status is missing'],
    ['{"faults":[{"do":"reset","delay":"1s"}]}', 'my.json: faults[0].delay is not a field of a scenario'],
    ['{"faults":[{"do":"reset","nth":0}]}', 'my.json: faults[0].nth must be 1 or more, not 0'],
    [
      '{"faults":[{"do":"status","status":99}]}',
      'my.json: faults[0].status must be an HTTP status from 200 to 599, not 99',
    ],
    [
      '{"faults":[{"do":"status","status":502,"headers":{"x":"a\\nb"}}]}',
      'my.json: faults[0].headers.x must be a header value, not "a\\nb"',
    ],
  ])('refuses %s', (text, message) => {
    expect(mistakeIn(text)).toBe(message);
  });

  test.each([
    '{"faults":[{"do":"explode"}]}',
    '{"automations":{"a":{"outcome":"DONE"}}}',
    '{"automations":{"a":{"outcome":[]}}}',
  ])('names the field in %s', (text) => {
    expect(mistakeIn(text)).toMatch(/^my\.json: (?:faults\[0\]\.do|automations\.a\.outcome) must be .*, not ./);
  });
});

describe('readScenario refuses', () => {
  function writeZeros(path: string, bytes: number): void {
    writeFileSync(path, '');
    truncateSync(path, bytes);
  }
  test.each<[string, (path: string) => void, RegExp]>([
    ['a file that is not there', () => {}, /can't be read: ENOENT/],
    ['a FIFO that nobody writes into', (path) => execFileSync('mkfifo', [path]), /is not a file/],
    ['a link to a device that never ends', (path) => symlinkSync('/dev/zero', path), /is not a file/],
    ['a folder', (path) => mkdirSync(path), /is not a file/],
    ['100 MB', (path) => writeZeros(path, 100_000_000), /is larger than 1024 KiB/],
    ['NULs', (path) => writeZeros(path, 1000), /can't be read as JSON/],
  ])('%s', async (_, make, message) => {
    const path = join(temporaryFolder(), 'my.json');
    make(path);
    await expect(readScenario(path)).rejects.toMatchObject({ exitCode: 2, message: expect.stringMatching(message) });
  });
});

test.runIf(process.platform === 'linux')('readScenario refuses a file that fails as it is read', async () => {
  await expect(readScenario('/proc/self/mem')).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringMatching(/EIO/),
  });
});

describe('the built-in scenarios', () => {
  test.each(builtInScenarios)('$name reads as a scenario', ({ scenario }) => {
    expect(parseScenario(JSON.stringify(scenario), 'built-in')).toEqual(scenario);
  });

  test('have names and one line about each', () => {
    expect(new Set(builtInScenarios.map(({ name }) => name)).size).toBe(builtInScenarios.length);
    for (const { name, about } of builtInScenarios) expect(`${name}: ${about}`).toMatch(/^[a-z0-9-]+: \S.*\S$/);
  });

  test('every-ending shows every final status and every type of error', () => {
    const { scenario } = builtInScenarios.find(({ name }) => name === 'every-ending') ?? {};
    const harness = createEmulatorHarness(scenario);
    const endings = Object.keys(scenario?.automations ?? {}).map((name) => {
      const { executionId } = harness.trigger(name).json();
      harness.pass(5000);
      const { status, error } = harness.result(executionId, name).json();
      return error ? `${status} ${error.type}` : status;
    });
    expect(endings.toSorted()).toEqual([
      'CANCELLED',
      'COMPLETED',
      'FAILED lease_lost',
      'FAILED not_runnable',
      'FAILED reaped',
      'FAILED run_failed',
      'FAILED step_failed',
      'TIMED_OUT timed_out',
    ]);
  });

  test('bad-day has its bad hours, completes all the same, and takes the last credits', () => {
    const harness = createEmulatorHarness(findBuiltInScenario('bad-day'));
    const key = 'nightly-2026-11-21';
    expect(() => harness.trigger('nightly', { key })).toThrow('no answer: loseAnswer');
    const { executionId } = harness.trigger('nightly', { key }).json();
    const seen = new Set<string>();
    for (let minutes = 0; minutes < 170; minutes += 1) {
      const { reply, wire, fault } = harness.deliver(
        'GET',
        harness.automationUrl('nightly', `executions/${executionId}`),
      );
      seen.add(`${fault ?? 'good'} ${reply?.status ?? wire}`);
      harness.pass(60_000);
    }
    expect([...seen]).toEqual(['good 200', 'status 429', 'status 502', 'reset reset', 'html 200']);
    expect(harness.status(executionId).json().status).toBe('COMPLETED');
    expect(harness.trigger().status).toBe(402);
  });

  test.each(['bad-day', 'bad-day.json'])('%s names the built-in one', (name) => {
    expect(findBuiltInScenario(name)).toBe(builtInScenarios.find((builtIn) => builtIn.name === 'bad-day')?.scenario);
  });

  test.each(['./bad-day.json', 'bad-day.json.json', 'bad day', '', ...objectNames])('%j names none of them', (name) => {
    expect(findBuiltInScenario(name)).toBeUndefined();
  });
});
