import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Scenario } from '../fault-kit/scenario.ts';
import { withEmulator } from '../helpers/emulator.ts';
import { jsonLines } from '../helpers/json-lines.ts';
import { runProgram } from '../helpers/run-program.ts';

const trial = ['doctor', '--try-key', 'nightly', '--yes'];
const short = { '*': { duration: '10s' } };
const failing = { do: 'status', status: 503 } as const;

describe('doctor --try-key', () => {
  test.each<[string, Scenario, number, number, RegExp]>([
    ['that honors keys', {}, 0, 1, /idempotency keys +honored: .*the same run/],
    [
      'whose run is not found for a while',
      { order: 'activeFirst', automations: { '*': { duration: '10s', statusLate: '45s' } } },
      0,
      1,
      /honored/,
    ],
    [
      'whose run cannot be polled',
      { order: 'activeFirst', faults: [{ on: 'status', do: 'status', status: 401 }] },
      12,
      1,
      /the run's end wasn't seen: .*API key was refused/,
    ],
    [
      'whose firewall refuses the first poll',
      { order: 'activeFirst', faults: [{ on: 'status', nth: 1, do: 'status', status: 401 }] },
      0,
      1,
      /honored/,
    ],
    ['that checks the active run first', { order: 'activeFirst' }, 0, 1, /idempotency keys +honored/],
    ['that ignores keys', { idempotencyKeys: 'ignored' }, 0, 2, /idempotency keys +ignored: .* a second run/],
    ['whose 429 is retried', { faults: [{ on: 'trigger', nth: 2, do: 'status', status: 429 }] }, 0, 1, /honored/],
    ['without credits', { credits: 0 }, 12, 0, /HTTP 402/],
    ['that repeats a refusal', { order: 'activeFirst', replayErrors: true }, 0, 1, /honored/],
    ['that loses the first answer', { faults: [{ on: 'trigger', nth: 1, do: 'loseAnswer' }] }, 12, 1, /runctl recover/],
    [
      'that loses the second answer',
      { idempotencyKeys: 'ignored', automations: { '*': { duration: '1ms' } }, faults: [{ nth: 2, do: 'loseAnswer' }] },
      12,
      2,
      /may have started a second run/,
    ],
    [
      'that fails after the run has finished',
      { idempotencyKeys: 'ignored', faults: [{ on: 'trigger', from: 3, ...failing, acts: true }] },
      12,
      2,
      /may have started a second run/,
    ],
  ])('at a service %s', async (_, scenario, exitCode, runs, says) => {
    const { env, clock, emulator } = await withEmulator({ automations: short, ...scenario });
    const { code, stdout, stderr } = await runProgram(trial, { env, clock });
    expect(stdout + stderr).toMatch(says);
    expect([code, emulator.runs().length]).toEqual([exitCode, runs]);
  });

  test('waits for nobody: while a run is active, it says to try again later', async () => {
    const { env, clock } = await withEmulator({ automations: short });
    const elsewhere = { ...env, RUNCTL_STATE_DIR: `${env.RUNCTL_STATE_DIR}-elsewhere` };
    expect((await runProgram(['trigger', 'nightly'], { env: elsewhere, clock })).code).toBe(0);
    const { code, stderr } = await runProgram(trial, { env, clock });
    expect([code, stderr]).toEqual([12, expect.stringContaining('try again when that run has finished')]);
  });

  test.each([
    ['', true],
    ['--quiet', false],
    ['--json', false],
  ])('says what it does, for people: %s', async (flag, isSaid) => {
    const { env, clock } = await withEmulator({ automations: short });
    const { code, stderr } = await runProgram([...trial, ...(flag ? [flag] : [])], { env, clock });
    expect([code, stderr.includes('repeating the trigger')]).toEqual([0, isSaid]);
  });

  test.each<[string, Scenario, string | undefined, RegExp]>([
    ['nothing if keys are honored', {}, undefined, /honored: .*; nothing need be set/],
    ['the other value if they are said to be ignored', {}, 'ignored', /runctl config set idempotencyKeys honored/],
    [
      'ignored if they are ignored',
      { idempotencyKeys: 'ignored' },
      undefined,
      /-> `runctl config set idempotencyKeys ignored`, or RUNCTL_IDEMPOTENCY_KEYS=ignored/,
    ],
  ])('prints the line that sets %s', async (_, scenario, setting, says) => {
    const { env, clock } = await withEmulator({ automations: short, ...scenario });
    const { stdout } = await runProgram(trial, { env: { ...env, RUNCTL_IDEMPOTENCY_KEYS: setting }, clock });
    expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(says);
    if (says.source.includes('nothing')) expect(stdout).not.toContain('config set');
  });

  test('prints no line if the setting says that keys are ignored already, and names the profile if there is one', async () => {
    const { env, clock } = await withEmulator({ automations: short, idempotencyKeys: 'ignored' });
    await runProgram(['config', 'set', 'project', env.RUNCTL_PROJECT ?? '', '--profile', 'staging'], { env });
    const known = await runProgram(trial, { env: { ...env, RUNCTL_IDEMPOTENCY_KEYS: 'ignored' }, clock });
    expect(known.stdout).not.toContain('config set');
    await clock.sleep(60_000);
    const { stdout } = await runProgram([...trial, '--profile', 'staging'], { env, clock });
    expect(stdout).toContain('runctl config set idempotencyKeys ignored --profile staging');
  });

  test.each<[string, Scenario, string[]]>([
    ['checks the key first', {}, ['new_run ok', 'idempotency_keys ok']],
    [
      'checks the active run first, and names it',
      { order: 'activeFirst', namesActiveRun: true },
      ['new_run ok', 'active_run ok', 'run_status ok', 'idempotency_keys ok'],
    ],
    [
      'does not name the active run',
      { order: 'activeFirst', namesActiveRun: false },
      ['new_run ok', 'active_run warning', 'run_status ok', 'idempotency_keys ok'],
    ],
    [
      'shows no end of the run',
      { order: 'activeFirst', faults: [{ on: 'status', do: 'status', status: 401 }] },
      ['new_run ok', 'active_run ok', 'idempotency_keys failed'],
    ],
  ])('reports what it saw of the assumptions at a service that %s', async (_, scenario, expected) => {
    const { env, clock } = await withEmulator({ automations: short, namesActiveRun: true, ...scenario });
    const { stdout } = await runProgram([...trial, '--json'], { env, clock });
    const findings: { name: string; result: string }[] = JSON.parse(stdout).runctl.doctor;
    expect(findings.map(({ name, result }) => `${name} ${result}`)).toEqual(expected);
  });

  test.each<[string, Scenario]>([
    ['in_doubt', { faults: [{ nth: 2, do: 'loseAnswer' }] }],
    ['refused', { order: 'activeFirst' }],
  ])('leaves its repeat in the journal, also if it is %s', async (end, scenario) => {
    const { env, clock } = await withEmulator({ automations: short, ...scenario });
    await runProgram(trial, { env, clock });
    const records = jsonLines(readFileSync(`${env.RUNCTL_STATE_DIR}/journal.jsonl`, 'utf8'));
    const ofTriggers = records.map(({ type }) => type).filter((type) => type !== 'status');
    expect(ofTriggers.slice(0, 4)).toEqual(['triggered', 'accepted', 'triggered', end]);
    expect((await runProgram(['recover'], { env, clock })).code).toBe(0);
  });

  test('says that the automation is running, and that nothing was found out', async () => {
    const { env, clock, emulator } = await withEmulator({});
    await runProgram(['trigger', 'nightly'], { env, clock });
    const { code, stdout } = await runProgram([...trial, '--json'], { env, clock });
    const { problem } = JSON.parse(stdout).runctl;
    expect([code, problem.name, emulator.runs().length]).toEqual([12, 'already_active', 1]);
  });

  test('says of ignored keys what may have happened before', async () => {
    const { env, clock } = await withEmulator({ automations: short, idempotencyKeys: 'ignored' });
    const { stdout } = await runProgram(trial, { env, clock });
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('repeated before may have started two runs');
  });

  test('names what it found and the run in a document', async () => {
    const { env, clock, emulator } = await withEmulator({ automations: short, idempotencyKeys: 'ignored' });
    const { stdout } = await runProgram([...trial, '--json'], { env, clock });
    expect(JSON.parse(stdout)).toMatchObject({
      executionId: emulator.runs()[0]?.executionId,
      automationName: 'nightly',
      runctl: {
        exitCode: 0,
        outcome: 'ok',
        doctor: expect.arrayContaining([expect.objectContaining({ name: 'idempotency_keys', result: 'warning' })]),
      },
    });
    const listed = await runProgram(['list', '--offline'], { env, clock });
    for (const { executionId } of emulator.runs()) expect(listed.stdout).toContain(executionId);
  });

  test.each([
    ['without --yes where nobody can be asked', ['doctor', '--try-key', 'nightly'], /one run of nightly, or two/],
    ['with --offline', [...trial, '--offline'], /--offline/],
    ['--yes alone', ['doctor', '--yes'], /--try-key/],
  ])('%s is exit 2, and sends nothing', async (_, argv, says) => {
    const { env, emulator } = await withEmulator({});
    const { code, stderr } = await runProgram(argv, { env });
    expect([code, stderr, emulator.requests]).toEqual([2, expect.stringMatching(says), []]);
  });
});
