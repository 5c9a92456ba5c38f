import {
  type Answer,
  type Failure,
  type FailureKind,
  failureOf,
  failureTable,
  rowOf,
} from '../core/failure.ts';
import { isJsonObject, type JsonObject } from '../core/run.ts';
import { dayMs } from '../core/time.ts';
import { type ErrorBody, parseJson, readErrorBody } from './error-body.ts';
import type { HttpRequest, HttpResponse, ResponseHeaders } from './http.ts';

export interface Reading<T> {
  /** Of a POST, every 2xx is a success; of a GET, 200 alone. */
  method: HttpRequest['method'];
  /** Returns the value in a document, or the reason why it isn't what was asked for. */
  read(document: JsonObject, retryAfterMs?: number): T | string;
  nowMs: number;
  /** Hides secrets. */
  scrub(text: string): string;
}

interface ErrorResponse extends ErrorBody {
  status: number;
  method: HttpRequest['method'];
  hasRetryAfter: boolean;
}

/** What an error response means. The first row that fits decides, else it is `rejected`. */
// biome-ignore format: a table
const rows: [FailureKind, (response: ErrorResponse) => boolean][] = [
  ['redirected',       ({ status }) => status < 400],
  // Firewalls and login pages answer in place of the service.
  ['invalid_response', ({ status, isHtml }) => [401, 403].includes(status) && isHtml],
  ['server_error',     ({ status }) => status >= 500],
  ['no_response',      ({ status }) => status === 408],
  ['in_progress',      ({ status }) => status === 425],
  ['already_active',   ({ method, isRunAlreadyActive }) => method === 'POST' && isRunAlreadyActive],
  // GitHub and others limit the rate with a 403.
  ['rate_limited',     ({ status, hasRetryAfter }) => status === 429 || (status === 403 && hasRetryAfter)],
  ['unauthorized',     ({ status }) => [401, 403].includes(status)],
  ['no_credits',       ({ status }) => status === 402],
  ['in_progress',      ({ status }) => status === 409],
  ['not_found',        ({ status, code }) => [404, 410].includes(status) || notFoundCode.test(code ?? '')],
  ['not_found',        ({ status, method, isJson }) => status === 422 && method === 'GET' && isJson],
];

/** `notFound`, `NOT_FOUND`, `ExecutionNotFoundException` */
const notFoundCode = /not[_-]?found/i;

/** Where the service's words are said, too, or alone. Elsewhere its code says it all. */
const wordsAfter: readonly FailureKind[] = ['unauthorized', 'server_error', 'no_response'];
const wordsAlone: readonly FailureKind[] = ['not_found', 'rejected', 'in_progress', 'rate_limited'];

/** What a response means. */
export function answerOf<T extends object>(response: HttpResponse, reading: Reading<T>): Answer<T> {
  const { status, headers } = response;
  const { nowMs, scrub } = reading;
  const requestId = Object.keys(headers).find((name) => requestIdHeader.test(name));
  const facts = {
    httpStatus: status,
    requestId: requestId && scrub(`${headers[requestId]}`).slice(0, 200),
    retryAfterMs: retryAfterMs(headers, nowMs),
  };
  if (status >= 300) return { ok: false, failure: { ...errorOf(response, reading), ...facts } };
  const value = readSuccess(response, reading, facts.retryAfterMs);
  if (typeof value !== 'string') return { ok: true, value };
  return { ok: false, failure: failureOf('invalid_response', { reason: value, ...facts }) };
}

const requestIdHeader = /^((x-)?(request|correlation)-id|x-amzn-requestid|cf-ray)$/;

/** The value of a success, or the reason why it isn't one. */
function readSuccess<T extends object>(
  response: HttpResponse,
  { method, read, scrub }: Reading<T>,
  retryAfterMs: number | undefined,
): T | string {
  const document = parseJson(response.text);
  if (!isJsonObject(document)) {
    const body = readErrorBody(response, scrub);
    return body.isHtml ? reasonOfPage(body) : "the response isn't a JSON object";
  }
  if (response.status !== 200 && method === 'GET') return "the response isn't a 200";
  const value = read(document, retryAfterMs);
  if (typeof value !== 'string') {
    // A cache that ignores `no-cache` would say RUNNING for ever. What is final stays true.
    const age = Number(response.headers.age?.[0]);
    const isStale = age > 60 && 'isFinal' in value && value.isFinal === false;
    return isStale ? `it comes from a cache, ${age}s old` : value;
  }
  if (document.automationName) return value;
  // What isn't a run may be an error that came with a 200.
  const { message } = readErrorBody(response, scrub);
  return message ? `${value}: ${message}` : value;
}

function errorOf(response: HttpResponse, { method, scrub }: Reading<unknown>): Failure {
  const { status, headers } = response;
  const body = readErrorBody(response, scrub);
  const hasRetryAfter = headers['retry-after'] !== undefined;
  const row = rows.find(([, fits]) => fits({ ...body, status, method, hasRetryAfter }));
  const kind = row?.[0] ?? 'rejected';
  const { code, message } = body;
  if (kind === 'invalid_response') return failureOf(kind, { code, reason: reasonOfPage(body) });
  const { reason } = failureTable[kind];
  if (message && wordsAlone.includes(kind)) return failureOf(kind, { code, reason: message });
  const words = message && wordsAfter.includes(kind) ? `: ${message}` : '';
  return failureOf(kind, { code, reason: reason + words });
}

const reasonOfPage = ({ message }: ErrorBody) =>
  `the response is an HTML page${message ? ` ("${message}")` : ''}, and may not come from the service`;

/** The service answered in JSON, and refused something else than the API key. */
export const isJsonRefusal = (failure: Failure, { text }: HttpResponse): boolean =>
  rowOf(failure).effect === 'none' &&
  failure.kind !== 'unauthorized' &&
  parseJson(text) !== undefined;

const yearMs = 365 * dayMs;

/** The longest wait that the response asks for (RFC 9110 §10.2.3), by the service's clock. */
function retryAfterMs(headers: ResponseHeaders, nowMs: number): number | undefined {
  const sentMs = serviceTimeMs(headers) ?? nowMs;
  const waits = (headers['retry-after'] ?? []).flatMap((text) => {
    const value = text.trim();
    if (/^\d+( *, *\d+)*$/.test(value)) return value.split(',').map((each) => Number(each) * 1000);
    const untilMs = parseHttpDate(value);
    return untilMs === undefined ? [] : Math.max(0, untilMs - sentMs);
  });
  // More is no time that a message could name.
  return waits.length > 0 ? Math.min(Math.max(...waits), yearMs) : undefined;
}

/** The `Date` header, in milliseconds since 1970. */
export const serviceTimeMs = (headers: ResponseHeaders): number | undefined =>
  parseHttpDate(headers.date?.[0] ?? '');

/** A date as in RFC 9110 §5.6.7, because `Date.parse` alone takes "5" for a day in 2001. */
function parseHttpDate(text: string): number | undefined {
  const ms = /^[A-Z][a-z]+, .* GMT$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}
