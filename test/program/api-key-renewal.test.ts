// An API key that is replaced while a command runs: it is read again from its file or command after the first refusal.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/process.ts';
import type { Endpoint } from '../../src/run/service.ts';
import { accountOf } from '../../src/settings/api-key.ts';
import type { Fault, Scenario } from '../fault-kit/scenario.ts';
import type { LeapingClock } from '../helpers/leaping-clock.ts';
import { withMachine } from '../helpers/machine.ts';
import { patientClock } from '../helpers/patient-clock.ts';
import type { ProgramOptions } from '../helpers/run-program.ts';
import { executionId, projectId } from '../helpers/scripted-service.ts';
import { answer, startFaultyService } from '../helpers/server-faults.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const oldKey = 'sk-live-0123456789abcdef';
const newKey = 'sk-live-fedcba9876543210';
const count = 'echo >> "$FOLDER/ran"';
/** Prints the old API key when it runs for the first time, and the new one from then on. */
const newer = `${count}; [ "$(wc -l < "$FOLDER/ran")" -gt 1 ] && echo ${newKey} || echo ${oldKey}`;

/** A service that takes both API keys, until a fault revokes the old one, and a machine whose command prints an API key. */
async function withCommand(command: string, scenario: Scenario) {
  const plan = { automations: { '*': { duration: '2m' } }, apiKeys: [newKey], ...scenario };
  const machine = await withMachine(plan, { apiKey: oldKey });
  const FOLDER = temporaryFolder();
  const env = { PATH: process.env.PATH ?? '', FOLDER, RUNCTL_API_KEY: '', RUNCTL_API_KEY_COMMAND: command };
  const ranFile = join(FOLDER, 'ran');
  return {
    ...machine,
    run: (line: string, { env: more, ...others }: ProgramOptions = {}) =>
      machine.run(line, { env: { ...env, ...more }, clock: patientClock(machine.clock), ...others }),
    /** With the API key that the service takes from the start. */
    runWith: (apiKey: string, line: string) =>
      machine.run(line, { env: { RUNCTL_API_KEY: apiKey }, clock: machine.clock }),
    ran: () => (existsSync(ranFile) ? readFileSync(ranFile, 'utf8').length : 0),
    /** Which API key each POST was sent with. */
    triggeredWith: () =>
      machine.emulator.requests.flatMap(({ method, headers }) => (method === 'POST' ? [headers['x-api-key']] : [])),
    accounts: () => machine.records().flatMap(({ type, account }) => (type === 'triggered' ? [account] : [])),
  };
}

const revokeAt = (nth: number, on: Endpoint): Fault => ({ on, nth, do: 'revokeKey' });
const refuseWith = (status: number, on: 'trigger' | 'status'): Fault => ({ on, nth: 1, do: 'status', status });
const conflict = { code: 'runAlreadyActive', message: 'The Automation is already running' };

describe('another API key is used from the first refusal on', () => {
  test.each<[string, string, Fault[]]>([
    ['by a trigger', 'trigger nightly', [revokeAt(1, 'trigger')]],
    ['by a trigger that is forbidden', 'trigger nightly', [refuseWith(403, 'trigger')]],
    ['by a trigger with a given key', 'trigger nightly --idempotency-key k', [revokeAt(1, 'trigger')]],
    ['by a trigger after a 429', 'trigger nightly', [refuseWith(429, 'trigger'), revokeAt(2, 'trigger')]],
    ['by a watch', 'trigger nightly --watch', [revokeAt(1, 'status')]],
    ['by a watch that is forbidden', 'trigger nightly --watch', [refuseWith(403, 'status')]],
    ['by a watch that reads the result', 'trigger nightly --watch', [revokeAt(1, 'result')]],
  ])('%s', async (_, line, faults) => {
    const { run, ran, ids } = await withCommand(newer, { faults });
    expect([(await run(line)).code, ran(), ids().length]).toEqual([0, 2, 1]);
  });

  test.each(['status nightly', 'result nightly', 'watch nightly'])('by `%s`', async (line) => {
    const first = line.startsWith('result') ? 'result' : 'status';
    const { run, runWith, ran } = await withCommand(newer, { faults: [revokeAt(1, first)] });
    await runWith(oldKey, 'trigger nightly');
    expect([(await run(line)).code, ran()]).toEqual([0, 2]);
  });

  test('by `list`, of each run that it polls', async () => {
    const file = join(temporaryFolder(), 'key');
    writeFileSync(file, oldKey);
    const { run, runWith, clock } = await withCommand(newer, { faults: [revokeAt(1, 'status')] });
    await runWith(oldKey, 'trigger a b c');
    // The file is replaced after it was read, when the polls begin.
    const sleep: LeapingClock['sleep'] = (ms, signal) => {
      writeFileSync(file, newKey);
      // The time of all polls together passes for real, so that a busy machine doesn't cut them short.
      return ms === 30_000 ? systemClock.sleep(ms, signal) : clock.sleep(ms, signal);
    };
    const env = { RUNCTL_API_KEY_COMMAND: '', RUNCTL_API_KEY_FILE: file };
    const { documents } = await run('list --json', { env: { ...env }, clock: { ...clock, sleep } });
    expect(documents.map(({ runctl }) => runctl.lastConfirmed)).toEqual([undefined, undefined, undefined]);
  });

  test.each([
    ['by the polls of the active run', [revokeAt(1, 'status')]],
    ['by the trigger after it', [revokeAt(2, 'trigger')]],
  ])('by a trigger that waits for another run: %s', async (_, faults) => {
    const { run, runWith, ran, ids } = await withCommand(newer, { namesActiveRun: true, faults });
    await runWith(newKey, 'trigger nightly');
    expect([(await run('trigger nightly --if-active wait')).code, ran(), ids().length]).toEqual([0, 2, 2]);
  });

  test('and a trigger whose response is lost after that belongs to the new one', async () => {
    const lost: Fault = { on: 'trigger', nth: 2, do: 'loseAnswer' };
    const { run, runWith, accounts } = await withCommand(newer, { faults: [revokeAt(1, 'trigger'), lost] });
    const key = 'trigger nightly --idempotency-key k';
    expect((await run(`${key} --give-up-after 1ms`)).code).toBe(12);
    expect(accounts()).toEqual([accountOf(oldKey), accountOf(newKey)]);
    const { documents } = await runWith(newKey, 'recover --json');
    expect(documents).toMatchObject([{ runctl: { exitCode: 0, trigger: { how: 'recovered' } } }]);
  });

  test('and is read once for all requests that were refused together', async () => {
    const { run, ran } = await withCommand(newer, { faults: [revokeAt(3, 'status')] });
    expect([(await run('trigger a b c d --watch')).code, ran()]).toEqual([0, 2]);
  });
});

describe('a trigger keeps its API key and says that there is another one', () => {
  test.each<[string, string, number, Scenario]>([
    [
      'after a lost response',
      'trigger nightly',
      12,
      { faults: [{ on: 'trigger', nth: 1, do: 'loseAnswer' }, revokeAt(2, 'trigger')] },
    ],
    [
      'after a 503',
      'trigger nightly --idempotency-key k',
      12,
      { faults: [refuseWith(503, 'trigger'), revokeAt(2, 'trigger')] },
    ],
    [
      'with a given key after a conflict',
      'trigger nightly --if-active wait --idempotency-key k',
      7,
      { faults: [{ on: 'trigger', nth: 1, do: 'status', status: 422, body: conflict }, revokeAt(2, 'trigger')] },
    ],
  ])('%s', async (_, line, code, scenario) => {
    const { run, triggeredWith } = await withCommand(newer, scenario);
    const { documents } = await run(`${line} --json`);
    expect(documents[0].runctl).toMatchObject({
      exitCode: code,
      problem: { message: expect.stringContaining('there is a new API key') },
    });
    expect(new Set(triggeredWith())).toEqual(new Set([oldKey]));
  });

  test('if an earlier command left its idempotency key in doubt', async () => {
    const faults: Fault[] = [{ on: 'trigger', nth: 1, do: 'status', status: 503 }, revokeAt(2, 'trigger')];
    const { run, runWith, triggeredWith } = await withCommand(newer, { faults });
    const line = 'trigger nightly --idempotency-key k';
    expect((await runWith(oldKey, `${line} --give-up-after 1ms`)).code).toBe(12);
    const { code, stderr } = await run(line);
    // The new API key isn't used without a reason, and what to do is said.
    const said = expect.stringMatching(/there is a new API key(.|\n)*a second run could start(.|\n)*trigger again/);
    expect([code, stderr]).toEqual([7, said]);
    expect(triggeredWith()).toEqual([oldKey, oldKey]);
  });
});

test('an API key that a command changes each time is read every 30 seconds at most', async () => {
  const each = `${count}; echo "sk-live-$(wc -l < "$FOLDER/ran" | tr -d " ")"`;
  const { run, ran } = await withCommand(each, { apiKeys: ['sk-live-1'], faults: [revokeAt(2, 'status')] });
  expect((await run('trigger nightly --watch --interval 1s')).code).toBe(14);
  // At the start, at the first refusal, and when the refusals have lasted, twice.
  expect(ran()).toBeLessThanOrEqual(4);
});

describe('while a run is watched, a refusal is an invalid answer if the API key', () => {
  test.each<[string, (file: string) => void]>([
    ['file is missing', (file) => rmSync(file)],
    ['file is empty', (file) => writeFileSync(file, '')],
    ['file is only half written', (file) => writeFileSync(file, newKey.slice(0, 3))],
  ])('%s', async (_, hide) => {
    const { run, clock, emulator } = await withMachine(
      { automations: { '*': { duration: '20m' } }, apiKeys: [newKey], faults: [revokeAt(2, 'status')] },
      { apiKey: oldKey },
    );
    const file = join(temporaryFolder(), 'key');
    writeFileSync(file, `${oldKey}\n`);
    const startMs = clock.elapsedMs();
    const sleep: LeapingClock['sleep'] = (ms, signal) => {
      if (emulator.requests.length === 2) hide(file);
      if (clock.elapsedMs() - startMs > 300_000) writeFileSync(file, `${newKey}\n\n`);
      return clock.sleep(ms, signal);
    };
    const env = { RUNCTL_API_KEY: '', RUNCTL_API_KEY_FILE: file };
    expect((await run('trigger nightly --watch', { env, clock: { ...clock, sleep } })).code).toBe(0);
  });

  test('command fails, until nothing valid has come for too long', async () => {
    const once = `[ -e "$FOLDER/ran" ] && exit 9; ${count}; echo ${oldKey}`;
    const { run } = await withCommand(once, { faults: [revokeAt(2, 'status')] });
    const { code, stderr } = await run('trigger nightly --watch --interval 5s --give-up-after 5m');
    expect([code, stderr]).toEqual([14, expect.stringMatching(/for 5m, .*RUNCTL_API_KEY_COMMAND.* 9\b/)]);
  });
});

test('an API key that `status` can not read again after a refusal counts as refused, and the message says why', async () => {
  const file = join(temporaryFolder(), 'key');
  writeFileSync(file, oldKey);
  const service = await startFaultyService(() => {
    rmSync(file, { force: true });
    return answer(401, '{}');
  });
  const { run } = await withMachine();
  const env = { ...service.env, RUNCTL_API_KEY: '', RUNCTL_API_KEY_FILE: file };
  const { code, stderr } = await run(`status ${projectId}/nightly/${executionId}`, { env });
  expect([code, stderr, service.requests()]).toEqual([7, expect.stringContaining("can't be read again"), 1]);
});
