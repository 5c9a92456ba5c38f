import type { JsonObject } from '../runs/json.ts';
import type { Run, Target } from '../runs/run.ts';
import type { DatedAnswer, Sending, Service } from '../runs/service.ts';
import type { Operation } from './classify.ts';
import { resultPath, runIdIn, statusPath, triggerPath } from './endpoints.ts';
import type { HttpRequest, Transport } from './exchange.ts';
import { faultOf } from './network-fault.ts';
import type { ProxySettings } from './proxy.ts';
import { readExecution, readResult } from './read-document.ts';
import { answerOf, type Reading } from './response.ts';

export interface HttpServiceOptions {
  transport: Transport;
  baseUrl: string; // without `/v0` or a trailing slash
  proxy?: ProxySettings;
  apiKey(idempotencyKey?: string): Promise<string>; // its errors are thrown by every call
  requestTimeoutMs: number;
  maxOutputBytes: number;
  userAgent: string;
  nowMs(): number;
  scrub?(text: string): string; // hides the API key
}

const mebibyte = 1024 * 1024;

interface Question<T> {
  operation: Operation;
  target: Target;
  run?: Run;
  path: string;
  send?: { body: string; idempotencyKey: string };
  read: Reading<T>['read'];
}

/** The service over HTTP. Everything that goes wrong becomes a fault, and is never thrown. */
export function createHttpService(options: HttpServiceOptions): Service {
  const { transport, baseUrl, proxy, requestTimeoutMs, nowMs, scrub = (text) => text } = options;
  const { host, origin, pathname } = new URL(baseUrl);
  const prefix = pathname.replace(/\/$/, '');
  const headers = { accept: 'application/json', 'accept-encoding': 'gzip', 'user-agent': options.userAgent };

  return {
    trigger({ target, ...send }, signal, sending) {
      const read = (document: JsonObject) => {
        const execution = readExecution(document, target) ?? readExecution({ ...document, status: 'RUNNING' }, target);
        const { executionId, status } = execution ?? {};
        // Without an id, there is no run to follow.
        if (!execution || executionId === undefined) return undefined;
        return { ...execution, executionId, document: { executionId, status, ...document } };
      };
      return ask({ operation: 'trigger', target, path: triggerPath(target), send, read }, signal, sending);
    },
    status(run, signal, sending) {
      const read = (document: JsonObject) => ofRun(run, readExecution(document, run.target));
      return ask({ operation: 'status', target: run.target, run, path: statusPath(run), read }, signal, sending);
    },
    result(run, signal, sending) {
      const read = (document: JsonObject) => {
        const result = readResult(document);
        // While a run is in progress, only the status is meaningful.
        return ofRun(run, result, result && !result.isFinal);
      };
      return ask({ operation: 'result', target: run.target, run, path: resultPath(run), read }, signal, sending);
    },
  };

  async function ask<T extends { status: string }>(
    { operation, target, path: ofBase, send, read }: Question<T>,
    signal: AbortSignal,
    { timeoutMs: mostMs = requestTimeoutMs }: Sending = {},
  ): Promise<DatedAnswer<T>> {
    const path = prefix + ofBase;
    const timeoutMs = Math.min(requestTimeoutMs, mostMs);
    const maxBytes = operation === 'result' ? options.maxOutputBytes : mebibyte;
    const key = { 'x-api-key': await options.apiKey(send?.idempotencyKey) };
    const sent = send && { 'content-type': 'application/json', 'idempotency-key': send.idempotencyKey };
    const request: HttpRequest = {
      method: send ? 'POST' : 'GET',
      path,
      body: send?.body,
      headers: { ...key, ...headers, ...sent },
      timeoutMs,
      maxBytes,
    };
    const exchange = await transport.exchange(request, signal);
    if (exchange.kind === 'failure') {
      return { kind: 'fault', fault: faultOf(exchange.failure, { host, proxy, timeoutMs }) };
    }
    const answer = await answerOf(exchange.response, {
      operation,
      maxBytes,
      nowMs: nowMs(),
      scrub,
      // The journal stores the status, and a service may echo the API key in it.
      read(document) {
        const value = read(document);
        return value && { ...value, status: scrub(value.status) };
      },
      runIdIn: (location) => runIdIn(location, { url: origin + path, baseUrl, target }),
    });
    return answer;
  }
}

/** Undefined if the response is about another run (from a broken cache) or about none (from a gateway). */
function ofRun<T extends { executionId?: string }>(
  { executionId }: Run,
  value: T | undefined,
  mayLackId = false,
): T | undefined {
  const named = value?.executionId ?? (mayLackId ? executionId : undefined);
  return named?.toLowerCase() === executionId.toLowerCase() ? value : undefined;
}
