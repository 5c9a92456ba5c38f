import { onTestFinished } from 'vitest';
import { parseScenario } from '../../src/emulator/read-scenario.ts';
import type { Scenario } from '../../src/emulator/scenario.ts';
import { type Emulator, type EmulatorOptions, startEmulator } from '../../src/emulator/server.ts';
import { environmentIn } from './environment-in.ts';
import { createLeapingClock, type LeapingClock } from './leaping-clock.ts';
import { temporaryFolder } from './temporary-folder.ts';

/**
 * An emulator that lives as long as the test, the environment that points a program at it, and its clock, for a program
 * that is to pause in no time. `endRuns` lets the most pass that a run may take.
 */
export async function withEmulator(
  scenario: Scenario,
  options: Partial<EmulatorOptions> = {},
): Promise<{ emulator: Emulator; env: Record<string, string>; clock: LeapingClock; endRuns(): void }> {
  const clock = createLeapingClock();
  const emulator = await startEmulator({
    apiKey: 'test-key-4f1b7c9d2e',
    nowMs: clock.nowMs,
    keepsRequests: true,
    ...options,
    scenario: parseScenario(JSON.stringify(scenario), 'the scenario of the test'),
  });
  onTestFinished(() => emulator.close());
  const endRuns = () => clock.leap(3 * 3_600_000);
  return { emulator, env: environmentIn(temporaryFolder(), emulator), clock, endRuns };
}
