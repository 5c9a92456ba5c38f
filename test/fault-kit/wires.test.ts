import { expect, onTestFinished, test, vi } from 'vitest';
import { ampleLimitMs, shortLimitMs } from '../helpers/real-time.ts';
import type { Fault } from './scenario.ts';
import { startFaultyEmulator } from './start.ts';

/** A trigger that meets a fault. `signal` is how long its client waits. */
async function trigger(fault: Fault, signal: AbortSignal) {
  const emulator = await startFaultyEmulator({ faults: [fault] });
  onTestFinished(() => emulator.close());
  const headers = { 'x-api-key': emulator.apiKey, 'content-type': 'application/json' };
  const url = `${emulator.url}/v0/automation/${emulator.projectId}/nightly/trigger`;
  return { emulator, answer: fetch(url, { method: 'POST', headers, body: '{}', signal }) };
}

test.each<[Fault, RegExp]>([
  [{ do: 'reset' }, /ECONNRESET/],
  [{ do: 'loseAnswer' }, /ECONNRESET/],
  [{ do: 'close' }, /other side closed/],
  [{ do: 'hang' }, /aborted due to timeout/],
  [{ do: 'delay', delay: '1h' }, /aborted due to timeout/],
])('%j leaves the client without an answer', async (fault, message) => {
  const isEndless = fault.do === 'hang' || fault.do === 'delay';
  const { answer } = await trigger(fault, AbortSignal.timeout(isEndless ? shortLimitMs : ampleLimitMs));
  const why = await answer.then(String, ({ message, cause }) => `${message} ${cause?.message} ${cause?.code}`);
  expect(why).toMatch(message);
});

test.each<[Fault, RegExp]>([
  [{ do: 'truncate' }, /terminated/],
  [{ do: 'hangBody' }, /waited long enough/],
  [{ do: 'drip', gap: '1s' }, /waited long enough/],
])('%j leaves the client with half of an answer', async (fault, message) => {
  const abort = new AbortController();
  const { emulator, answer } = await trigger(fault, abort.signal);
  const isRejected = expect(answer.then((response) => response.text())).rejects.toThrow(message);
  await vi.waitUntil(() => emulator.runs().length === 1, { timeout: ampleLimitMs });
  setTimeout(() => abort.abort(new Error('waited long enough')), shortLimitMs);
  await isRejected;
});

test.each<Fault>([
  { do: 'drip', gap: '0s' },
  { do: 'delay', delay: '30ms' },
])('%j only takes time', async (fault) => {
  const { answer } = await trigger(fault, AbortSignal.timeout(ampleLimitMs));
  expect(await (await answer).json()).toMatchObject({ status: 'RUNNING' });
});

test('an emulator that is closed ends what hangs', async () => {
  const { emulator, answer } = await trigger({ do: 'hang' }, AbortSignal.timeout(ampleLimitMs));
  const isRejected = expect(answer).rejects.toThrow('fetch failed');
  await vi.waitUntil(() => emulator.requests.length === 1, { timeout: ampleLimitMs, interval: 1 });
  await emulator.close();
  await isRejected;
});
