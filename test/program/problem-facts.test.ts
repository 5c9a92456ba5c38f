// What support asks for after a refusal: the status, code and id of the service's answer, in every JSON document.
import { expect, test } from 'vitest';
import { withEmulator } from '../helpers/emulator.ts';
import { runProgram } from '../helpers/run-program.ts';

const id = 'a6f0c3e1-7d51-4d5c-9a70-94b5c2d1e001';
const run = [id, '--automation', 'nightly'];

test.each([
  ['trigger', ['trigger', 'nightly']],
  ['status', ['status', ...run]],
  ['result', ['result', ...run]],
  ['watch', ['watch', ...run]],
])('the problem of %s names the HTTP status, the code and the request id of the refusal', async (_, argv) => {
  const headers = { 'x-request-id': 'req-8f2c' };
  const refusal = { do: 'status', status: 402, headers, body: { code: 'creditsExhausted' } } as const;
  const { env } = await withEmulator({ faults: [refusal] });
  const { code, stdout } = await runProgram([...argv, '--json'], { env });
  const { problem } = JSON.parse(stdout);
  expect(problem).toMatchObject({ httpStatus: 402, serviceCode: 'creditsExhausted', requestId: 'req-8f2c' });
  expect([code, problem.exitCode]).toEqual([8, 8]);
});
