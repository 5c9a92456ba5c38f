// The setting `idempotencyKeys` says what `--try-key` found out, on machines whose journal doesn't last.
import { describe, expect, test } from 'vitest';
import type { Scenario } from '../../src/emulator/scenario.ts';
import { withEmulator } from '../helpers/emulator.ts';
import { runProgram } from '../helpers/run-program.ts';

const lost: Scenario = {
  order: 'activeFirst',
  namesActiveRun: true,
  automations: { '*': { duration: '10s' } },
  faults: [{ on: 'trigger', nth: 1, do: 'loseAnswer' }],
};
const trigger = ['trigger', 'nightly'];
const waiting = [...trigger, '--if-active', 'wait'];
const given = [...trigger, '--idempotency-key', 'k'];

describe('a trigger whose answer is lost, then a conflict', () => {
  test.each<[string, string | undefined, string[], number, number, boolean | undefined]>([
    ['waits where keys are honored', 'honored', waiting, 0, 3, undefined],
    ['is 12 where nobody knows', undefined, waiting, 12, 2, undefined],
    ['is sent once where keys are ignored', 'ignored', waiting, 12, 1, undefined],
    ['is safe to repeat under a given key where keys are honored', 'honored', given, 12, 2, true],
    ['is not where nobody knows', undefined, given, 12, 2, false],
    ['is not where keys are ignored', 'ignored', given, 12, 1, false],
  ])('%s (%s)', async (_, setting, argv, exitCode, posts, safeToRepeat) => {
    const { env, clock, emulator } = await withEmulator(lost);
    const ended = await runProgram([...argv, '--json'], { env: { ...env, RUNCTL_IDEMPOTENCY_KEYS: setting }, clock });
    expect([ended.code, emulator.requests.filter(({ method }) => method === 'POST').length]).toEqual([exitCode, posts]);
    expect(emulator.runs()).toHaveLength(1);
    const { runctl } = JSON.parse(ended.stdout);
    if (safeToRepeat !== undefined) expect(runctl.trigger.safeToRepeat).toBe(safeToRepeat);
    expect(ended.stderr.includes('if the service honors idempotency keys')).toBe(exitCode === 12 && !setting);
  });

  test.each([
    ['honored', 0],
    [undefined, 12],
    ['ignored', 12],
  ])('is sent again by `recover` alone where keys are honored: %s', async (setting, exitCode) => {
    const { env, clock } = await withEmulator(lost);
    expect((await runProgram(trigger, { env, clock })).code).toBe(12);
    await clock.sleep(60_000);
    const recovered = await runProgram(['recover'], { env: { ...env, RUNCTL_IDEMPOTENCY_KEYS: setting }, clock });
    expect(recovered.code).toBe(exitCode);
  });
});

test('counts until the service is seen to ignore keys, and `doctor` says where it is from', async () => {
  const { env, clock } = await withEmulator({ idempotencyKeys: 'ignored', automations: { '*': { duration: '1ms' } } });
  const inCi = { env: { ...env, RUNCTL_IDEMPOTENCY_KEYS: 'honored' }, clock };
  const shown = async () => (await runProgram(['doctor', '--offline'], inCi)).stdout.replaceAll(/\s+/g, ' ');
  expect(await shown()).toContain('honored, as set (RUNCTL_IDEMPOTENCY_KEYS), never seen');
  expect((await runProgram(['doctor', '--try-key', 'other', '--yes'], inCi)).code).toBe(0);
  expect(await shown()).toContain('ignored, as seen at');
});

test('counts against what was seen before, if it says that keys are ignored', async () => {
  const { env, clock } = await withEmulator({ automations: { '*': { duration: '1ms' } } });
  expect((await runProgram(['doctor', '--try-key', 'other', '--yes'], { env, clock })).code).toBe(0);
  const inCi = { ...env, RUNCTL_IDEMPOTENCY_KEYS: 'ignored' };
  const { stdout } = await runProgram(['doctor', '--offline'], { env: inCi, clock });
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain('ignored, as set (RUNCTL_IDEMPOTENCY_KEYS), though seen honored at');
});

test('another value is refused before anything is sent', async () => {
  const { env, emulator } = await withEmulator({});
  const { code, stderr } = await runProgram(trigger, { env: { ...env, RUNCTL_IDEMPOTENCY_KEYS: 'yes' } });
  expect([code, emulator.requests]).toEqual([2, []]);
  expect(stderr).toMatch(/setting for idempotency keys \(RUNCTL_IDEMPOTENCY_KEYS\) is neither honored nor ignored/);
});
