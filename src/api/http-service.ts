import type { JsonObject } from '../runs/json.ts';
import type { Target } from '../runs/run.ts';
import type { Answer, CallLimits, Execution, RunResult, Service } from '../runs/service.ts';
import { resultPath, statusPath, triggerPath } from './endpoints.ts';
import type { HttpRequest, Transport } from './exchange.ts';
import { runIdIn } from './location.ts';
import { faultOf } from './network-fault.ts';
import type { ProxySettings } from './proxy.ts';
import { answerOf, type Reading } from './response.ts';
import { readExecution, readResult } from './schema.ts';

export interface HttpServiceOptions {
  transport: Transport;
  /** Without `/v0` and a slash at its end. */
  baseUrl: string;
  proxy?: ProxySettings;
  /** What it throws, the call throws. */
  apiKey(idempotencyKey?: string): Promise<string>;
  requestTimeoutMs: number;
  maxOutputBytes: number;
  userAgent: string;
  nowMs(): number;
  /** Hides the API key. */
  scrub?(text: string): string;
}

const mebibyte = 1024 * 1024;

/** Never throws for what the network or the service does. */
export function createHttpService(options: HttpServiceOptions): Service {
  const { transport, requestTimeoutMs, nowMs, scrub = (text) => text } = options;
  const { host, origin, pathname, protocol } = new URL(options.baseUrl);
  const prefix = pathname.replace(/\/$/, '');
  const headers = {
    accept: 'application/json',
    'accept-encoding': 'gzip',
    'user-agent': options.userAgent,
  };

  async function ask<T extends { status: string }>(
    target: Target,
    request: Pick<HttpRequest, 'method' | 'path' | 'body'> & { headers?: Record<string, string> },
    reading: Pick<Reading<T>, 'operation' | 'maxBytes' | 'read'>,
    signal: AbortSignal,
    limits: CallLimits = {},
  ): Promise<Answer<T>> {
    const path = `${prefix}${request.path}`;
    const timeoutMs = Math.min(requestTimeoutMs, limits.timeoutMs ?? requestTimeoutMs);
    const { 'idempotency-key': idempotencyKey } = request.headers ?? {};
    const apiKey = await options.apiKey(idempotencyKey);
    const exchange = await transport.exchange(
      {
        method: request.method,
        path,
        body: request.body,
        headers: { 'x-api-key': apiKey, ...headers, ...request.headers },
        timeoutMs,
        maxBytes: reading.maxBytes,
      },
      signal,
    );
    if (exchange.kind === 'response') {
      const asked = { url: origin + path, baseUrl: options.baseUrl, target };
      const ofTarget = (location: string) => runIdIn(location, asked);
      // The journal keeps a status, in which a service may echo the API key.
      const read = (document: JsonObject) => {
        const value = reading.read(document);
        return value && { ...value, status: scrub(value.status) };
      };
      return answerOf(exchange.response, { ...reading, read, nowMs: nowMs(), scrub, runIdIn: ofTarget });
    }
    const attempt = { host, isPlain: protocol === 'http:', proxy: options.proxy, timeoutMs };
    return { kind: 'fault', fault: faultOf(exchange.failure, attempt) };
  }

  return {
    trigger({ target, idempotencyKey, body }, signal, limits) {
      const headers = { 'content-type': 'application/json', 'idempotency-key': idempotencyKey };
      return ask<Execution>(
        target,
        { method: 'POST', path: triggerPath(target), headers, body },
        // Without an id there is no run that could be followed.
        {
          operation: 'trigger',
          maxBytes: mebibyte,
          read: (document) => {
            const execution = readExecution(document) ?? readExecution({ ...document, status: 'RUNNING' });
            return execution?.executionId ? { ...execution, document } : undefined;
          },
        },
        signal,
        limits,
      );
    },
    status(run, signal, limits) {
      return ask<Execution>(
        run.target,
        { method: 'GET', path: statusPath(run) },
        {
          operation: 'status',
          maxBytes: mebibyte,
          read: (document) => ofRun(run.executionId, readExecution(document)),
        },
        signal,
        limits,
      );
    },
    result(run, signal, limits) {
      return ask<RunResult>(
        run.target,
        { method: 'GET', path: resultPath(run) },
        {
          operation: 'result',
          maxBytes: options.maxOutputBytes,
          read: (document) => ofRun(run.executionId, readResult(document)),
        },
        signal,
        limits,
      );
    },
  };
}

/** A cache gone wrong may answer with another run. */
function ofRun<T extends { executionId?: string }>(executionId: string, value: T | undefined): T | undefined {
  const id = value?.executionId;
  return id === undefined || id.toLowerCase() === executionId.toLowerCase() ? value : undefined;
}
