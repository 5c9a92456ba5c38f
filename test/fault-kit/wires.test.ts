import { expect, onTestFinished, test, vi } from 'vitest';
import { ampleLimitMs, shortLimitMs } from '../helpers/real-time.ts';
import type { Fault } from './scenario.ts';
import { startFaultyEmulator } from './start.ts';

/** A trigger that meets a fault, and what its client has in the end. */
async function trigger(fault: Fault) {
  const emulator = await startFaultyEmulator({ faults: [fault] });
  onTestFinished(() => emulator.close());
  const headers = { 'x-api-key': emulator.apiKey, 'content-type': 'application/json' };
  const url = `${emulator.url}/v0/automation/${emulator.projectId}/nightly/trigger`;
  const abort = new AbortController();
  const response = fetch(url, { method: 'POST', headers, body: '{}', signal: abort.signal });
  const end = response
    .then((response) => response.text())
    .catch(({ message, cause }) => [message, cause?.message, cause?.code].join(' '));
  return { emulator, response, end, leave: () => abort.abort(new Error('the client left')) };
}

test.each<[string, Fault, head: boolean]>([
  ['ECONNRESET', { do: 'reset' }, false],
  ['ECONNRESET', { do: 'loseAnswer' }, false],
  ['other side closed', { do: 'close' }, false],
  ['the client left', { do: 'hang' }, false],
  ['the client left', { do: 'delay', delay: '1h' }, false],
  ['terminated', { do: 'truncate' }, true],
  ['the client left', { do: 'hangBody' }, true],
  ['the client left', { do: 'drip', gap: '50ms' }, true],
  ['"status":"RUNNING"', { do: 'drip', gap: '0s' }, true],
  ['"status":"RUNNING"', { do: 'delay', delay: '30ms' }, true],
])('a client has %j in the end if it meets %j, and the head of a response: %s', async (has, fault, hasHead) => {
  const { response, end, leave } = await trigger(fault);
  const isHeard = response.then(
    () => true,
    () => false,
  );
  if (has === 'the client left') setTimeout(leave, shortLimitMs);
  expect(await end).toContain(has);
  expect(await isHeard).toBe(hasHead);
});

test('an emulator that is closed ends what hangs', async () => {
  const { emulator, end } = await trigger({ do: 'hang' });
  await vi.waitUntil(() => emulator.requests.length === 1, { timeout: ampleLimitMs, interval: 1 });
  await emulator.close();
  expect(await end).toContain('fetch failed');
});
