import type { Answer, Execution, RunResult, Service } from '../runs/service.ts';
import { resultPath, statusPath, triggerPath } from './endpoints.ts';
import type { HttpRequest, Transport } from './exchange.ts';
import { faultOf } from './network-fault.ts';
import type { ProxySettings } from './proxy.ts';
import { answerOf, type Reading } from './response.ts';
import { readExecution, readResult } from './schema.ts';

export interface HttpServiceOptions {
  transport: Transport;
  /** Without a trailing slash and without `/v0`. */
  baseUrl: string;
  /** The proxy that the transport goes through. */
  proxy?: ProxySettings;
  apiKey: string;
  requestTimeoutMs: number;
  /** The largest result body that is read, in bytes. */
  maxOutputBytes: number;
  userAgent: string;
  nowMs(): number;
  /** Takes the API key out of what a refusal says. */
  scrub?(text: string): string;
}

const mebibyte = 1024 * 1024;

/** The service over HTTP: each call is one attempt and never throws for what the network or the service does. */
export function createHttpService(options: HttpServiceOptions): Service {
  const { transport, apiKey, requestTimeoutMs, nowMs, scrub = (text) => text } = options;
  const { host, pathname, protocol } = new URL(options.baseUrl);
  const prefix = pathname.replace(/\/$/, '');
  const headers = {
    'x-api-key': apiKey,
    accept: 'application/json',
    'accept-encoding': 'gzip',
    'user-agent': options.userAgent,
  };

  async function ask<T>(
    request: Pick<HttpRequest, 'method' | 'path' | 'body'> & { headers?: Record<string, string> },
    reading: Omit<Reading<T>, 'nowMs' | 'scrub'>,
    signal: AbortSignal,
  ): Promise<Answer<T>> {
    const exchange = await transport.exchange(
      {
        method: request.method,
        path: `${prefix}${request.path}`,
        body: request.body,
        headers: request.headers ? { ...headers, ...request.headers } : headers,
        timeoutMs: requestTimeoutMs,
        maxBytes: reading.maxBytes,
      },
      signal,
    );
    if (exchange.kind === 'response') return answerOf(exchange.response, { ...reading, nowMs: nowMs(), scrub });
    const attempt = { host, isPlain: protocol === 'http:', proxy: options.proxy, timeoutMs: requestTimeoutMs };
    return { kind: 'fault', fault: faultOf(exchange.failure, attempt) };
  }

  return {
    trigger({ target, idempotencyKey, body }, signal) {
      const headers = { 'content-type': 'application/json', 'idempotency-key': idempotencyKey };
      return ask<Execution>(
        { method: 'POST', path: triggerPath(target), headers, body },
        // A 2xx without an id tells of no run that could be followed.
        {
          operation: 'trigger',
          maxBytes: mebibyte,
          read: (document) => {
            const execution = readExecution(document) ?? readExecution({ ...document, status: 'RUNNING' });
            return execution?.executionId ? { ...execution, document } : undefined;
          },
        },
        signal,
      );
    },
    status(run, signal) {
      return ask<Execution>(
        { method: 'GET', path: statusPath(run) },
        {
          operation: 'status',
          maxBytes: mebibyte,
          read: (document) => ofRun(run.executionId, readExecution(document)),
        },
        signal,
      );
    },
    result(run, signal) {
      return ask<RunResult>(
        { method: 'GET', path: resultPath(run) },
        {
          operation: 'result',
          maxBytes: options.maxOutputBytes,
          read: (document) => ofRun(run.executionId, readResult(document)),
        },
        signal,
      );
    },
  };
}

/** An answer about another run (a cache gone wrong, say) is no answer about this one. */
function ofRun<T extends { executionId?: string }>(executionId: string, value: T | undefined): T | undefined {
  return value?.executionId === undefined || value.executionId === executionId ? value : undefined;
}
