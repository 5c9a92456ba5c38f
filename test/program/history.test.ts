import { expect, test } from 'vitest';
import { openJournal } from '../../src/journal/journal.ts';
import { withEmulator } from '../helpers/emulator.ts';
import { jsonLines } from '../helpers/json-lines.ts';
import { runProgram } from '../helpers/run-program.ts';

interface Shown {
  automationName: string;
  executionId: string | null;
  runctl: {
    history: {
      what: string;
      by: string;
      process: string | null;
      idempotencyKey: string | null;
      hook?: string;
      failure?: string;
    };
  };
}

test('--until leaves out what came later', async () => {
  const { env, clock } = await withEmulator({});
  const run = (line: string) => runProgram(line.split(' '), { env, clock });
  for (const name of ['nightly', 'weekly']) {
    await run(`trigger ${name}`);
    clock.leap(3 * 3_600_000);
  }
  const shown = jsonLines((await run('history --until 4h --json')).stdout) as Shown[];
  expect(new Set(shown.map(({ automationName }) => automationName))).toEqual(new Set(['nightly']));
});

test('a morning: who sent what, what came of it, and which process resolved it', async () => {
  const { env, clock, emulator } = await withEmulator({
    automations: { '*': { duration: '5s' } },
    faults: [{ on: 'trigger', automation: 'weekly', nth: 1, do: 'loseAnswer' }],
  });
  const run = (...argv: string[]) => runProgram(argv, { env, clock });
  const shown = async (...argv: string[]) => {
    const { code, stdout } = await run('history', '--json', ...argv);
    expect(code).toBe(0);
    return jsonLines(stdout) as Shown[];
  };
  const whats = (events: Shown[]) => events.map(({ runctl: { history } }) => `${history.what} by ${history.by}`);

  await run('trigger', 'nightly');
  expect((await run('trigger', 'nightly')).code).toBe(5);
  expect((await run('trigger', 'weekly', '--give-up-after', '1ms')).code).toBe(12);
  expect((await run('history')).stderr).toContain('`runctl recover`');
  expect((await run('history', '--quiet')).stderr).toBe('');
  const recovered = await run('recover');
  const [, weekly] = emulator.runs();
  expect(recovered.stdout).toContain(weekly?.executionId);

  expect(whats(await shown('nightly'))).toEqual([
    'sent by trigger',
    'accepted by trigger',
    'sent by trigger',
    'refused by trigger',
  ]);
  const ofWeekly = await shown('weekly');
  expect(whats(ofWeekly)).toEqual([
    'sent by trigger',
    'response_lost by trigger',
    'sent_again by recover',
    'resolved by recover',
  ]);
  expect(ofWeekly.at(-1)).toMatchObject({
    executionId: weekly?.executionId,
    runctl: { history: { status: 'RUNNING' } },
  });
  expect(new Set(ofWeekly.map(({ runctl }) => runctl.history.idempotencyKey)).size).toBe(1);
  const { stdout, stderr } = await run('history', 'nightly');
  expect(stderr).toBe('');
  const [heading, ...lines] = stdout.trimEnd().split('\n');
  expect(heading).toMatch(/^TIME [+-]\d{4} +AUTOMATION +WHAT +RUN +KEY$/);
  expect(lines[0]).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}nightly +sent by trigger /);
  expect(lines.at(-1)).toContain('refused (5): it is already running');
  const bare = (await run('history', 'nightly', '-q')).stdout.trimEnd().split('\n');
  expect(bare).toHaveLength(lines.length);
  for (const line of bare) expect(line).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4} {2}nightly /);
});

test('what is older than --since is not shown, and where nothing is, the folder and the base URL are named', async () => {
  const { env, clock } = await withEmulator({});
  const run = (...argv: string[]) => runProgram(argv, { env, clock });
  const journal = openJournal({
    folder: env.RUNCTL_STATE_DIR,
    nowMs: () => clock.nowMs() - 25 * 3_600_000,
    onTrouble() {},
  });
  const target = { family: 'automation', projectId: env.RUNCTL_PROJECT ?? '', automationName: 'nightly' } as const;
  const executionId = '99999999-0000-4000-8000-000000000000';
  const baseUrl = env.RUNCTL_BASE_URL ?? '';
  journal.append({ type: 'status', baseUrl, target, executionId, status: 'FAILED', first: true });
  const { code, stdout, stderr } = await run('history');
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
  for (const text of [env.RUNCTL_STATE_DIR, baseUrl]) expect(stderr.replaceAll(/\s+/g, ' ')).toContain(text);
  expect((await run('history', '-q')).stderr).toBe('');
  await run('trigger', 'nightly');
  const elsewhere = { ...env, RUNCTL_BASE_URL: baseUrl.replace('127.0.0.1', 'localhost') };
  const { stderr: hint } = await runProgram(['history', 'nightly'], { env: elsewhere, clock });
  expect(hint.replaceAll(/\s+/g, ' ')).toContain(`--base-url ${baseUrl}`);
  const day = new Date(clock.nowMs() - 50 * 3_600_000).toISOString().slice(0, 10);
  for (const since of ['26h', day]) expect((await run('history', '--since', since)).stdout).toContain('first seen');
});

test('each hook of a command is shown with its exit, and is none that a follower goes by', async () => {
  const { env, emulator } = await withEmulator(
    { automations: { nightly: { duration: '1ms' }, '*': { duration: '1h' } } },
    { nowMs: Date.now },
  );
  const run = (...argv: string[]) => runProgram(argv, { env });
  const hooksOf = async (name: string) => {
    const events = jsonLines((await run('history', '--json', name)).stdout) as Shown[];
    return events.flatMap(({ executionId, runctl: { history } }) =>
      history.hook ? [`${history.hook} ${history.what} ${history.failure ?? 'exited with 0'} ${executionId}`] : [],
    );
  };

  const hooks = ['--on-final', 'exit 3', '--on-exit', 'true'];
  expect((await run('trigger', 'nightly', '--watch', '--interval', '20ms', ...hooks)).code).toBe(0);
  const [nightly] = emulator.runs();
  expect(await hooksOf('nightly')).toEqual([
    `--on-final hook_begun exited with 0 ${nightly?.executionId}`,
    `--on-final hook_ended exited with 3 ${nightly?.executionId}`,
    `--on-exit hook_begun exited with 0 ${nightly?.executionId}`,
    `--on-exit hook_ended exited with 0 ${nightly?.executionId}`,
  ]);
  const shown = jsonLines((await run('history', '--json', 'nightly')).stdout) as Shown[];
  const begun = shown.flatMap(({ runctl: { history } }) => (history.what === 'hook_begun' ? history.process : []));
  expect(begun).toEqual([expect.stringContaining(`${process.pid}`), expect.stringContaining(`${process.pid}`)]);
  const journal = openJournal({ folder: env.RUNCTL_STATE_DIR, nowMs: Date.now, onTrouble() {} });
  expect(journal.hooks({ baseUrl: env.RUNCTL_BASE_URL ?? '' })).toEqual([]);

  // The hook of a command with several runs belongs to none of them, and that of a refused trigger has none.
  await run('trigger', 'weekly');
  expect((await run('trigger', 'weekly', 'monthly', '--on-exit', 'kill -9 $$')).code).toBe(5);
  for (const name of ['weekly', 'monthly'])
    expect(await hooksOf(name)).toEqual([
      '--on-exit hook_begun exited with 0 null',
      '--on-exit hook_ended was killed by SIGKILL null',
    ]);
  expect((await run('trigger', 'daily', 'hourly', '--on-exit', 'true')).code).toBe(0);
  expect(await hooksOf('daily')).toEqual([
    '--on-exit hook_begun exited with 0 null',
    '--on-exit hook_ended exited with 0 null',
  ]);
  const { stdout } = await run('history', 'weekly', '-q');
  const { stdout: findings } = await run('doctor', '--offline');
  expect(findings.replaceAll(/\s+/g, ' ')).toMatch(/hooks the --on-exit hook of monthly was killed by SIGKILL at /);
  expect(stdout).toMatch(/--on-exit hook started\n.*--on-exit hook was killed by SIGKILL\n$/);
});

test.each([
  ['skip', 0],
  ['fail', 5],
])('a trigger with --if-active %s that found a run says what it did then', async (ifActive, code) => {
  const { env, clock } = await withEmulator({ automations: { '*': { duration: '1h' } } });
  const run = (...argv: string[]) => runProgram(argv, { env, clock });
  await run('trigger', 'nightly');
  expect((await run('trigger', 'nightly', '--if-active', ifActive)).code).toBe(code);
  const { stdout } = await run('history', 'nightly');
  const said = code === 0 ? `already running (--if-active ${ifActive})` : 'refused (5): it is already running';
  expect(stdout.trimEnd().split('\n').at(-1)).toContain(said);
});

test('a trigger that never arrived is not called refused', async () => {
  const { env, clock } = await withEmulator({});
  const nowhere = { ...env, RUNCTL_BASE_URL: 'http://127.0.0.1:1' };
  const run = (...argv: string[]) => runProgram(argv, { env: nowhere, clock });
  expect((await run('trigger', 'nightly', '--give-up-after', '1s')).code).toBe(10);
  const { stdout } = await run('history', '-q');
  expect(stdout).toContain("never arrived (10): can't connect to 127.0.0.1:1");
  expect(stdout).not.toContain('refused (');
});

test('the run that a refusal names is not the run of the trigger, whether it was sent before or not', async () => {
  const { env, clock, emulator } = await withEmulator({
    ...{ automations: { '*': { duration: '1h' } }, order: 'activeFirst', namesActiveRun: true },
    faults: [{ on: 'trigger', nth: 1, do: 'loseAnswer' }],
  });
  const run = (...argv: string[]) => runProgram(argv, { env, clock });
  const argv = ['trigger', 'nightly', '--give-up-after', '1ms'];
  for (const key of [['--idempotency-key', 'k'], ['--idempotency-key', 'k'], []]) await run(...argv, ...key);
  const shown = jsonLines((await run('history', '--json')).stdout);
  const refusals = shown.filter(({ runctl }) => /refused/.test(runctl.history.what));
  const [active] = emulator.runs();
  const refusal = { executionId: null, runctl: { activeExecutionId: active?.executionId } };
  expect(refusals).toMatchObject([
    { ...refusal, runctl: { ...refusal.runctl, history: { what: 'repeat_refused' } } },
    { ...refusal, runctl: { ...refusal.runctl, history: { what: 'refused' } } },
  ]);
});

test('the run that stood in the way of a repeat is not shown as the one that the trigger started', async () => {
  const { env, clock, emulator } = await withEmulator({
    order: 'activeFirst',
    namesActiveRun: true,
    faults: [{ on: 'trigger', nth: 1, do: 'loseAnswer' }],
  });
  await runProgram(['trigger', 'nightly'], { env, clock });
  const shown = jsonLines((await runProgram(['history', '--json'], { env, clock })).stdout);
  const [{ executionId } = { executionId: '' }] = emulator.runs();
  const lost = shown.filter(({ runctl }) => runctl.history.what === 'response_lost' && runctl.activeExecutionId);
  expect(lost).toMatchObject([{ executionId: null, runctl: { activeExecutionId: executionId } }]);
});
