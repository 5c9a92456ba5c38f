import { onTestFinished } from 'vitest';
import { parseScenario } from '../../src/emulator/parse-scenario.ts';
import type { Scenario } from '../../src/emulator/scenario.ts';
import { type Emulator, type EmulatorOptions, startEmulator } from '../../src/emulator/server.ts';
import { environmentOf } from './program.ts';

/** An emulator that lives as long as the test, and the environment that points a program at it. */
export async function withEmulator(
  scenario: Scenario,
  options: Partial<EmulatorOptions> = {},
): Promise<{ emulator: Emulator; env: Record<string, string> }> {
  const emulator = await startEmulator({
    apiKey: 'test-key-4f1b7c9d2e',
    ...options,
    scenario: parseScenario(JSON.stringify(scenario), 'the scenario of the test'),
  });
  onTestFinished(() => emulator.close());
  return { emulator, env: environmentOf(emulator) };
}
