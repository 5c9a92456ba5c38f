import type { Fault, FaultKind } from '../runs/fault.ts';
import { isJsonObject, type JsonObject } from '../runs/json.ts';
import type { Answer } from '../runs/service.ts';
import { readJson, readText, UnreadableBody } from './body.ts';
import { type ErrorBody, readErrorBody } from './error-body.ts';
import type { HttpResponse } from './exchange.ts';
import { retryAfterMs } from './retry-after.ts';

export type Operation = 'trigger' | 'status' | 'result';

export interface Reading<T> {
  operation: Operation;
  maxBytes: number;
  nowMs: number;
  /** The value in a good document; undefined where the document is not what was asked for. */
  read(document: JsonObject): T | undefined;
  /** Takes the API key out of what a refusal says: it is cut to one line, and half a key would not be known again. */
  scrub(text: string): string;
}

const errorBodyBytes = 64 * 1024;
const requestIdHeaders = ['x-request-id', 'request-id', 'x-correlation-id', 'x-amzn-requestid', 'cf-ray'];

/** What a complete response means, for the documented errors and for all others (docs/service.md, Error answers). */
export async function answerOf<T>(raw: HttpResponse, reading: Reading<T>): Promise<Answer<T>> {
  return raw.status >= 200 && raw.status < 300 ? readGood(raw, reading) : readRefusal(scrubbed(raw, reading), reading);
}

async function readGood<T>(raw: HttpResponse, reading: Reading<T>): Promise<Answer<T>> {
  try {
    const document = await readJson(raw, reading.maxBytes);
    const value = isJsonObject(document) ? reading.read(document) : undefined;
    if (value !== undefined) return { kind: 'ok', value, serviceNowMs: serviceTimeMs(raw) };
    return faultOf('unreadable', `the ${raw.status} answer is not what the interface promises`);
  } catch (error) {
    if (!(error instanceof UnreadableBody)) throw error;
    const message = `the body of the ${raw.status} answer cannot be read: ${error.message}`;
    return faultOf(error.tooLarge ? 'too_large' : 'unreadable', message);
  }

  function faultOf(kind: FaultKind, message: string): Answer<T> {
    return fault(factsOf(scrubbed(raw, reading)), kind, reading.scrub(message));
  }
}

async function readRefusal<T>(response: HttpResponse, reading: Reading<T>): Promise<Answer<T>> {
  const body = await readErrorOf(response, reading);
  const kind = kindOfRefusal(response.status, body, reading.operation);
  return fault(
    {
      ...factsOf(response),
      serviceCode: body.code,
      retryAfterMs: retryAfterMs(response.headers, reading.nowMs),
      executionId: kind === 'already_active' ? body.executionId : undefined,
    },
    kind,
    refusalMessage(response, body),
  );
}

async function readErrorOf<T>(response: HttpResponse, { scrub }: Reading<T>): Promise<ErrorBody> {
  try {
    const body = response.body.subarray(0, errorBodyBytes);
    return readErrorBody(scrub(await readText({ ...response, body }, errorBodyBytes)));
  } catch {
    // The status alone tells what to do; a body that cannot be read takes nothing from it.
    return readErrorBody('');
  }
}

/** The `Date` of the answer; undefined where it has none that can be read. */
function serviceTimeMs({ headers: { date = '' } }: HttpResponse): number | undefined {
  const ms = Date.parse(date);
  return Number.isNaN(ms) ? undefined : ms;
}

/** Only responses that are reported as failures are scrubbed: doing it at every successful poll would cost CPU. */
function scrubbed<T>(response: HttpResponse, { scrub }: Reading<T>): HttpResponse {
  const headers = Object.entries(response.headers).map(([name, value]) => [name, scrub(value)]);
  return { ...response, headers: Object.fromEntries(headers) };
}

const passing = new Set([408, 425, 500, 502, 503, 504]);

function kindOfRefusal(status: number, body: ErrorBody, operation: Operation): FaultKind {
  if (status === 429) return 'throttled';
  if (passing.has(status)) return 'unavailable';
  if (status === 401 || status === 403) return 'unauthorized';
  if (status === 402) return 'no_credits';
  if (status === 407) return 'proxy_refused';
  if (status < 400) return 'redirected';
  if (status >= 500) return 'rejected';
  if (operation !== 'trigger') return status === 422 || status === 404 || status === 410 ? 'not_found' : 'rejected';
  if (body.names('runAlreadyActive')) return 'already_active';
  if (status === 409) return 'in_progress';
  return body.names('notFound') ? 'not_found' : 'rejected';
}

type Facts = Pick<Fault, 'requestId' | 'serviceCode' | 'retryAfterMs' | 'executionId'> & { httpStatus: number };

function fault(facts: Facts, kind: FaultKind, message: string): { kind: 'fault'; fault: Fault } {
  return { kind: 'fault', fault: { ...facts, kind, message } };
}

function refusalMessage({ status, headers }: HttpResponse, body: ErrorBody): string {
  const words = [body.code, body.message].filter((part, index, all) => part && all.indexOf(part) === index).join(': ');
  if (status < 400) {
    const place = headers.location ? ` to ${originOf(headers.location)}` : '';
    return `the service answered with a redirect${place} (${status}), which runctl does not follow with a key in hand`;
  }
  return `the service answered ${status}${words ? ` (${words})` : ''}`;
}

function originOf(location: string): string {
  return URL.canParse(location) ? new URL(location).origin : 'another path';
}

function factsOf({ status, headers }: HttpResponse): Facts {
  return { httpStatus: status, requestId: requestIdOf(headers) };
}

function requestIdOf(headers: Record<string, string>): string | undefined {
  const value = requestIdHeaders.map((name) => headers[name]).find((candidate) => candidate);
  return value?.replace(/[^\x21-\x7e]/g, '').slice(0, 200) || undefined;
}
