import { onTestFinished } from 'vitest';
import type { Scenario } from '../fault-kit/scenario.ts';
import { withEmulator } from './emulator.ts';
import { openScreen, type ProcessScreen, type ScreenOptions } from './screen.ts';

/** The built program on a terminal, beside an emulator of its own; both are gone when the test is over. */
export async function onScreen(
  argv: string[],
  scenario: Scenario,
  { env = {}, ...size }: Partial<ScreenOptions> = {},
): Promise<ProcessScreen & Awaited<ReturnType<typeof withEmulator>>> {
  const served = await withEmulator(scenario);
  const screen = openScreen(argv, { ...size, env: { ...served.env, ...env } });
  onTestFinished(screen.kill);
  return { ...served, ...screen };
}
