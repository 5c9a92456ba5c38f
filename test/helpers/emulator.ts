import { onTestFinished } from 'vitest';
import type { Scenario } from '../fault-kit/scenario.ts';
import { type FaultyEmulator, type FaultyOptions, startFaultyEmulator } from '../fault-kit/start.ts';
import { environmentIn } from './environment-in.ts';
import { createLeapingClock, type LeapingClock } from './leaping-clock.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** Runs that go on until the test ends them with `endRuns`, that have finished at the first poll, and that end as FAILED. */
export const going: Scenario = { automations: { '*': { duration: '1h' } } };
export const quick: Scenario = { automations: { '*': { duration: '1ms' } } };
export const failing: Scenario = { automations: { '*': { duration: '1s', finalStatus: 'FAILED' } } };

/**
 * An emulator that lives as long as the test, the environment that points a program at it, and its clock, for a program
 * that is to pause in no time. `endRuns` lets the most pass that a run may take.
 */
export async function withEmulator(
  scenario: Scenario,
  options: FaultyOptions = {},
  clock: LeapingClock = createLeapingClock(),
): Promise<{ emulator: FaultyEmulator; env: Record<string, string>; clock: LeapingClock; endRuns(): void }> {
  const emulator = await startFaultyEmulator(scenario, {
    apiKey: 'test-key-4f1b7c9d2e',
    nowMs: clock.nowAtServiceMs,
    ...options,
  });
  onTestFinished(() => emulator.close());
  const endRuns = () => clock.leap(3 * 3_600_000);
  return { emulator, env: environmentIn(temporaryFolder(), emulator), clock, endRuns };
}
