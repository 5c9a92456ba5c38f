import { expect, test } from 'vitest';
import { runProcess } from '../helpers/run-process.ts';

test('the demo follows a run to its end without any setting, and shows its result', async () => {
  const { code, stdout, stderr } = await runProcess(['demo']);
  expect(code, stderr).toBe(0);
  expect(stdout).toContain('COMPLETED nightly-report');
});
