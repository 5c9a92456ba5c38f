// An automation has one slot for a run: what becomes of a trigger that finds it taken.
import { expect, test } from 'vitest';
import type { Scenario } from '../fault-kit/scenario.ts';
import { withEmulator } from '../helpers/emulator.ts';
import { runProgram } from '../helpers/run-program.ts';
import { executionId, projectId } from '../helpers/scripted-service.ts';
import { answer, startFaultyService } from '../helpers/server-faults.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

test.each([
  ['named', true],
  ['not named', false],
])(
  '`--if-active wait` starts its run after a laptop has slept past the timeout, with the active one %s',
  async (_, isNamed) => {
    const scenario: Scenario = { automations: { '*': { duration: '1h' } }, namesActiveRun: isNamed };
    const { env, clock, emulator } = await withEmulator(scenario);
    // On another machine: the journal doesn't know the run.
    await runProgram(['trigger', 'nightly'], { env: { ...env, RUNCTL_STATE_DIR: temporaryFolder() }, clock });
    let pauses = 0;
    // It falls asleep in the third pause, for longer than the timeout.
    const sleep: typeof clock.sleep = async (ms, signal) => {
      if (++pauses === 3) clock.leap(5 * 3_600_000);
      await clock.sleep(ms, signal);
    };
    const { code } = await runProgram(['trigger', 'nightly', '--if-active', 'wait', '--timeout', '4h'], {
      env,
      clock: { ...clock, sleep },
    });
    expect([code, emulator.runs().length]).toEqual([0, 2]);
  },
);

test('while `--if-active wait` waits to repeat its key, `recover` leaves the trigger to it', async () => {
  const { env, clock, emulator } = await withEmulator({
    automations: { '*': { duration: '1h' } },
    order: 'activeFirst',
    namesActiveRun: true,
    faults: [{ on: 'trigger', nth: 1, do: 'loseAnswer' }],
  });
  let recovered = '';
  const sleep: typeof clock.sleep = async (ms, signal) => {
    if (recovered === '' && emulator.requests.some(({ method }) => method === 'GET'))
      recovered = (await runProgram(['recover'], { env, clock })).stderr;
    await clock.sleep(ms, signal);
  };
  const argv = ['trigger', 'nightly', '--if-active', 'wait', '--quiet'];
  const { code, stdout } = await runProgram(argv, { env, clock: { ...clock, sleep } });
  expect(recovered).toContain('is still being sent by');
  expect([code, stdout.trim()]).toEqual([0, emulator.runs()[0]?.executionId]);
  expect(emulator.runs()).toHaveLength(1);
});

test('an automation that is gone is not suggested to whoever asks for it', async () => {
  const gone = { on: 'trigger', nth: 2, do: 'status', status: 404 } as const;
  const { env, clock, endRuns } = await withEmulator({ faults: [gone] });
  expect((await runProgram(['trigger', 'nightly'], { env, clock })).code).toBe(0);
  endRuns();
  const { code, stderr } = await runProgram(['trigger', 'nightly'], { env, clock });
  expect(code).toBe(6);
  expect(stderr).not.toMatch(/mean|runctl trigger '?nightly/);
});

test.each([['status'], ['result'], ['watch']])(
  '`%s nightly` says that another run was active after the last one that this machine knows',
  async (command) => {
    const { env, clock, emulator } = await withEmulator({
      automations: { '*': { duration: '10s' } },
      namesActiveRun: true,
    });
    await runProgram(['trigger', 'nightly', '--watch', '-q'], { env, clock });
    await runProgram(['trigger', 'weekly', '--watch', '-q'], { env, clock });
    expect((await runProgram([command, 'nightly'], { env, clock })).stderr).not.toMatch('another run');
    await runProgram(['trigger', 'nightly'], { env: { ...env, RUNCTL_STATE_DIR: temporaryFolder() }, clock });
    expect((await runProgram(['trigger', 'nightly'], { env, clock })).code).toBe(5);
    const { stdout, stderr } = await runProgram([command, 'nightly', '--json', '--quiet'], { env, clock });
    const [own, , other] = emulator.runs();
    const { executionId, runctl } = JSON.parse(stdout);
    expect([executionId, runctl.warnings[0].name]).toEqual([own?.executionId, 'other_run']);
    expect(stderr).toMatch(`/nightly/${other?.executionId}\``);
    expect((await runProgram([command, 'weekly'], { env, clock })).stderr).not.toMatch('another run');
    clock.leap(60_000);
    await runProgram(['trigger', 'nightly', '--watch', '-q'], { env, clock });
    expect((await runProgram([command, 'nightly'], { env, clock })).stderr).not.toMatch('another run');
  },
);

test('a refusal that names no run is about the one that is still running', async () => {
  const { env, clock } = await withEmulator({ automations: { '*': { duration: '3h' } } });
  const run = (line: string) => runProgram(line.split(' '), { env, clock });
  await run('trigger nightly');
  expect((await run('trigger nightly')).code).toBe(5);
  expect(JSON.parse((await run('status nightly --json')).stdout).runctl.warnings).toEqual([]);
});

test('a refusal says since when the active run runs, not since when this machine knows of it', async () => {
  const scenario: Scenario = { automations: { '*': { duration: '3h' } }, namesActiveRun: true };
  const { env, clock, emulator } = await withEmulator(scenario);
  await runProgram(['trigger', 'nightly'], { env: { ...env, RUNCTL_STATE_DIR: temporaryFolder() }, clock });
  clock.leap(3_600_000);
  const [active] = emulator.runs();
  const { stdout } = await runProgram(['status', `nightly/${active?.executionId}`, '--json'], { env, clock });
  const { code, stderr } = await runProgram(['trigger', 'nightly'], { env, clock });
  const { startedAt } = JSON.parse(stdout);
  expect([code, stderr]).toEqual([5, expect.stringContaining(`since ${startedAt.slice(0, 19).replace('T', ' ')}`)]);
});

test('the outcome of a failed run that recover found is in its document, and not the exit code', async () => {
  const answers = [answer(503, '{}'), answer(200, JSON.stringify({ executionId, status: 'FAILED' }))];
  const { env } = await startFaultyService(() => answers.shift() ?? answer(500, '{}'));
  const { clock, env: folders } = await withEmulator({});
  const run = (line: string) => runProgram(line.split(' '), { env: { ...folders, ...env }, clock });
  expect((await run(`trigger ${projectId}/nightly --give-up-after 1ms`)).code).toBe(12);
  const { code, stdout } = await run('recover --json');
  expect([code, JSON.parse(stdout).runctl]).toMatchObject([0, { exitCode: 0, outcome: 'run_failed' }]);
});

test("another automation's lost trigger is no reason to recover when one is refused", async () => {
  const { env, clock } = await withEmulator({
    automations: { '*': { duration: '1h' } },
    namesActiveRun: false,
    faults: [{ on: 'trigger', automation: 'b', do: 'loseAnswer' }],
  });
  await runProgram(['trigger', 'b', '--give-up-after', '1ms'], { env, clock });
  const other = { ...env, RUNCTL_STATE_DIR: temporaryFolder() };
  await runProgram(['trigger', 'a'], { env: other, clock });
  const { code, stderr } = await runProgram(['trigger', 'a'], { env, clock });
  expect([code, stderr]).toEqual([5, expect.stringContaining('already running')]);
  expect(stderr).not.toContain('runctl recover');
});

test('a refusal among several triggers that nothing follows is said once, at the end', async () => {
  const { env, clock } = await withEmulator({ automations: { '*': { duration: '1h' } }, namesActiveRun: false });
  await runProgram(['trigger', 'a'], { env, clock });
  const { stderr } = await runProgram(['trigger', 'a', 'b', '--json'], { env, clock });
  expect(stderr.match(/already running|\ba: /g)).toHaveLength(1);
});

test('a refusal that names no run means another one if the last one that this machine knows had finished', async () => {
  const { env, clock } = await withEmulator({ automations: { '*': { duration: '10s' } }, namesActiveRun: false });
  await runProgram(['trigger', 'nightly', '--watch', '-q'], { env, clock });
  await runProgram(['trigger', 'nightly'], { env: { ...env, RUNCTL_STATE_DIR: temporaryFolder() }, clock });
  expect((await runProgram(['trigger', 'nightly'], { env, clock })).code).toBe(5);
  const { stdout } = await runProgram(['status', 'nightly', '--json'], { env, clock });
  expect(JSON.parse(stdout).runctl.warnings).toMatchObject([{ name: 'other_run' }]);
});
