import { expect } from 'vitest';
import { createEmulatedService } from '../../src/emulator/emulated-service.ts';
import { createFaultInjector } from '../../src/emulator/faults.ts';
import type { ServiceRequest } from '../../src/emulator/request.ts';
import type { Scenario } from '../../src/emulator/scenario.ts';
import { createRandom } from '../helpers/random.ts';
import { faultsOfReply } from './conformity.ts';

export const project = '11111111-1111-4111-8111-111111111111';
export const agent = '22222222-2222-4222-8222-222222222222';

interface Sending {
  key?: string;
  apiKey?: string;
  body?: string;
  headers?: Record<string, string | undefined>;
}

/** The emulator without a server, on a clock that stands still. Every answer is held against the OpenAPI document. */
export function createEmulatorHarness(scenario: Scenario = {}, { random = createRandom(1) } = {}) {
  let now = Date.UTC(2026, 10, 21, 9);
  const service = createEmulatedService(scenario, 'key-1');
  const respond = createFaultInjector(service, scenario, random);

  function deliver(method: string, url: string, { key, apiKey = 'key-1', body = '', headers }: Sending = {}) {
    const common = { 'x-api-key': apiKey, 'content-type': body && 'application/json', 'idempotency-key': key };
    const request: ServiceRequest = { method, url, headers: { ...common, ...headers }, body };
    const response = respond(request, { realMs: now, emulatedMs: now });
    // What a fault made of an answer is no answer of the service.
    if (response.reply && !response.fault) expect(faultsOfReply(request, response.reply)).toEqual([]);
    return { ...response, request };
  }

  function send(method: string, url: string, sending?: Sending) {
    const { reply, fault } = deliver(method, url, sending);
    if (!reply) throw new Error(`no answer: ${fault}`);
    const json = () => JSON.parse(reply.body);
    return { ...reply, json };
  }

  const automationUrl = (name: string, rest: string, projectId = project) =>
    `/v0/automation/${projectId}/${encodeURIComponent(name)}/${rest}`;

  return {
    service,
    deliver,
    send,
    now: () => now,
    pass: (ms: number) => {
      now += ms;
    },
    automationUrl,
    trigger: (name = 'nightly', sending?: Sending) =>
      send('POST', automationUrl(name, 'trigger'), { body: '{}', ...sending }),
    status: (id: string, name = 'nightly') => send('GET', automationUrl(name, `executions/${id}`)),
    result: (id: string, name = 'nightly') => send('GET', automationUrl(name, `executions/${id}/result`)),
  };
}
