import { expect, test } from 'vitest';
import { loseResponse } from '../fault-kit/scenario.ts';
import { quick, withEmulator } from '../helpers/emulator.ts';
import { runProcess } from '../helpers/run-process.ts';
import { runProgram } from '../helpers/run-program.ts';

test('a flag reaches the service', async () => {
  const { emulator, env } = await withEmulator(quick);
  const ended = await runProgram(['trigger', 'nightly', '--idempotency-key', 'day-1'], { env });
  expect(ended).toMatchObject({ code: 0, stdout: `${emulator.runs()[0]?.executionId}\n` });
  expect(emulator.runs()).toMatchObject([{ idempotencyKey: 'day-1' }]);
});

test('a lost response starts no second run', async () => {
  const { emulator, env, clock } = await withEmulator({ faults: [loseResponse({ nth: 1 })] });
  const { code, stdout } = await runProgram(['trigger', 'nightly', '--json'], { env, clock });
  expect({ code, ...JSON.parse(stdout).runctl.trigger }).toMatchObject({ code: 0, started: 'yes' });
  expect(emulator.runs()).toHaveLength(1);
});

test('a process reads the API key from its standard input', async () => {
  const { emulator, env } = await withEmulator(quick);
  const { RUNCTL_API_KEY: input, ...keyless } = env;
  const ended = await runProcess(['trigger', 'nightly', '--api-key-file', '-'], { env: keyless, input });
  expect(ended).toMatchObject({ code: 0, stdout: `${emulator.runs()[0]?.executionId}\n` });
});
