import type { Sink } from '../src/context.ts';
import { createService, type ServiceOptions } from '../src/service/service.ts';
import { createSecrets } from '../src/text/secrets.ts';

export const apiKey = 'key-0123456789';
export const projectId = '00000000-0000-4000-8000-000000000001';
export const executionId = '4b7c19e2-65a1-4c49-a73d-3512aa99cd94';
const automation = { projectId, name: 'nightly' };
export const run = { automation, executionId };
export const trigger = { automation, idempotencyKey: 'key-of-trigger', isKeyGiven: false };
/** Of a request that is to be answered, and of one that isn't. */
export const [timeoutMs, shortMs] = [5_000, 150];

/** A client of the service at this address. `abort` is what a signal does. */
export function clientOf(baseUrl: string, options: Partial<ServiceOptions> = {}, env = {}) {
  const controller = new AbortController();
  const { signal } = controller;
  const secrets = createSecrets();
  secrets.protect(apiKey);
  const lines: string[] = [];
  const stderr = { write: (line: string) => lines.push(secrets.scrub(line)) } as unknown as Sink;
  const clock = { nowMs: Date.now, elapsedMs: () => performance.now(), sleep: async () => {} };
  const facts = { baseUrl, requestTimeoutMs: timeoutMs, userAgent: 'runctl/test' };
  const service = createService(
    { ...facts, apiKey: { read: async () => apiKey }, ...options },
    { env, clock, randomUuid: () => executionId, signal, secrets, flags: { debug: true }, stderr },
  );
  return { service, lines, abort: () => controller.abort('SIGINT') };
}
