// What the service may say and how it may say it: fields, statuses, names, and the bodies of its refusals.
import { describe, expect, test } from 'vitest';
import type { ErrorShape } from '../fault-kit/error-shapes.ts';
import type { Plan } from '../fault-kit/scenario.ts';
import { withMachine } from '../helpers/machine.ts';

const unknownId = '99999999-9999-4999-8999-999999999999';
const agentId = 'a6f0c3e1-7d51-4d5c-9a70-94b5c2d1e001';
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** A service whose runs of every automation do this for a short while. */
const runs = (plan: Plan) => ({ automations: { '*': { duration: '20ms', ...plan } } });

test('a trigger carries its idempotency key, its content type, the API key and an empty object', async () => {
  const { run, emulator } = await withMachine();
  await run('trigger nightly');
  const headers = { 'content-type': 'application/json', 'x-api-key': emulator.apiKey };
  expect(emulator.requests).toMatchObject([{ method: 'POST', body: '{}', headers }]);
  expect(emulator.requests[0]?.headers['idempotency-key']).toMatch(uuid);
});

test.each([
  ['', '/v0/automation/'],
  ['/', '/v0/automation/'],
  ['/v0', '/v0/automation/'],
  ['/v0/', '/v0/automation/'],
  ['/tenant', '/tenant/v0/automation/'],
])('behind a base URL that ends in "%s", a path begins with %s', async (ending, path) => {
  const { run, emulator } = await withMachine();
  await run(`trigger nightly --base-url ${emulator.url}${ending}`);
  expect(emulator.requests.map(({ url }) => url.slice(0, path.length))).toEqual([path]);
});

test.each(['with space', 'a/b', '100%', 'naïve ☂', 'quote"s', '-dash', '%2F', '–watch', 'a,b', 'nightly/', '*'])(
  'the name %j travels whole',
  async (name) => {
    const { run, env, emulator } = await withMachine(runs({}));
    expect((await run(['trigger', '--watch', `${env.RUNCTL_PROJECT}/${name}`])).code).toBe(0);
    expect(emulator.runs()).toMatchObject([{ target: { automationName: name } }]);
  },
);

describe('fields', () => {
  test('of a run are all in its document, those that nobody knows too', async () => {
    const { run, emulator } = await withMachine(runs({ extra: { region: 'eu' } }));
    const { stdout: id } = await run('trigger nightly');
    await run('watch');
    const { documents } = await run('status --json');
    const times = { startedAt: expect.any(String), completedAt: expect.any(String), createdAt: expect.any(String) };
    const { projectId } = emulator;
    expect(documents).toMatchObject([
      { executionId: id.trim(), projectId, automationName: 'nightly', status: 'COMPLETED', region: 'eu' },
    ]);
    expect(documents).toMatchObject([{ ...times, title: null, message: null, creditsCharged: expect.any(Number) }]);
  });

  test('of a result are its output, its steps and its error', async () => {
    const plan = { steps: { count: 5, failed: 0, skipped: 2 }, output: 'line 1\nline 2' };
    const { run } = await withMachine(runs(plan));
    await run('trigger nightly --watch');
    expect((await run('result --field summary.stepCount,summary.skippedSteps,error')).stdout).toBe('5\t2\t\n');
    const { stdout } = await run('result');
    expect(stdout).toContain('3 succeeded, 0 failed, 2 skipped of 5');
    expect(stdout).toMatch(/\nline 1\nline 2\n$/);
  });

  test.each(['step_failed', 'timed_out', 'one_of_next_year'])('of an error are shown: %s', async (type) => {
    const { run } = await withMachine(runs({ outcome: 'FAILED', error: { type, message: 'Step "mail" said no' } }));
    const { code, stdout } = await run('trigger nightly --watch');
    expect([code, stdout]).toEqual([1, expect.stringContaining(`${type}: Step "mail" said no`)]);
  });

  test.each([
    ['missing', { startedAt: undefined }],
    ['null', { startedAt: null, createdAt: null, creditsCharged: null, summary: null }],
    ['of another type', { startedAt: 7, completedAt: {}, creditsCharged: 'many', summary: [], error: 'sad', title: 9 }],
    ['no text', { output: { a: 1 } }],
  ])('that are %s crash nothing', async (_, extra) => {
    const { run } = await withMachine(runs({ extra }));
    expect(await run('trigger nightly --watch')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('COMPLETED'),
    });
    expect([(await run('status')).code, (await run('result')).code]).toEqual([0, 0]);
  });
});

test('a status that nobody knows is shown, warned of once, and polled on', async () => {
  const { run, emulator } = await withMachine({
    automations: { '*': { duration: '1h', extra: { status: 'PONDERING' } } },
  });
  const { code, stderr, documents } = await run('trigger nightly --watch --timeout 1m --json');
  expect([code, emulator.requests.length > 5]).toEqual([124, true]);
  expect(documents[0].runctl.warnings).toMatchObject([{ name: 'unknown_status' }]);
  expect(stderr.match(/^runctl: PONDERING /gm)).toHaveLength(1);
});

test.each<[ErrorShape, active: number, unknown: number]>([
  ...(['flat', 'string', 'nested', 'list', 'problem', 'data'] as const).map((shape): [ErrorShape, 5, 6] => [
    shape,
    5,
    6,
  ]),
  ['text', 5, 10], // anybody may have said that a run is not there
  ['html', 5, 10],
  ['empty', 11, 10],
])(
  'a refusal whose body is %s ends a trigger beside an active run with %i, and a poll of an unknown run with %i',
  async (errorShape, active, unknown) => {
    const { run } = await withMachine({ errorShape });
    await run('trigger nightly');
    expect((await run('trigger nightly')).code).toBe(active);
    for (const command of ['status', 'result', 'watch'])
      expect((await run(`${command} nightly/${unknownId} --give-up-after 2s`)).code, command).toBe(unknown);
    if (unknown === 6) expect((await run(`agent status ${agentId} ${unknownId}`)).code).toBe(6);
  },
);
