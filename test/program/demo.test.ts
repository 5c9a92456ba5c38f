import { expect, test } from 'vitest';
import { createLeapingClock } from '../helpers/leaping-clock.ts';
import { runProgram } from '../helpers/run-program.ts';

test('the demo follows a run to its end without any setting, and shows its result', async () => {
  const { code, stdout, stderr } = await runProgram(['demo'], { clock: createLeapingClock() });
  expect(code, stderr).toBe(0);
  expect(stdout).toContain('COMPLETED nightly-report');
});
