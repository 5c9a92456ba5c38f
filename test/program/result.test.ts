// What `status` and `result` show of a run, and of one that the service doesn't answer for.
import { describe, expect, test } from 'vitest';
import type { Fault, Plan, Scenario } from '../fault-kit/scenario.ts';
import { going } from '../helpers/emulator.ts';
import { withMachine } from '../helpers/machine.ts';
import { executionId, projectId } from '../helpers/scripted-service.ts';
import { answer, startFaultyService } from '../helpers/server-faults.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

/** A machine on which one run of nightly has been started, which has ended since unless it is to go on. */
async function withRun({ hasEnded = true } = {}) {
  const plan = { duration: '1m', finalStatus: 'FAILED', output: 'half of it', error: null } as const;
  const machine = await withMachine({ automations: { '*': plan } });
  await machine.run('trigger nightly');
  if (hasEnded) machine.endRuns();
  return machine;
}

test('a run that failed is shown; status exits with its code if that is asked for', async () => {
  const { run } = await withRun();
  const stdout = expect.stringContaining('FAILED');
  expect(await run('status @last')).toMatchObject({ code: 0, stdout });
  expect(await run('status @last --quiet')).toMatchObject({ code: 0, stdout: '' });
  expect(await run('status @last --exit-status')).toMatchObject({ code: 1, stdout });
  expect(await run('status @last --exit-status --quiet')).toMatchObject({ code: 1, stdout: '', stderr: '' });
  expect(await run('result @last')).toMatchObject({ code: 0, stdout });
  expect(await run('result @last --quiet')).toMatchObject({ code: 0, stdout: 'half of it\n' });
});

describe('--field', () => {
  test.each([
    ['result @last', 'output.x', true],
    ['result @last', 'summary.failedStep', true],
    ['result @last', 'summary.stepCount.x', true],
    ['status @last', 'title', false],
    ['status @last', 'runctl.problem', false],
  ])(
    'of %s with %s is empty, with a notice unless the field is null or of runctl: %s',
    async (command, path, isSaid) => {
      const { code, stdout, stderr } = await (await withRun()).run(`${command} --field ${path}`);
      expect([code, stdout, stderr]).toEqual([0, '\n', isSaid ? expect.stringContaining(`"${path}"`) : '']);
    },
  );

  test('says that a run has not finished, so that its output is not taken for an empty one', async () => {
    const { run, endRuns } = await withRun({ hasEnded: false });
    const watch = expect.stringContaining('runctl watch');
    expect(await run('result @last --field output')).toMatchObject({ stdout: '\n', stderr: watch });
    expect(await run('result @last --field output --quiet')).toMatchObject({ stdout: '\n', stderr: '' });
    endRuns();
    expect(await run('result @last --field output')).toMatchObject({ stdout: 'half of it\n', stderr: '' });
  });
});

test('with --quiet the output of a run is printed alone, and gives no command to a CI runner', async () => {
  const output = '::error::no\n##[group]a';
  const { run } = await withMachine({ automations: { '*': { duration: '1ms', output } } });
  await run('trigger nightly');
  expect((await run('result @last -q')).stdout).toBe(`${output}\n`);
  const { stdout } = await run('result @last -q', { env: { GITHUB_ACTIONS: 'true' } });
  expect(stdout).toBe(': :error: :no\n## [group]a\n');
});

test.each([
  ['FAILED', 'COMPLETED'],
  ['COMPLETED', 'FAILED'],
])(
  'if the status says %s and the result %s, the graver one counts, also in the journal',
  async (status, resultStatus) => {
    const times = { startedAt: '2026-01-02T03:00:00Z', completedAt: '2026-01-02T03:01:00Z' };
    const { env } = await startFaultyService((head) =>
      answer(200, JSON.stringify({ executionId, ...times, status: head.includes('/result ') ? resultStatus : status })),
    );
    const { run } = await withMachine();
    const { code, stdout } = await run(`result ${projectId}/nightly/${executionId}`, { env });
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^\S FAILED nightly after 1m\n/)]);
    const elsewhere = { ...env, RUNCTL_STATE_DIR: temporaryFolder() };
    expect((await run(`watch ${projectId}/nightly/${executionId}`, { env: elsewhere })).code).toBe(1);
    expect((await run('list --offline --json', { env: elsewhere })).documents).toMatchObject([{ status: 'FAILED' }]);
  },
);

test('an error that a result lacks while it lags behind the status is read by the next list', async () => {
  const failed = { status: 'FAILED', error: { type: 'step_failed', message: 'step 2 failed' } };
  const results = [{ status: 'COMPLETED', error: null }];
  const { env } = await startFaultyService((head) => {
    const document = head.includes('/result ') ? (results.shift() ?? failed) : { status: 'FAILED' };
    return answer(200, JSON.stringify({ executionId, completedAt: '2026-01-02T03:01:00Z', ...document }));
  });
  const { run } = await withMachine();
  expect((await run(`watch ${projectId}/nightly/${executionId}`, { env })).code).toBe(1);
  expect((await run('list', { env })).stdout).toContain('step 2 failed');
});

test('the next command in a document reaches the same service', async () => {
  const { run, emulator, ids } = await withMachine({
    automations: { '*': { duration: '1ms', finalStatus: 'FAILED' } },
  });
  const line = `trigger nightly --watch --base-url ${emulator.url} --json`;
  const { documents } = await run(line, { env: { RUNCTL_BASE_URL: '' } });
  expect(documents).toMatchObject([{ runctl: { next: `runctl result ${ids()[0]} --base-url ${emulator.url}` } }]);
});

test('if the status of a finished run gets no response, its duration and credits are those of the journal', async () => {
  const { run, endRuns } = await withMachine({
    automations: { '*': { duration: '1m' } },
    faults: [{ on: 'status', from: 2, do: 'status', status: 503 }],
  });
  await run('trigger nightly');
  endRuns();
  await run('status @last');
  expect(await run('result @last')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/nightly in 1m.*credits +12/s),
  });
});

describe('the last confirmed status', () => {
  const hour = { automations: { '*': { duration: '1h' } } };

  test.each<[string, Fault, number]>([
    ['status', { on: 'status', do: 'status', status: 502 }, 10],
    ['result', { on: 'result', do: 'status', status: 502 }, 10],
    ['status', { on: 'status', do: 'status', status: 404 }, 6],
  ])('is in the message of `%s` without a response: %j', async (command, fault, code) => {
    const { run, clock } = await withMachine({ ...hour, faults: [fault] });
    await run('trigger nightly');
    clock.leap(60_000);
    const { documents } = await run(`${command} nightly --json --give-up-after 1ms`);
    const [{ runctl }] = documents;
    expect(runctl).toMatchObject({ exitCode: code, lastConfirmed: { status: 'RUNNING' } });
    expect(runctl.lastConfirmed.ageMs).toBeGreaterThanOrEqual(60_000);
    expect(runctl.problem.message).toMatch(/RUNNING 1m/);
  });

  test('is as old as the status, not as the trigger', async () => {
    const { run, clock } = await withMachine({ ...hour, faults: [{ on: 'result', do: 'status', status: 502 }] });
    await run('trigger nightly');
    clock.leap(2 * 3_600_000);
    await run('status @last');
    clock.leap(60_000);
    const { documents } = await run('result @last --json --give-up-after 1ms');
    const [{ runctl }] = documents;
    expect(runctl.lastConfirmed).toMatchObject({ status: 'COMPLETED' });
    expect(runctl.lastConfirmed.ageMs).toBeLessThan(3_600_000);
  });
});

/** A service whose runs of every automation do this for a short while. */
const runs = (plan: Plan) => ({ automations: { '*': { duration: '20ms', ...plan } } });

describe('the fields that the service sends', () => {
  test('are all in the document of a run, including unknown ones', async () => {
    const { run, emulator } = await withMachine(runs({ extra: { region: 'eu' } }));
    const { stdout: id } = await run('trigger nightly');
    await run('watch @last');
    const { documents } = await run('status @last --json');
    const times = { startedAt: expect.any(String), completedAt: expect.any(String), createdAt: expect.any(String) };
    const { projectId } = emulator;
    expect(documents).toMatchObject([
      { executionId: id.trim(), projectId, automationName: 'nightly', status: 'COMPLETED', region: 'eu' },
    ]);
    expect(documents).toMatchObject([{ ...times, title: null, message: null, creditsCharged: expect.any(Number) }]);
  });

  test('are in the document of a result: its output, its steps and its error', async () => {
    const plan = { steps: { count: 5, failed: 0, skipped: 2 }, output: 'line 1\nline 2' };
    const { run } = await withMachine(runs(plan));
    await run('trigger nightly --watch');
    expect((await run('result @last --field summary.stepCount,summary.skippedSteps,error')).stdout).toBe('5\t2\t\n');
    const { stdout } = await run('result @last');
    expect(stdout).toContain('3 succeeded, 0 failed, 2 skipped of 5');
    expect(stdout).toMatch(/\nline 1\nline 2\n$/);
  });

  test.each([
    ['missing', { startedAt: undefined }],
    ['null', { startedAt: null, createdAt: null, creditsCharged: null, summary: null }],
    ['of another type', { startedAt: 7, completedAt: {}, creditsCharged: 'many', summary: [], error: 'sad', title: 9 }],
    ['no text', { output: { a: 1 } }],
  ])('cause no crash if they are %s', async (_, extra) => {
    const { run } = await withMachine(runs({ extra }));
    expect(await run('trigger nightly --watch')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('COMPLETED'),
    });
    expect([(await run('status @last')).code, (await run('result @last')).code]).toEqual([0, 0]);
  });
});

test('a field that both the status and the result have is taken from the status', async () => {
  const run = { executionId, status: 'COMPLETED' };
  const service = await startFaultyService((head) => {
    const isResult = head.includes('/result ');
    const document = isResult ? { ...run, title: 'of the result', output: 'x' } : { ...run, title: 'of the status' };
    return answer(200, JSON.stringify(document));
  });
  const { run: type } = await withMachine();
  const line = `watch ${projectId}/nightly/${executionId} --json`;
  const { documents } = await type(line, { env: service.env });
  expect(documents).toMatchObject([{ title: 'of the status', output: 'x' }]);
});

test.each<[line: string, Scenario, code: number, notes: number]>([
  ['status nightly --field status', { faults: [{ on: 'status', do: 'status', status: 402 }] }, 8, 0],
  ['result nightly --field summary.failedSteps', { faults: [{ on: 'result', do: 'status', status: 402 }] }, 8, 0],
  ['trigger nightly --field status,executionId', {}, 5, 0],
  ['status nightly --field status.x', {}, 0, 1],
  ['status nightly --field title.x', {}, 0, 0],
  ['result nightly --field error', {}, 0, 0],
  ['status nightly --field creditsCharged', {}, 0, 1],
])('a missing field gets a notice, unless a failure lacks it: %s', async (line, scenario, code, notes) => {
  const { run } = await withMachine({ ...going, ...scenario });
  await run('trigger nightly');
  const ended = await run(line);
  expect([ended.code, ended.stderr.match(/the document has no/g)?.length ?? 0]).toEqual([code, notes]);
});
