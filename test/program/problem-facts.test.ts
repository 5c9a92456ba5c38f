// What support asks for after a refusal: the status, code and id of the service's answer, in every JSON document.
import { expect, test } from 'vitest';
import { withEmulator } from '../helpers/emulator.ts';
import { runProgram } from '../helpers/run-program.ts';

const id = 'a6f0c3e1-7d51-4d5c-9a70-94b5c2d1e001';
const run = [`nightly/${id}`];

test.each([
  ['trigger', ['trigger', 'nightly'], 8],
  ['status', ['status', ...run], 8],
  ['result', ['result', ...run], 8],
  // A watch continues after it, until it has gone without a valid response for too long.
  ['watch', ['watch', ...run, '--give-up-after', '1ms'], 10],
])('the problem of %s names the HTTP status, the code and the request id of the refusal', async (_, argv, exitCode) => {
  const headers = { 'x-request-id': 'req-8f2c' };
  const refusal = { do: 'status', status: 402, headers, body: { code: 'creditsExhausted' } } as const;
  const { env } = await withEmulator({ faults: [refusal] });
  const { code, stdout } = await runProgram([...argv, '--json'], { env });
  const { problem, ...runctl } = JSON.parse(stdout).runctl;
  expect(problem).toMatchObject({ httpStatus: 402, serviceCode: 'creditsExhausted', requestId: 'req-8f2c' });
  expect([code, runctl.exitCode]).toEqual([exitCode, exitCode]);
});
