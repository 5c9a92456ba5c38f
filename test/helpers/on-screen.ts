import { onTestFinished } from 'vitest';
import type { Scenario } from '../../src/emulator/scenario.ts';
import { withEmulator } from './emulator.ts';
import { openScreen, type Screen, type ScreenOptions } from './screen.ts';

/** The built program on a terminal, beside an emulator of its own; both are gone when the test is over. */
export async function onScreen(
  argv: string[],
  scenario: Scenario,
  { env = {}, ...size }: Partial<ScreenOptions> = {},
): Promise<Screen & Awaited<ReturnType<typeof withEmulator>>> {
  const served = await withEmulator(scenario);
  const screen = openScreen(argv, { ...size, env: { ...served.env, ...env } });
  onTestFinished(screen.kill);
  return { ...served, ...screen };
}

/** What is on the screen in the end, and the exit code. */
export async function atTheEnd(screen: Screen): Promise<{ code: number; lines: string[]; text: string }> {
  const code = await screen.exit;
  const lines = await screen.lines();
  return { code, lines, text: lines.join('\n') };
}
