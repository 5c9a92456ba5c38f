import { expect, test } from 'vitest';
import { withEmulator } from '../helpers/emulator.ts';
import { runProgram } from '../helpers/run-program.ts';
import { executionId, projectId } from '../helpers/scripted-service.ts';
import { answer, startFaultyService } from '../helpers/server-faults.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

/** A machine on which one run of nightly has been started, which may have ended since. */
async function withRun({ hasEnded = true } = {}) {
  const plan = { duration: '1m', outcome: 'FAILED', output: 'half of it', error: null } as const;
  const { env, endRuns } = await withEmulator({ automations: { '*': plan } });
  const { stdout } = await runProgram(['trigger', 'nightly'], { env });
  if (hasEnded) endRuns();
  return { id: stdout.trim(), run: (...argv: string[]) => runProgram(argv, { env }) };
}

test('status and result show a run that failed; status exits with its code if that is asked for', async () => {
  const { run } = await withRun();
  const stdout = expect.stringContaining('FAILED');
  expect(await run('status')).toMatchObject({ code: 0, stdout });
  expect(await run('status', '--quiet')).toMatchObject({ code: 0, stdout: '' });
  expect(await run('status', '--exit-status')).toMatchObject({ code: 1, stdout });
  expect(await run('status', '--exit-status', '--quiet')).toMatchObject({ code: 1, stdout: '', stderr: '' });
  expect(await run('result')).toMatchObject({ code: 0, stdout });
  expect(await run('result', '--quiet')).toMatchObject({ code: 0, stdout: 'half of it\n' });
});

test('status with --exit-status and --quiet prints nothing of an unfinished run either', async () => {
  const { run } = await withRun({ hasEnded: false });
  expect(await run('status', '--exit-status', '--quiet')).toMatchObject({ code: 16, stdout: '', stderr: '' });
});

test.each([
  ['output.x', 'half of it is text'],
  ['summary.failedStep', 'a typo'],
  ['summary.stepCount.x', 'a number is no object'],
  ['error.type', undefined],
  ['runctl.durationMs', undefined],
])('--field %s is empty, which is said unless it is null or of runctl: %s', async (path, why) => {
  const { run } = await withRun();
  const { code, stdout, stderr } = await run('result', '--field', path);
  expect([code, stdout.trim() === '' || why === undefined]).toEqual([0, true]);
  expect(stderr).toBe(why === undefined ? '' : `runctl: the document has no "${path}"\n`);
});

test('an empty field of a run that has not finished is told from an empty output', async () => {
  const unfinished = await withRun({ hasEnded: false });
  const { stdout, stderr } = await unfinished.run('result', '--field', 'output');
  expect([stdout, stderr]).toEqual(['\n', expect.stringContaining('runctl watch')]);
  expect(await unfinished.run('result', '--field', 'output', '--quiet')).toMatchObject({ stdout: '\n', stderr: '' });
  const finished = await withRun();
  expect(await finished.run('result', '--field', 'output')).toMatchObject({ stdout: 'half of it\n', stderr: '' });
});

test.each(['status', 'result'])('%s of an unfinished run exits with 0', async (command) => {
  const { id, run } = await withRun({ hasEnded: false });
  expect(await run(command, id)).toMatchObject({ code: 0, stdout: expect.stringContaining('RUNNING') });
});

test('with --quiet the output of a run is printed alone, and gives no command to a CI runner', async () => {
  const output = '::error::no\n##[group]a';
  const { env } = await withEmulator({ automations: { '*': { duration: '1ms', output } } });
  await runProgram(['trigger', 'nightly'], { env });
  expect((await runProgram(['result', '-q'], { env })).stdout).toBe(`${output}\n`);
  const inAction = await runProgram(['result', '-q'], { env: { ...env, GITHUB_ACTIONS: 'true' } });
  expect(inAction.stdout).toBe(': :error: :no\n## [group]a\n');
});

test('the result of an unfinished run says how to follow it', async () => {
  const { id, run } = await withRun({ hasEnded: false });
  expect((await run('result')).stderr).toContain(`runctl watch ${id}`);
});

test('what has finished is recorded by status and result alike', async () => {
  for (const command of ['status', 'result']) {
    const { run } = await withRun();
    await run(command);
    expect((await run('list', '--field', 'status')).stdout).toBe('FAILED\n');
  }
});

test.each([
  ['FAILED', 'COMPLETED'],
  ['COMPLETED', 'FAILED'],
])('where the status says %s and the result %s, the graver one is shown', async (status, resultStatus) => {
  const times = { startedAt: '2026-01-02T03:00:00Z', completedAt: '2026-01-02T03:01:00Z' };
  const { env } = await startFaultyService((head) =>
    answer(200, JSON.stringify({ executionId, ...times, status: head.includes('/result ') ? resultStatus : status })),
  );
  const settings = { ...env, RUNCTL_API_KEY: 'key-0123456789', RUNCTL_STATE_DIR: temporaryFolder() };
  const { code, stdout } = await runProgram(['result', `${projectId}/nightly/${executionId}`], { env: settings });
  expect(code).toBe(0);
  expect(stdout).toMatch(/^\S FAILED nightly after 1m\n/);
});

test('of several triggers line n is the id of argument n, and a single one without a run prints nothing', async () => {
  const { env, emulator } = await withEmulator({});
  await runProgram(['trigger', 'nightly'], { env });
  const skipping = ['--if-active', 'skip'];
  expect(await runProgram(['trigger', 'nightly', ...skipping], { env })).toMatchObject({ code: 0, stdout: '' });
  const { stdout } = await runProgram(['trigger', 'weekly', 'nightly', 'daily', ...skipping], { env });
  const idOf = (name: string) =>
    emulator.runs().find(({ target }) => 'automationName' in target && target.automationName === name)?.executionId;
  expect(stdout).toBe(`${idOf('weekly')}\n\n${idOf('daily')}\n`);
});

test('the next command in a document reaches the same service', async () => {
  const { env } = await withEmulator({ automations: { '*': { duration: '1ms', outcome: 'FAILED' } } });
  const { RUNCTL_BASE_URL: url = '', ...others } = env;
  const argv = ['trigger', 'nightly', '--watch', '--interval', '20ms', '--base-url', url, '--json'];
  const { stdout } = await runProgram(argv, { env: others });
  const { executionId, runctl } = JSON.parse(stdout);
  expect(runctl.next).toBe(`runctl result ${executionId} --base-url ${url}`);
});

test('if the status of a finished run gets no response, its duration and credits are those of the journal', async () => {
  const faults = [{ on: 'status', from: 2, do: 'status', status: 503 } as const];
  const { env, endRuns } = await withEmulator({ automations: { '*': { duration: '1m' } }, faults });
  await runProgram(['trigger', 'nightly'], { env });
  endRuns();
  await runProgram(['status'], { env });
  const { code, stdout } = await runProgram(['result'], { env });
  expect([code, stdout]).toEqual([0, expect.stringMatching(/nightly in 1m.*credits +12/s)]);
});

test.each([
  ['status', { on: 'status', do: 'status', status: 502 }, 10, "couldn't be read"],
  ['result', { on: 'result', do: 'status', status: 502 }, 10, "couldn't be read"],
  ['status', { on: 'status', do: 'status', status: 404 }, 6, "doesn't know"],
] as const)('`%s` without an answer says what was known before: %j', async (command, fault, code, message) => {
  const { env, clock } = await withEmulator({ automations: { '*': { duration: '1h' } }, faults: [fault] });
  await runProgram(['trigger', 'nightly'], { env, clock });
  await clock.sleep(60_000);
  const ended = await runProgram([command, 'nightly', '--json', '--give-up-after', '1ms'], { env, clock });
  const { runctl } = JSON.parse(ended.stdout);
  expect([ended.code, runctl.lastConfirmed.status]).toEqual([code, 'RUNNING']);
  expect(runctl.lastConfirmed.ageMs).toBeGreaterThanOrEqual(60_000);
  expect(runctl.problem.message).toContain(message);
  expect(runctl.problem.message).toContain('last confirmed RUNNING 1m');
});

test('`watch --all` without an answer says what was known before, also of a run that was started elsewhere', async () => {
  const fault = { on: 'status', from: 2, do: 'status', status: 502 } as const;
  const { env, emulator, clock } = await withEmulator({ automations: { '*': { duration: '1h' } }, faults: [fault] });
  await runProgram(['trigger', 'nightly'], { env: { ...env, RUNCTL_STATE_DIR: temporaryFolder() }, clock });
  const argument = `nightly/${emulator.runs()[0]?.executionId}`;
  await runProgram(['watch', argument, '--timeout', '1m'], { env, clock });
  await clock.sleep(60_000);
  const ended = await runProgram(['watch', '--all', '--json', '--give-up-after', '1ms'], { env, clock });
  const { executionId, runctl } = JSON.parse(ended.stdout);
  expect([ended.code, argument, runctl.lastConfirmed.status]).toEqual([10, `nightly/${executionId}`, 'RUNNING']);
  expect(runctl.lastConfirmed.ageMs).toBeGreaterThanOrEqual(60_000);
});

test('what was known before is as old as the status, not as the trigger', async () => {
  const fault = { on: 'result', do: 'status', status: 502 } as const;
  const { env, clock } = await withEmulator({ automations: { '*': { duration: '1h' } }, faults: [fault] });
  await runProgram(['trigger', 'nightly'], { env, clock });
  await clock.sleep(2 * 3_600_000);
  await runProgram(['status'], { env, clock });
  await clock.sleep(60_000);
  const { stdout } = await runProgram(['result', '--json', '--give-up-after', '1ms'], { env, clock });
  const { lastConfirmed } = JSON.parse(stdout).runctl;
  expect(lastConfirmed).toMatchObject({ status: 'COMPLETED' });
  expect(lastConfirmed.ageMs).toBeLessThan(3_600_000);
});

test('`status` of a running run says how long it has taken, and how long the runs before it usually took', async () => {
  const { env, clock } = await withEmulator({ automations: { '*': { duration: '10m' } } });
  const timeOf = async () => /^duration +(.*)$/m.exec((await runProgram(['status'], { env, clock })).stdout)?.[1];
  for (let earlier = 0; earlier < 3; earlier++)
    await runProgram(['trigger', 'nightly', '--watch', '-q'], { env, clock });
  await runProgram(['trigger', 'nightly'], { env, clock });
  clock.leap(4 * 60_000);
  expect(await timeOf()).toMatch(/^4m.* \(usually 10m\)$/);
});
