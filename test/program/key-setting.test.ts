// What the setting `idempotencyKeys` changes.
import { describe, expect, test } from 'vitest';
import type { Scenario } from '../fault-kit/scenario.ts';
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
  test.each<[string, string | undefined, string[], number, number, boolean]>([
    ['waits, as keys are taken to be honored', undefined, waiting, 0, 3, false],
    ['waits if keys are honored', 'honored', waiting, 0, 3, false],
    ['is sent once if keys are ignored', 'ignored', waiting, 12, 1, false],
    ['is safe to repeat under a given key', undefined, given, 12, 2, true],
    ['is not under a minted one', undefined, trigger, 12, 2, false],
    ['is not if keys are ignored', 'ignored', given, 12, 1, false],
  ])('%s (%s)', async (_, setting, argv, exitCode, posts, safeToRepeat) => {
    const { env, clock, emulator } = await withEmulator(lost);
    const ended = await runProgram([...argv, '--json'], { env: { ...env, RUNCTL_IDEMPOTENCY_KEYS: setting }, clock });
    expect([ended.code, emulator.requests.filter(({ method }) => method === 'POST').length]).toEqual([exitCode, posts]);
    expect(emulator.runs()).toHaveLength(1);
    expect(JSON.parse(ended.stdout).runctl.trigger.safeToRepeat).toBe(safeToRepeat);
  });

  test.each([
    ['sent again by `recover`', undefined, 0],
    ['not sent again by `recover` if keys are ignored', 'ignored', 12],
  ])('is %s', async (_, setting, exitCode) => {
    const { env, clock, emulator } = await withEmulator(lost);
    expect((await runProgram(trigger, { env, clock })).code).toBe(12);
    await clock.sleep(60_000);
    const recovered = await runProgram(['recover'], { env: { ...env, RUNCTL_IDEMPOTENCY_KEYS: setting }, clock });
    expect(recovered.code).toBe(exitCode);
    expect(emulator.runs()).toHaveLength(1);
  });

  test('is 12 after `recover`, too, while the run is active: it says what to type when that has finished', async () => {
    const { env, clock } = await withEmulator({ ...lost, automations: { '*': { duration: '1h' } } });
    await runProgram(trigger, { env, clock });
    const { code, stderr } = await runProgram(['recover'], { env, clock });
    expect(code).toBe(12);
    expect(stderr.replaceAll(/\s+/g, ' ')).toMatch(/when it has finished: `runctl recover \S+\/nightly --resend`/);
  });
});

test('another value is refused before anything is sent', async () => {
  const { env, emulator } = await withEmulator({});
  const { code, stderr } = await runProgram(trigger, { env: { ...env, RUNCTL_IDEMPOTENCY_KEYS: 'yes' } });
  expect([code, emulator.requests]).toEqual([2, []]);
  expect(stderr).toMatch(/setting for idempotency keys \(RUNCTL_IDEMPOTENCY_KEYS\) is neither honored nor ignored/);
});
