import { describe, expect, onTestFinished, test } from 'vitest';
import { type ScenarioName, scenarios } from '../../src/emulator/scenarios.ts';
import { startEmulator } from '../../src/emulator/server.ts';
import { createService } from '../../src/emulator/service.ts';
import { createHarness } from '../emulator/harness.ts';
import { projectId } from '../fault-kit/start.ts';
import { environmentIn } from '../helpers/environment-in.ts';
import { createLeapingClock } from '../helpers/leaping-clock.ts';
import { runProgram } from '../helpers/run-program.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

/** The program beside an emulator that plays a scenario. */
async function playing(name: ScenarioName, speed = 1) {
  const clock = createLeapingClock();
  const service = createService(scenarios[name].automations, ['key-of-the-test']);
  const emulator = await startEmulator({ service, speed, nowMs: clock.nowAtServiceMs });
  onTestFinished(() => emulator.close());
  const env = environmentIn(temporaryFolder(), { url: emulator.url, apiKey: 'key-of-the-test', projectId });
  const run = (line: string) => runProgram(line.split(' '), { env, clock });
  return { emulator, clock, run };
}

test.each<[ScenarioName, string, number, string]>([
  ['happy', 'trigger nightly --watch', 0, '1 trigger, 1 run, 0 runs started twice, 0 results not read'],
  ['failing', 'trigger nightly --watch', 1, '1 trigger, 1 run, 0 runs started twice, 0 results not read'],
  ['lost-answer', 'trigger nightly --watch', 0, '2 triggers, 1 run, 0 runs started twice, 0 results not read'],
  ['keys-ignored', 'trigger nightly --watch', 12, '2 triggers, 1 run, 0 runs started twice, 0 results not read'],
  ['keys-ignored', 'trigger quick --watch', 0, '2 triggers, 2 runs, 1 run started twice, 1 result not read'],
  ['keys-ignored', 'doctor --try-key steady --yes', 0, '3 triggers, 2 runs, 0 runs started twice, 1 result not read'],
  ['active', 'trigger nightly --watch', 5, '1 trigger, 0 runs, 0 runs started twice, 0 results not read'],
  ['active', 'trigger nightly --watch --if-active wait', 0, ' 1 run, 0 runs started twice, 0 results not read'],
])('in the scenario %s, %s exits with %i', async (name, line, code, summary) => {
  const { emulator, run } = await playing(name);
  expect((await run(line)).code).toBe(code);
  expect(emulator.summary()).toContain(summary);
});

describe('the scenario every-ending', () => {
  const { description, automations } = scenarios['every-ending'];
  const promised = [...description.matchAll(/([a-z-]+)=(\d+)/g)].map(
    ([, name = '', code]) => [name, Number(code)] as const,
  );

  test('names each of its automations with an exit code', () => {
    expect(promised.map(([name]) => name)).toEqual(Object.keys(automations));
  });

  test.each(promised)(
    'has the automation %s, after which runctl exits with %i within 10 seconds',
    async (name, code) => {
      const { clock, run } = await playing('every-ending');
      for (const time of ['first', 'second']) {
        const startMs = clock.elapsedMs();
        expect((await run(`trigger ${name} --watch`)).code, `the ${time} time`).toBe(code);
        expect(clock.elapsedMs() - startMs).toBeLessThan(10_000);
        clock.leap(60_000);
      }
    },
  );
});

describe('the scenario bad-day', () => {
  test('completes one run at --speed 1200', async () => {
    const { emulator, run } = await playing('bad-day', 1200);
    expect((await run('trigger nightly --watch --quiet')).code).toBe(0);
    expect(emulator.summary()).toContain('2 triggers, 1 run, 0 runs started twice, 0 results not read');
  });

  test('has every kind of failure during the run', () => {
    const harness = createHarness(createService(scenarios['bad-day'].automations, ['key-1']));
    const { executionId } = harness.trigger('nightly', { key: 'k' }).json();
    const seen = new Set<string>();
    for (let minutes = 0; minutes < 170; minutes += 1) {
      const { status, failure, headers } = harness.deliver(
        'GET',
        harness.automationUrl('nightly', `executions/${executionId}`),
      );
      seen.add([status, failure, headers['content-type']?.split(';')[0]].filter(Boolean).join(' '));
      harness.pass(60_000);
    }
    expect([...seen]).toEqual([
      '200 application/json',
      '429 outage application/json',
      '502 outage text/html',
      '200 response lost application/json',
      '200 outage text/html',
    ]);
  });
});
