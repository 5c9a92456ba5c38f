import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { Scenario } from '../../src/emulator/scenario.ts';
import type { Emulator } from '../../src/emulator/server.ts';
import { openJournal } from '../../src/journal/journal.ts';
import { createProcesses } from '../../src/journal/processes.ts';
import { withEmulator } from '../helpers/emulator.ts';
import { createFastClock } from '../helpers/fast-clock.ts';
import { jsonLines } from '../helpers/json-lines.ts';
import { networkFaults } from '../helpers/network-faults.ts';
import { runProgram } from '../helpers/run-program.ts';
import { executionId, target } from '../helpers/scripted-service.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const quick: Scenario = { automations: { '*': { duration: '1ms' } } };

/** A machine on which followers can be started, whose hook writes a line for each run. */
async function machine(scenario: Scenario = quick) {
  const clock = createFastClock();
  const { env, emulator, endRuns } = await withEmulator(scenario, { nowMs: clock.nowMs });
  const reported = join(temporaryFolder(), 'reported');
  const hook = `echo "$RUNCTL_EXECUTION_ID $RUNCTL_STATUS" >> '${reported}'`;
  const run = (...argv: string[]) => runProgram(argv, { env, clock });
  const journal = openJournal({ folder: env.RUNCTL_STATE_DIR, nowMs: clock.nowMs, onTrouble() {} });
  return {
    env,
    clock,
    emulator,
    endRuns,
    journal,
    hook,
    run,
    trigger: async (name = 'nightly') => (await run('trigger', name, '-q')).stdout.trim(),
    reported: () => (existsSync(reported) ? readFileSync(reported, 'utf8').split('\n').filter(Boolean) : []),
    follower(...flags: string[]) {
      const interrupt = new AbortController();
      const ended = runProgram(['watch', '--follow', ...flags], { env, clock, signal: interrupt.signal });
      return {
        ended,
        stop() {
          interrupt.abort('SIGTERM');
          return ended;
        },
      };
    },
  };
}

/** A run that the service knows and the journal does not. */
async function startRun({ url, projectId, apiKey }: Emulator, name: string): Promise<{ executionId: string }> {
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
  const trigger = `${url}/v0/automation/${projectId}/${name}/trigger`;
  const response = await fetch(trigger, { method: 'POST', headers, body: '{}' });
  return (await response.json()) as { executionId: string };
}

const patience = { timeout: 15_000, interval: 50 };

test.each([
  ['', true],
  ['--quiet', false],
  ['--events', false],
])('a follower that finds no unfinished run says that it waits, for people: %s', async (flag, isSaid) => {
  const { follower, env } = await machine();
  const { stop } = follower(...(flag ? [flag] : []));
  // Its claim comes first.
  await vi.waitFor(() => expect(readdirSync(env.RUNCTL_STATE_DIR ?? '')).not.toEqual([]), patience);
  const { stderr } = await stop();
  expect(stderr.includes('No unfinished runs. Waiting for runs')).toBe(isSaid);
});

test('a follower reports runs that were there before and those that others trigger later, each once', async () => {
  const { follower, trigger, reported, hook } = await machine();
  const before = await trigger('before');
  const { stop } = follower('--events', '--on-final', hook);
  await vi.waitFor(() => expect(reported()).toHaveLength(1), patience);
  const later = [await trigger('nightly'), await trigger('weekly')];
  await vi.waitFor(() => expect(reported()).toHaveLength(3), patience);
  const { code, stdout } = await stop();
  expect(code).toBe(143);
  expect(reported().sort()).toEqual([before, ...later].map((id) => `${id} COMPLETED`).sort());
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(
    events
      .filter(({ event }) => event === 'run_done')
      .map(({ executionId }) => executionId)
      .sort(),
  ).toEqual([before, ...later].sort());
  expect(events.at(-1)).toMatchObject({ event: 'done', exitCode: 143, signal: 'SIGTERM' });
});

test('a follower leaves alone what another command triggers at another base URL', async () => {
  const { follower, env, clock, emulator, trigger, reported, hook } = await machine();
  const { stop } = follower('--on-final', hook);
  await vi.waitFor(() => expect(readdirSync(env.RUNCTL_STATE_DIR ?? '')).not.toEqual([]), patience);
  const { emulator: other } = await withEmulator(quick, { nowMs: clock.nowMs });
  const there = { ...env, RUNCTL_BASE_URL: other.url, RUNCTL_PROJECT: other.projectId };
  expect((await runProgram(['trigger', 'elsewhere'], { env: there, clock })).code).toBe(0);
  const id = await trigger();
  await vi.waitFor(() => expect(reported()).toEqual([`${id} COMPLETED`]), patience);
  expect((await stop()).stderr).not.toContain('elsewhere');
  expect(emulator.requests.filter(({ url }) => url.includes('elsewhere'))).toEqual([]);
});

test('a second follower is refused and names the first; when that has exited, another one may begin', async () => {
  const { follower, run, clock } = await machine();
  const first = follower();
  await vi.waitFor(async () => {
    const { code, stderr } = await run('watch', '--follow');
    expect(code).toBe(2);
    expect(stderr).toMatch(/process \d+ on \S+ \(since .*\) is already following the runs of http.*/);
  }, patience);
  await first.stop();
  const next = follower();
  await clock.sleep(1500);
  expect((await next.stop()).code).toBe(143);
});

test('a follower whose claim another process has taken ends, and says so', async () => {
  const { follower, env } = await machine();
  const first = follower();
  const claim = () => readdirSync(env.RUNCTL_STATE_DIR ?? '').find((name) => name.startsWith('follower-')) ?? '';
  await vi.waitFor(() => expect(claim()).not.toBe(''), patience);
  const other = JSON.stringify({ process: 'another-host 1 1', since: new Date().toISOString() });
  writeFileSync(join(env.RUNCTL_STATE_DIR ?? '', claim()), other);
  const { code, stderr } = await first.ended;
  expect(code).toBe(2);
  expect(stderr).toContain(env.RUNCTL_BASE_URL);
});

test('a hook that was begun is not run again, and one that was cut off is reported once', async () => {
  const { follower, trigger, reported, hook, journal, env, clock } = await machine();
  const id = await trigger();
  const [known] = [...journal.runs()];
  if (!known) expect.unreachable();
  // As a follower leaves it that is killed while its hook runs.
  journal.append({ type: 'hook_begun', baseUrl: env.RUNCTL_BASE_URL ?? '', target: known.target, executionId: id });
  const first = follower('--on-final', hook);
  const other = await trigger('weekly');
  await vi.waitFor(() => expect(reported()).toEqual([`${other} COMPLETED`]), patience);
  const baseUrl = env.RUNCTL_BASE_URL ?? '';
  await vi.waitFor(
    () => expect(journal.hooks({ baseUrl }).every(({ state }) => state === 'ended')).toBe(true),
    patience,
  );
  expect((await first.stop()).stderr).toContain(`the --on-final command for run ${id} of nightly may be incomplete`);
  const second = follower('--on-final', hook);
  await clock.sleep(1500);
  expect((await second.stop()).stderr).not.toContain('incomplete');
  expect(reported()).toEqual([`${other} COMPLETED`]);
});

test('a hook that a signal ends with its follower is reported by that follower alone', async () => {
  const { follower, trigger, journal, env } = await machine();
  const id = await trigger();
  const first = follower('--on-final', 'sleep 60');
  const hooks = () => journal.hooks({ baseUrl: env.RUNCTL_BASE_URL ?? '' });
  await vi.waitFor(() => expect(hooks()).toMatchObject([{ state: 'begun' }]), patience);
  expect((await first.stop()).stderr).toContain(`the --on-final command for run ${id} of nightly was`);
  expect(hooks()).toMatchObject([{ state: 'ended' }]);
});

test('a hook whose turn comes after a signal is left to the next follower, and the last line says so', async () => {
  const { follower, run, reported, hook, journal, env, emulator, clock } = await machine();
  const names = Array.from({ length: 9 }, (_, index) => `nightly-${index}`);
  expect((await run('trigger', ...names, '-q')).code).toBe(0);
  const first = follower('--on-final', 'sleep 60');
  const states = () => journal.hooks({ baseUrl: env.RUNCTL_BASE_URL ?? '' }).map(({ state }) => state);
  await vi.waitFor(() => expect(states().filter((state) => state === 'begun')).toHaveLength(8), patience);
  const read = () => emulator.requests.filter(({ url }) => url.endsWith('/result'));
  await vi.waitFor(() => expect(read()).toHaveLength(9), patience);
  await clock.sleep(2_000);
  expect((await first.stop()).stderr).toMatch(/1 --on-final command.* not run.*runctl watch --follow --on-final/);
  const second = follower('--on-final', hook);
  await vi.waitFor(() => expect(reported()).toHaveLength(1), patience);
  await second.stop();
});

test('each run whose hook failed is named', async () => {
  const { follower, trigger, journal, env, run } = await machine();
  const ids = [await trigger(), await trigger('weekly')];
  const { stop } = follower('--quiet', '--on-final', 'exit 3');
  const hooks = () => journal.hooks({ baseUrl: env.RUNCTL_BASE_URL ?? '' });
  await vi.waitFor(() => expect(hooks().filter(({ state }) => state === 'ended')).toHaveLength(2), patience);
  const { stderr } = await stop();
  for (const id of ids) expect(stderr).toContain(`the --on-final command for run ${id} of`);
  expect((await run('history')).stdout.match(/hook exited with 3 /g)).toHaveLength(2);
});

test('a journal that is away for a while ends no follower, and the hooks that came due then are left to the next', async () => {
  const { follower, trigger, reported, hook, journal, env, clock, emulator } = await machine({
    automations: { nightly: { duration: '10s' }, '*': { duration: '1ms' } },
  });
  const file = join(env.RUNCTL_STATE_DIR ?? '', 'journal.jsonl');
  const first = follower('--on-final', hook);
  const id = await trigger();
  const hookStates = () => journal.hooks({ baseUrl: env.RUNCTL_BASE_URL ?? '' }).map(({ state }) => state);
  await vi.waitFor(() => expect(hookStates()).toEqual(['due']), patience);
  renameSync(file, `${file}.kept`);
  mkdirSync(file);
  await vi.waitFor(() => expect(emulator.requests.at(-1)?.url).toMatch(/result$/), patience);
  await clock.sleep(2_000);
  rmdirSync(file);
  renameSync(`${file}.kept`, file);
  const later = await trigger('weekly');
  await vi.waitFor(() => expect(reported()).toEqual([`${later} COMPLETED`]), patience);
  const { code, stderr } = await first.stop();
  expect(code).toBe(143);
  expect(stderr.match(/was not run: .*can't be read/g)).toHaveLength(1);
  const second = follower('--on-final', hook);
  await vi.waitFor(() => expect(reported()).toEqual([`${later} COMPLETED`, `${id} COMPLETED`]), patience);
  await second.stop();
});

test('a hook that an earlier follower owes is named by one that runs no hook, and by doctor', async () => {
  const { follower, journal, env, clock } = await machine();
  const baseUrl = env.RUNCTL_BASE_URL ?? '';
  journal.append({ type: 'hook_due', baseUrl, target, executionId });
  const without = follower();
  await clock.sleep(2_000);
  const { stderr } = await without.stop();
  expect(stderr).toMatch(/1 --on-final command .* due.*`--on-final …`/);
  expect((await hooksFinding(env)).advice).toContain('--on-final');
});

test('a hook that a killed follower had begun is a finding of doctor', async () => {
  const { journal, env } = await machine();
  const begun = { type: 'hook_begun', baseUrl: env.RUNCTL_BASE_URL ?? '', target, executionId } as const;
  journal.append({ ...begun, process: createProcesses().own });
  expect(await hooksFinding(env)).toMatchObject({ result: 'ok' });
  journal.append({ ...begun, executionId: executionId.replace(/.$/, '9'), process: 'another-host 1 1' });
  expect(await hooksFinding(env)).toMatchObject({
    result: 'warning',
    message: expect.stringMatching(/^1 .*incomplete/),
  });
});

async function hooksFinding(env: Record<string, string>) {
  const { stdout } = await runProgram(['doctor', '--offline', '--json'], { env });
  return jsonLines(stdout)[0].runctl.doctor.find(({ name }: { name: string }) => name === 'hooks');
}

test.each([
  ['with a hook', ['--on-final', 'true'], 'ok'],
  ['without one', [], 'warning'],
])('a hook that is due while a follower %s runs is nothing to do, or a finding of doctor', async (_, flags, result) => {
  const { follower, trigger, journal, env } = await machine({ automations: { '*': { duration: '1h' } } });
  const executionId = await trigger();
  const [known] = [...journal.runs()];
  if (!known) expect.unreachable();
  journal.append({ type: 'hook_due', baseUrl: env.RUNCTL_BASE_URL ?? '', target: known.target, executionId });
  const { stop } = follower(...flags);
  const claimed = () => readdirSync(env.RUNCTL_STATE_DIR ?? '').some((name) => name.startsWith('follower-'));
  await vi.waitFor(() => expect(claimed()).toBe(true), patience);
  const { stdout } = await runProgram(['doctor', '--offline', '--json'], { env });
  await stop();
  expect(jsonLines(stdout)[0].runctl.doctor).toContainEqual(expect.objectContaining({ name: 'hooks', result }));
});

test('a follower knows how a run whose hook is due was last seen', async () => {
  const { follower, run, trigger, reported, hook, journal, env } = await machine({
    ...quick,
    faults: [{ on: 'status', nth: 2, do: 'status', status: 503 }],
  });
  const executionId = await trigger();
  expect((await run('watch')).code).toBe(0);
  const [known] = [...journal.runs()];
  if (!known) expect.unreachable();
  journal.append({ type: 'hook_due', baseUrl: env.RUNCTL_BASE_URL ?? '', target: known.target, executionId });
  const { stop } = follower('--events', '--on-final', hook);
  await vi.waitFor(() => expect(reported()).toHaveLength(1), patience);
  const failed = jsonLines((await stop()).stdout).filter(({ event }) => event === 'attempt_failed');
  expect(failed).toMatchObject([{ lastConfirmed: { status: 'COMPLETED' } }]);
});

test('what a follower warned of is in the document of the next run, and of none after it', async () => {
  const { follower, trigger, journal, env, clock } = await machine();
  const file = join(env.RUNCTL_STATE_DIR ?? '', 'journal.jsonl');
  const { stop } = follower('--events');
  const finish = async (name: string) => {
    await trigger(name);
    await vi.waitFor(() => expect([...journal.runs()].map(({ isFinal }) => isFinal)).not.toContain(false), patience);
    // The result is read after that.
    await clock.sleep(2_000);
  };
  await finish('before');
  renameSync(file, `${file}.kept`);
  mkdirSync(file);
  await clock.sleep(10_000);
  rmdirSync(file);
  renameSync(`${file}.kept`, file);
  for (const name of ['next', 'later']) await finish(name);
  const ended = jsonLines((await stop()).stdout).filter(({ event }) => event === 'run_done');
  expect(ended.map(({ document: { automationName, runctl } }) => [automationName, runctl.warnings.length])).toEqual([
    ['before', 0],
    ['next', 1],
    ['later', 0],
  ]);
});

test('a state folder that is removed is reported once', async () => {
  const { follower, env, clock } = await machine();
  const folder = env.RUNCTL_STATE_DIR ?? '';
  const { stop } = follower('--events');
  await vi.waitFor(() => expect(readdirSync(folder)).not.toEqual([]), patience);
  await clock.sleep(2_000);
  rmSync(folder, { recursive: true });
  await clock.sleep(5_000);
  const { stdout, stderr } = await stop();
  for (const text of [stdout, stderr]) expect(text.match(/the state folder was removed/g)).toHaveLength(1);
});

test("a run that the service doesn't know is reported and dropped, and the others are followed", async () => {
  const { follower, trigger, reported, hook, journal, env } = await machine();
  await trigger();
  const [known] = [...journal.runs()];
  if (!known) expect.unreachable();
  const executionId = '99999999-0000-4000-8000-000000000000';
  const lost = { baseUrl: env.RUNCTL_BASE_URL ?? '', target: known.target, executionId };
  journal.append({ type: 'status', ...lost, status: 'RUNNING', first: true });
  const { stop } = follower('--on-final', hook);
  await vi.waitFor(() => expect(reported()).toHaveLength(1), patience);
  const later = await trigger('weekly');
  await vi.waitFor(() => expect(reported()).toContain(`${later} COMPLETED`), patience);
  const { code } = await stop();
  expect(code).toBe(143);
});

test('a run that the service does not know yet, because it was just triggered, is followed', async () => {
  const unknown = { on: 'status', nth: 1, do: 'status', status: 422, body: { code: 'notFound' } } as const;
  const { follower, trigger, reported, hook, env } = await machine({ ...quick, faults: [unknown] });
  const { stop } = follower('--on-final', hook);
  await vi.waitFor(() => expect(readdirSync(env.RUNCTL_STATE_DIR ?? '')).not.toEqual([]), patience);
  const id = await trigger();
  await vi.waitFor(() => expect(reported()).toEqual([`${id} COMPLETED`]), patience);
  expect((await stop()).code).toBe(143);
});

test("a run that the service doesn't know is named on stderr, also if no other is followed", async () => {
  const { follower, journal, env, emulator, clock } = await machine();
  const executionId = '99999999-0000-4000-8000-000000000000';
  const lost = { family: 'automation', projectId: emulator.projectId, automationName: 'lost' } as const;
  const baseUrl = env.RUNCTL_BASE_URL ?? '';
  journal.append({ type: 'status', baseUrl, target: lost, executionId, status: 'RUNNING', first: true });
  const { stop } = follower();
  await vi.waitFor(() => expect(emulator.requests).toHaveLength(1), patience);
  await clock.sleep(2_000);
  expect((await stop()).stderr).toMatch(/^lost: not found$/m);
});

test('an API key that is refused ends the follower', async () => {
  const { env, trigger } = await machine();
  await trigger();
  const ended = await runProgram(['watch', '--follow'], {
    env: { ...env, RUNCTL_API_KEY: 'another-key-123456' },
  });
  expect(ended.code).toBe(7);
  expect(ended.stderr, 'it is said once').not.toMatch(/^nightly: /m);
});

test('a machine on which nothing has ever run is followed, too', async () => {
  const { follower, trigger, reported, hook, clock } = await machine();
  const { stop } = follower('--on-final', hook);
  await clock.sleep(1500);
  const id = await trigger();
  await vi.waitFor(() => expect(reported()).toEqual([`${id} COMPLETED`]), patience);
  expect((await stop()).code).toBe(143);
});

test('runs are followed, each once, also where the journal begins a new file with every record', async () => {
  const { follower, reported, hook, env, emulator, clock } = await machine();
  const { stop } = follower('--on-final', hook);
  const small = openJournal({ folder: env.RUNCTL_STATE_DIR, nowMs: clock.nowMs, onTrouble() {}, fileBytes: 1 });
  const ids: string[] = [];
  for (const name of ['a', 'b', 'c', 'd', 'e']) {
    // What another process leaves that triggers a run.
    const target = { family: 'automation', projectId: emulator.projectId, automationName: name } as const;
    const { executionId } = await startRun(emulator, name);
    const run = { baseUrl: emulator.url, target, executionId, status: 'RUNNING' };
    small.append({ type: 'accepted', idempotencyKey: name, ...run, first: true });
    ids.push(executionId);
    if (name === 'c') await vi.waitFor(() => expect(reported()).toHaveLength(3), patience);
  }
  await vi.waitFor(() => expect(reported()).toHaveLength(5), patience);
  expect((await stop()).code).toBe(143);
  expect(reported().sort()).toEqual(ids.map((id) => `${id} COMPLETED`).sort());
  expect(readdirSync(env.RUNCTL_STATE_DIR ?? '').filter((name) => name.endsWith('.jsonl')).length).toBeGreaterThan(4);
});

test.each([
  ['--follow takes no run arguments', ['watch', 'nightly', '--follow']],
  ['--json', ['watch', '--follow', '--json']],
  ['--timeout', ['watch', '--follow', '--timeout', '1h']],
])('a command line that makes no sense is refused: %s', async (word, argv) => {
  const { run } = await machine();
  const { code, stdout, stderr } = await run(...argv);
  expect(code).toBe(2);
  expect(stdout + stderr).toContain(word);
});

test('a follower refuses a journal that cannot be read, with the exit code of a refusal', async () => {
  const { run, env } = await machine();
  mkdirSync(join(env.RUNCTL_STATE_DIR ?? '', 'journal.jsonl'), { recursive: true });
  const { code, stderr } = await run('watch', '--follow');
  expect([code, stderr]).toEqual([2, expect.stringContaining('journal.jsonl')]);
});

test('a follower that a signal ends says that unfinished runs continue', async () => {
  const { follower, trigger, env } = await machine({ automations: { '*': { duration: '1000h' } }, runLimit: '1000h' });
  await trigger();
  const { stop } = follower();
  await vi.waitFor(() => expect(readdirSync(env.RUNCTL_STATE_DIR ?? '').join()).toContain('follower'), patience);
  expect((await stop()).stderr).toMatch(/unfinished runs continue.*runctl watch --follow/s);
});

test('a follower whose way to the service was never open ends, and leaves its run open', async () => {
  const { env, journal } = await machine();
  const service = await networkFaults['proxy 407']?.();
  const baseUrl = service?.env.RUNCTL_BASE_URL ?? '';
  journal.append({ type: 'accepted', baseUrl, target, executionId, idempotencyKey: 'k' });
  const { code, stderr } = await runProgram(['watch', '--follow'], { env: { ...env, ...service?.env } });
  expect([code, stderr]).toEqual([10, expect.stringContaining('proxy')]);
  expect(journal.unfinishedRuns({ baseUrl })).toHaveLength(1);
});

test('a run that is not found while the journal is away ends no follower', async () => {
  const { follower, trigger, env, emulator } = await machine({
    automations: { '*': { duration: '1000h' } },
    runLimit: '1000h',
    faults: [{ on: 'status', from: 3, do: 'status', status: 422, body: { code: 'notFound' } }],
  });
  const { stop } = follower();
  await vi.waitFor(() => expect(readdirSync(env.RUNCTL_STATE_DIR ?? '')).not.toEqual([]), patience);
  await trigger();
  const polls = (least: number) => vi.waitFor(() => expect(emulator.requests.length).toBeGreaterThan(least), patience);
  await polls(2);
  const file = join(env.RUNCTL_STATE_DIR ?? '', 'journal.jsonl');
  renameSync(file, `${file}.kept`);
  mkdirSync(file);
  await polls(4);
  expect(await stop()).toMatchObject({ code: 143, stderr: expect.not.stringContaining('bug') });
});
