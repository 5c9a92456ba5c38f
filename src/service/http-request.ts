import type { Answer, Endpoint, RequestOptions } from '../run/service.ts';
import { isJsonObject, type JsonObject } from '../system/json.ts';
import { endpoints, executionIdIn } from './endpoints.ts';
import type { HttpRequest, Transport } from './exchange.ts';
import { networkFaultOf } from './network-fault.ts';
import type { ProxySettings } from './proxy.ts';
import { answerOf } from './response.ts';

// Nothing is optional, so that the compiler asks `openHttp` for each.
export interface HttpOptions {
  transport: Transport;
  /** Without `/v0` or a trailing slash. */
  baseUrl: string;
  proxy: ProxySettings | undefined;
  /** NODE_EXTRA_CA_CERTS is set. */
  hasExtraAuthorities: boolean;
  /** Returns the API key of a request. If it throws, so does the request. */
  apiKey(idempotencyKey?: string): Promise<ApiKey>;
  requestTimeoutMs: number;
  maxOutputBytes: number;
  userAgent: string;
  nowMs(): number;
  /** Hides the API key. */
  scrub(text: string): string;
}

/**
 * An API key. `version` is 1 for the first one that was read, and grows each time another one is
 * read.
 */
export interface ApiKey {
  value: string;
  version: number;
}

/** What distinguishes one request from others. Paths are relative to the base URL. */
export interface RequestSpec<T> {
  endpoint: Endpoint;
  /** The path of what is triggered, to which a `Location` must lead. */
  targetPath: string;
  path: string;
  payload?: { body: string; idempotencyKey?: string };
  /** Undefined if the document isn't the expected one. */
  read(document: JsonObject): T | undefined;
}

const mebibyte = 1024 * 1024;

/**
 * Makes one attempt at a request. Whatever goes wrong with it becomes a fault. Throws only what
 * reading the API key throws.
 */
export function createRequester(options: HttpOptions) {
  const { transport, baseUrl, proxy, hasExtraAuthorities, requestTimeoutMs, nowMs, scrub } =
    options;
  const { host, origin, pathname } = new URL(baseUrl);
  const prefix = pathname.replace(/\/$/, '');

  return async function request<T extends object>(
    spec: RequestSpec<T>,
    signal: AbortSignal,
    requestOptions: RequestOptions = {},
  ): Promise<Answer<T>> {
    const { endpoint, targetPath, payload, read } = spec;
    const path = prefix + spec.path;
    const timeoutMs = Math.min(requestTimeoutMs, requestOptions.timeoutMs ?? requestTimeoutMs);
    const maxBytes = endpoints[endpoint].hasOutput ? options.maxOutputBytes : mebibyte;
    const apiKey = await options.apiKey(payload?.idempotencyKey);
    const httpRequest: HttpRequest = {
      method: endpoints[endpoint].method,
      path,
      body: payload?.body,
      headers: headersOf(spec, apiKey, options.userAgent),
      timeoutMs,
      maxBytes,
    };
    const exchange = await transport.exchange(httpRequest, signal);
    if (exchange.kind === 'failure') {
      return {
        kind: 'fault',
        fault: networkFaultOf(exchange.failure, { host, proxy, timeoutMs, hasExtraAuthorities }),
      };
    }
    const answer = await answerOf(exchange.response, {
      endpoint,
      maxBytes,
      nowMs: nowMs(),
      scrub,
      read(document) {
        const value = read(document);
        return value && withApiKeyHidden(value, scrub);
      },
      executionIdIn: (location) =>
        executionIdIn(location, { url: origin + path, baseUrl, targetPath }),
    });
    if (answer.kind === 'ok' || answer.fault.kind !== 'unauthorized') return answer;
    return { ...answer, fault: { ...answer.fault, apiKeyVersion: apiKey.version } };
  };
}

function headersOf(
  { payload }: RequestSpec<unknown>,
  apiKey: ApiKey,
  userAgent: string,
): Record<string, string> {
  const headers: Record<string, string> = {
    'x-api-key': apiKey.value,
    accept: 'application/json',
    'accept-encoding': 'gzip',
    'user-agent': userAgent,
  };
  if (payload) headers['content-type'] = 'application/json';
  if (payload?.idempotencyKey !== undefined) headers['idempotency-key'] = payload.idempotencyKey;
  return headers;
}

/** These stay as the service sent them. */
const unchangedFields = ['executionId', 'output', 'document'];

/** Hides the API key in every other text, because a service may repeat it in a message. */
function withApiKeyHidden<T extends object>(value: T, scrub: (text: string) => string): T {
  const hide = (each: unknown): unknown => {
    if (typeof each === 'string') return scrub(each);
    return isJsonObject(each) ? mapValues(each, hide) : each;
  };
  const shown = mapValues(value, (each, name) =>
    unchangedFields.includes(name) ? each : hide(each),
  );
  return shown as T;
}

const mapValues = (object: object, change: (value: unknown, name: string) => unknown): object =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value, name)]));
