// Walks the description of the service section by section, with the program against the emulator.
import { describe, expect, test } from 'vitest';
import type { FaultyEmulator } from '../fault-kit/start.ts';
import { withEmulator } from '../helpers/emulator.ts';
import { runProgram } from '../helpers/run-program.ts';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const unknownId = '99999999-9999-4999-8999-999999999999';
const agentId = 'a6f0c3e1-7d51-4d5c-9a70-94b5c2d1e001';
const quick = { duration: '20ms' } as const;
const fast = ['--interval', '20ms'];

async function triggered(emulator: FaultyEmulator, env: Record<string, string>, name = 'nightly'): Promise<string> {
  const { stdout, code, stderr } = await runProgram(['trigger', name], { env });
  expect(stderr).toContain(name);
  expect(code).toBe(0);
  expect(emulator.runs().length).toBeGreaterThan(0);
  return stdout.trim();
}

describe('what the service does', () => {
  test('the typical flow: trigger, poll until a final status, result', async () => {
    const { env } = await withEmulator({ automations: { '*': { ...quick, output: 'all done' } } });
    const { code, stdout, stderr } = await runProgram(['trigger', 'nightly', '--watch', ...fast], { env });
    expect(stdout).toMatch(/✔|v COMPLETED/);
    expect(stdout).toContain('all done');
    expect(stderr).toContain('nightly');
    expect(code).toBe(0);
  });

  test.each(['', '/', '/v0', '/v0/'])('the base URL may end in "%s"', async (ending) => {
    const { env } = await withEmulator({});
    const { code } = await runProgram(['trigger', 'nightly'], {
      env: { ...env, RUNCTL_BASE_URL: `${env.RUNCTL_BASE_URL}${ending}` },
    });
    expect(code).toBe(0);
  });
});

describe('resources and their fields', () => {
  test('2.1: every field of an execution is in the JSON, unknown ones too', async () => {
    const { env, emulator } = await withEmulator({
      automations: { '*': { ...quick, extra: { region: 'eu', big: 1 } } },
    });
    const id = await triggered(emulator, env);
    await runProgram(['watch', ...fast], { env });
    const { stdout } = await runProgram(['status', '--json'], { env });
    expect(JSON.parse(stdout)).toMatchObject({
      executionId: id,
      projectId: emulator.projectId,
      automationName: 'nightly',
      status: 'COMPLETED',
      title: null,
      message: null,
      startedAt: expect.any(String),
      completedAt: expect.any(String),
      createdAt: expect.any(String),
      creditsCharged: expect.any(Number),
      region: 'eu',
    });
  });

  test('2.1: the status is shown as a labeled block', async () => {
    const { env, emulator } = await withEmulator({});
    const id = await triggered(emulator, env);
    const { stdout } = await runProgram(['status'], { env });
    expect(stdout).toMatch(/^status +RUNNING\n/);
    for (const label of ['automation', 'project', 'run', 'started', 'duration']) expect(stdout).toContain(`\n${label}`);
    expect(stdout).toContain(id);
  });

  test('2.3: the result is output, steps and error', async () => {
    const { env, emulator } = await withEmulator({
      automations: { '*': { ...quick, steps: { count: 5, failed: 0, skipped: 2 }, output: 'line 1\nline 2' } },
    });
    await triggered(emulator, env);
    await runProgram(['watch', '-q', ...fast], { env });
    const fields = ['--field', 'summary.stepCount', '--field', 'summary.skippedSteps', '--field', 'error'];
    expect((await runProgram(['result', ...fields], { env })).stdout).toBe('5\t2\t\n');
    const { stdout } = await runProgram(['result'], { env });
    expect(stdout).toContain('3 succeeded, 0 failed, 2 skipped of 5');
    expect(stdout).toMatch(/\nline 1\nline 2\n$/);
  });

  test('2.3: while a run is in progress only the status is shown', async () => {
    const { env, emulator } = await withEmulator({});
    await triggered(emulator, env);
    const { stdout, stderr, code } = await runProgram(['result'], { env });
    expect(stdout).toContain('RUNNING');
    expect(stderr).toContain('watch it with');
    expect(code).toBe(0);
  });

  test.each(['step_failed', 'timed_out', 'not_runnable', 'lease_lost', 'reaped', 'run_failed', 'one_of_next_year'])(
    '2.4: the error type %s is shown with its message',
    async (type) => {
      const { env } = await withEmulator({
        automations: { '*': { ...quick, outcome: 'FAILED', error: { type, message: 'Step "mail" said no' } } },
      });
      const { stdout, code } = await runProgram(['trigger', 'nightly', '--watch', ...fast], { env });
      expect(stdout).toContain(`${type}: Step "mail" said no`);
      expect(code).toBe(1);
    },
  );

  test.each<[string, object]>([
    ['missing', { extra: { startedAt: undefined } }],
    ['null', { extra: { startedAt: null, createdAt: null, creditsCharged: null, summary: null } }],
    [
      'of another type',
      {
        extra: {
          startedAt: 7,
          completedAt: {},
          creditsCharged: 'many',
          summary: [],
          output: { a: 1 },
          error: 'sad',
          title: 9,
        },
      },
    ],
  ])('optional fields that are %s crash nothing', async (_, plan) => {
    const { env } = await withEmulator({ automations: { '*': { ...quick, ...plan } } });
    const { code, stdout, stderr } = await runProgram(['trigger', 'nightly', '--watch', ...fast], { env });
    expect(stderr).not.toContain('fault of runctl');
    expect(stdout).toContain('COMPLETED');
    expect(code).toBe(0);
    expect((await runProgram(['status'], { env })).code).toBe(0);
    expect((await runProgram(['result'], { env })).code).toBe(0);
  });
});

describe('states', () => {
  test.each([
    ['COMPLETED', 0],
    ['FAILED', 1],
    ['TIMED_OUT', 3],
    ['CANCELLED', 4],
  ] as const)('%s is final and ends a watch with %i', async (outcome, exitCode) => {
    const { env, emulator } = await withEmulator({ automations: { '*': { ...quick, outcome } } });
    await triggered(emulator, env);
    const watched = await runProgram(['watch', ...fast], { env });
    expect(watched.stdout).toContain(outcome);
    expect(watched.code).toBe(exitCode);
    expect((await runProgram(['status', '--exit-status', '-q'], { env })).code).toBe(exitCode);
    expect((await runProgram(['status'], { env })).code).toBe(0);
  });

  test('a status that nobody knows is shown, warned of, and polling continues', async () => {
    const { env } = await withEmulator({ automations: { '*': { duration: '150ms', extra: { status: 'PONDERING' } } } });
    const { stderr, code } = await runProgram(['trigger', 'nightly', '--watch', '--timeout', '300ms', ...fast], {
      env,
    });
    expect(stderr.match(/PONDERING is a status this version doesn't know/g)).toHaveLength(1);
    expect(code).toBe(124);
  });
});

describe('endpoints', () => {
  test.each(['with space', 'a/b', '100%', 'naïve ☂', 'quote"s', '-dash', '%2F', '–watch', 'a,b', 'nightly/', '*'])(
    'the name %j travels whole',
    async (name) => {
      const { env, emulator } = await withEmulator({ automations: { '*': quick } });
      const { code, stderr } = await runProgram(['trigger', '--watch', ...fast, `${env.RUNCTL_PROJECT}/${name}`], {
        env,
      });
      expect(stderr).not.toContain('fault of runctl');
      expect(code).toBe(0);
      expect(emulator.runs().map((run) => run.target)).toMatchObject([{ automationName: name }]);
    },
  );

  test('a trigger carries its key, its content type and an empty object', async () => {
    const { env, emulator } = await withEmulator({});
    await triggered(emulator, env);
    const [request] = emulator.requests;
    expect(request).toMatchObject({ method: 'POST', body: '{}' });
    expect(request?.headers['content-type']).toBe('application/json');
    expect(request?.headers['idempotency-key']).toMatch(uuid);
    expect(request?.headers['x-api-key']).toBe(emulator.apiKey);
  });

  test('4.4: a discontinued agent starts nothing, and the answer is reported', async () => {
    const { env } = await withEmulator({});
    const { code, stdout, stderr } = await runProgram(['agent', 'trigger', agentId], { env });
    expect(stdout).toBe('');
    expect(stderr).not.toBe('');
    expect(code).toBe(11);
  });
});

describe('authentication', () => {
  test.each([
    ['status', `nightly/${unknownId}`],
    ['trigger', 'nightly'],
  ])('a wrong key ends %s with 7 and names no key', async (command, argument) => {
    const { env } = await withEmulator({});
    const wrong = { ...env, RUNCTL_API_KEY: 'wrong-key-0123456789' };
    const { code, stdout, stderr } = await runProgram([command, argument], { env: wrong });
    expect(code).toBe(7);
    expect(stdout + stderr).not.toContain('wrong-key');
    expect(stderr).toContain('`runctl config list` shows where the API key comes from');
  });
});

describe('errors', () => {
  const shapes = ['flat', 'string', 'nested', 'list', 'problem', 'data', 'text', 'html', 'empty'] as const;
  const pages = new Set<(typeof shapes)[number]>(['text', 'html', 'empty']);

  test.each(shapes.filter((shape) => !['html', 'empty'].includes(shape)))(
    '422 runAlreadyActive is known in a %s body',
    async (errorShape) => {
      const { env, emulator } = await withEmulator({ errorShape });
      await triggered(emulator, env);
      const { code, stderr, stdout } = await runProgram(['trigger', 'nightly', '--json'], { env });
      expect(code).toBe(5);
      expect(JSON.parse(stdout).runctl).toMatchObject({ outcome: 'already_active', trigger: { started: 'no' } });
      expect(stderr).toContain('already running');
    },
  );

  test.each(['empty'] as const)('a 422 that names no known code (%s body) is 11 for a trigger', async (errorShape) => {
    const { env, emulator } = await withEmulator({ errorShape });
    await triggered(emulator, env);
    expect((await runProgram(['trigger', 'nightly'], { env })).code).toBe(11);
  });

  test.each(shapes.filter((shape) => !pages.has(shape)))('an unknown run is 6 with a %s body', async (errorShape) => {
    const { env } = await withEmulator({ errorShape });
    for (const command of ['status', 'result', 'watch']) {
      const { code } = await runProgram([command, `nightly/${unknownId}`], { env });
      expect(code).toBe(6);
    }
    expect((await runProgram(['agent', 'status', agentId, unknownId], { env })).code).toBe(6);
  });

  test.each([...pages])('a 422 that is no JSON (%s body) says nothing of a run: 10 at last', async (errorShape) => {
    const { env, clock } = await withEmulator({ errorShape });
    for (const command of ['status', 'result', 'watch']) {
      const argv = [command, `nightly/${unknownId}`, '--give-up-after', '2s'];
      const { code, stderr } = await runProgram(argv, { env, clock });
      expect(code).toBe(10);
      expect(stderr).toMatch(/the response is (not JSON|an HTML page)/);
    }
  });

  test('402 is 8', async () => {
    const { env } = await withEmulator({ credits: 0 });
    const { code, stderr } = await runProgram(['trigger', 'nightly'], { env });
    expect(code).toBe(8);
    expect(stderr).toContain('credit');
  });

  test.each(['seconds', 'date'] as const)(
    '429 with Retry-After in %s is obeyed; past patience it is 9',
    async (retryAfter) => {
      const { env, emulator, clock } = await withEmulator({ rateLimit: { requests: 1, window: '1m', retryAfter } });
      await triggered(emulator, env);
      const { code, stderr } = await runProgram(['trigger', 'other', '--give-up-after', '30s'], { env, clock });
      expect(code).toBe(9);
      expect(stderr).toContain('try again in');
      expect(clock.sleptMs()).toBe(0);
    },
  );
});

describe('limits', () => {
  test('a run that takes three hours ends TIMED_OUT with the error type timed_out', async () => {
    const { env } = await withEmulator(
      { automations: { '*': { duration: '3h', outcome: 'TIMED_OUT' } } },
      { speed: 200_000 },
    );
    const { code, stdout } = await runProgram(['trigger', 'nightly', '--watch', ...fast], { env });
    expect(stdout).toContain('timed_out');
    expect(code).toBe(3);
  });

  test("a key that was used isn't sent again: the same run answers", async () => {
    const { env, emulator } = await withEmulator({});
    const again = () => runProgram(['trigger', 'nightly', '--idempotency-key', 'night-1', '--json'], { env });
    const [first, second] = [await again(), await again()];
    expect(JSON.parse(second.stdout)).toMatchObject({
      executionId: JSON.parse(first.stdout).executionId,
      runctl: { trigger: { how: 'replayed' } },
    });
    expect(emulator.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
    expect(second.code).toBe(0);
  });
});

test('every request begins with /v0, after the prefix of the base URL', async () => {
  const { env, emulator } = await withEmulator({});
  await runProgram(['trigger', 'nightly'], { env: { ...env, RUNCTL_BASE_URL: `${emulator.url}/tenant` } });
  await runProgram(['trigger', 'nightly'], { env });
  expect(emulator.requests.map(({ url }) => url)).toEqual([
    expect.stringMatching(/^\/tenant\/v0\/automation\//),
    expect.stringMatching(/^\/v0\/automation\//),
  ]);
});
