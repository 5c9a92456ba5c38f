import { expect } from 'vitest';
import type { ServiceRequest } from '../../src/emulator/request.ts';
import { createService, type EmulatedService } from '../../src/emulator/service.ts';
import { faultsOfReply } from './conformity.ts';

export const project = '11111111-1111-4111-8111-111111111111';

interface Sending {
  key?: string;
  apiKey?: string;
  body?: string;
  headers?: Record<string, string | undefined>;
}

/** A service without a server, on a clock that stands still. Every answer is held against the OpenAPI document. */
export function createHarness(service: EmulatedService = createService({ '*': {} }, ['key-1'])) {
  let now = Date.UTC(2026, 10, 21, 9);

  function deliver(method: string, url: string, { key, apiKey = 'key-1', body = '', headers }: Sending = {}) {
    const common = { 'x-api-key': apiKey, 'content-type': body && 'application/json', 'idempotency-key': key };
    const request: ServiceRequest = { method, url, headers: { ...common, ...headers }, body };
    const { reply, failure, send } = service.respond(request, { realMs: now, emulatedMs: now });
    // What a fault made of an answer is no answer of the service.
    if (!failure) expect(faultsOfReply(request, reply)).toEqual([]);
    return { ...reply, json: () => JSON.parse(reply.body), request, failure, isSentWhole: send === undefined };
  }

  const automationUrl = (name: string, rest: string, projectId = project) =>
    `/v0/automation/${projectId}/${encodeURIComponent(name)}/${rest}`;

  return {
    service,
    deliver,
    pass: (ms: number) => {
      now += ms;
    },
    automationUrl,
    trigger: (name = 'nightly', sending?: Sending) =>
      deliver('POST', automationUrl(name, 'trigger'), { body: '{}', ...sending }),
    status: (id: string, name = 'nightly') => deliver('GET', automationUrl(name, `executions/${id}`)),
    result: (id: string, name = 'nightly') => deliver('GET', automationUrl(name, `executions/${id}/result`)),
  };
}
