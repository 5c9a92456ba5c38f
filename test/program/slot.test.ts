// An automation has one slot for a run: what becomes of a trigger that finds it taken.
import { describe, expect, test, vi } from 'vitest';
import { systemClock } from '../../src/process.ts';
import { loseResponse, type Scenario } from '../fault-kit/scenario.ts';
import { withMachine } from '../helpers/machine.ts';
import { executionId, projectId } from '../helpers/scripted-service.ts';
import { answer, startFaultyService } from '../helpers/server-faults.ts';

const runs = (duration: string, more: Scenario = {}): Scenario => ({ automations: { '*': { duration } }, ...more });
const named = { namesActiveRun: true };
const trigger = 'trigger nightly';
const waiting = `${trigger} --if-active wait`;

describe('`--if-active wait`', () => {
  test.each([true, false])(
    'starts one run when the active run has finished, with a new key for each try (the active run is named: %s)',
    async (namesActiveRun) => {
      const { run, elsewhere, ids, keys } = await withMachine(runs('5s', { namesActiveRun }));
      await elsewhere(trigger);
      const { code, stdout } = await run(`${waiting} -q`);
      expect([code, ids().slice(1)]).toEqual([0, [stdout.trim()]]);
      expect(new Set(keys()).size).toBe(keys().length);
    },
  );

  test.each([true, false])(
    'starts its run after a laptop has slept past the timeout (the active run is named: %s)',
    async (namesActiveRun) => {
      const { run, elsewhere, clock, ids } = await withMachine(runs('1h', { namesActiveRun }));
      await elsewhere(trigger);
      let pauses = 0;
      // It falls asleep in the third pause, for longer than the timeout.
      const sleep: typeof clock.sleep = async (ms, signal) => {
        if (++pauses === 3) clock.leap(5 * 3_600_000);
        await clock.sleep(ms, signal);
      };
      const { code } = await run(`${waiting} --timeout 4h`, { clock: { ...clock, sleep } });
      expect([code, ids().length]).toEqual([0, 2]);
    },
  );
});

test.each([
  ['at once', 0],
  ['the second while the first is sent', 1],
])('two triggers with one key that are skipped, %s, leave nothing to recover', async (_, sentBefore) => {
  const faults = [{ on: 'trigger', do: 'delay', delay: '300ms', nth: 2 }] as const;
  const { run, elsewhere, emulator } = await withMachine(runs('1h', { faults }));
  await elsewhere(trigger);
  const line = `${trigger} --if-active skip --idempotency-key k`;
  const first = run(line, { clock: systemClock });
  await vi.waitUntil(() => emulator.requests.length > sentBefore, { timeout: 10_000 });
  const ended = await Promise.all([first, run(line, { clock: systemClock })]);
  expect(ended.map(({ code }) => code)).toEqual([0, 0]);
  expect((await run('recover --json')).documents).toEqual([]);
});

test('an automation that no longer exists is not suggested for its own name', async () => {
  const { run, endRuns } = await withMachine({ faults: [{ on: 'trigger', nth: 2, do: 'status', status: 404 }] });
  expect((await run(trigger)).code).toBe(0);
  endRuns();
  const { code, stderr } = await run(trigger);
  expect([code, stderr]).toEqual([6, expect.not.stringMatching(/mean|runctl trigger '?nightly/)]);
});

describe('a run that this machine has no record of', () => {
  test.each(['status', 'result', 'watch'])('was active: `%s nightly` says so', async (command) => {
    const { run, elsewhere, clock, ids } = await withMachine(runs('10s', named));
    const isSaid = async (name: string) =>
      (await run(`${command} ${name} --json`)).documents[0].runctl.warnings.length > 0;
    await run(`${trigger} --watch -q`);
    await run('trigger weekly --watch -q');
    expect(await isSaid('nightly')).toBe(false);
    await elsewhere(trigger);
    expect((await run(trigger)).code).toBe(5);
    const { documents, stderr } = await run(`${command} nightly --json --quiet`);
    const [own, , other] = ids();
    expect(documents).toMatchObject([{ executionId: own, runctl: { warnings: [{ name: 'other_run' }] } }]);
    expect(stderr).toContain(`/nightly/${other}\n`);
    expect(await isSaid('weekly')).toBe(false);
    clock.leap(60_000);
    await run(`${trigger} --watch -q`);
    expect(await isSaid('nightly')).toBe(false);
  });

  test('is meant by a refusal that names none if the last one has finished', async () => {
    const { run, elsewhere } = await withMachine(runs('10s'));
    await run(`${trigger} --watch -q`);
    await elsewhere(trigger);
    expect((await run(trigger)).code).toBe(5);
    const { documents } = await run('status nightly --json');
    expect(documents).toMatchObject([{ runctl: { warnings: [{ name: 'other_run' }] } }]);
  });

  test('is not meant by a refusal that names none if the last one is still running', async () => {
    const { run } = await withMachine(runs('1h'));
    await run(trigger);
    expect((await run(trigger)).code).toBe(5);
    expect((await run('status nightly --json')).documents).toMatchObject([{ runctl: { warnings: [] } }]);
  });
});

describe('a refusal', () => {
  test("does not suggest to recover another automation's lost trigger", async () => {
    const faults = [loseResponse({ automation: 'b' })];
    const { run, elsewhere } = await withMachine(runs('1h', { faults }));
    await run('trigger b --give-up-after 1ms');
    await elsewhere('trigger a');
    expect(await run('trigger a')).toMatchObject({ code: 5, stderr: expect.not.stringContaining('runctl recover') });
  });

  test('among several triggers is reported once, at the end, if no run is watched', async () => {
    const { run } = await withMachine(runs('1h'));
    await run('trigger a');
    const { stderr } = await run('trigger a b --json');
    expect(stderr.match(/already running|\ba: /g)).toHaveLength(1);
  });
});

test('the outcome of a recovered run that failed is in its document, and does not change the exit code', async () => {
  const answers = [answer(503, '{}'), answer(200, JSON.stringify({ executionId, status: 'FAILED' }))];
  const { env } = await startFaultyService(() => answers.shift() ?? answer(500, '{}'));
  const { run } = await withMachine();
  expect((await run(`trigger ${projectId}/nightly --give-up-after 1ms`, { env })).code).toBe(12);
  const { code, documents } = await run('recover --json', { env });
  expect([code, documents]).toMatchObject([0, [{ runctl: { exitCode: 0, outcome: 'run_failed' } }]]);
});
