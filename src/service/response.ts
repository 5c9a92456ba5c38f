import { type Fault, type FaultKind, sentenceOf } from '../run/fault.ts';
import type { Answer, Endpoint } from '../run/service.ts';
import { isJsonObject, type JsonObject } from '../system/json.ts';
import { readJson, textOfBody, UnreadableBody } from './body.ts';
import { kindOf } from './classify.ts';
import { type ErrorBody, pageIn, readErrorBody } from './error-body.ts';
import { type Headers, type HttpResponse, valuesOf } from './exchange.ts';
import { retryAfterMs, serviceTimeMs } from './retry-after.ts';

interface Reading<T> {
  endpoint: Endpoint;
  maxBytes: number;
  nowMs: number;
  /** Undefined if the document isn't the expected one. */
  read(document: JsonObject): T | undefined;
  executionIdIn?(location: string): string | undefined;
  /**
   * Hides the API key. Must run before a message is cut to one line, because half a key wouldn't be
   * recognized.
   */
  scrub(text: string): string;
}

const errorBodyBytes = 1024 * 1024;
const maxScrubbed = 64 * 1024;
const requestIdHeaders = [
  'x-request-id',
  'request-id',
  'x-correlation-id',
  'x-amzn-requestid',
  'cf-ray',
];

/** Reads the response to a request (docs/service.openapi.json). */
export async function answerOf<T>(raw: HttpResponse, reading: Reading<T>): Promise<Answer<T>> {
  const isSuccess = raw.status >= 200 && raw.status < 300;
  const answer = await (isSuccess
    ? readSuccess(raw, reading)
    : readErrorResponse(scrubbed(raw, reading), reading));
  return { ...answer, serviceTimeMs: serviceTimeMs(raw.headers) };
}

async function readSuccess<T>(raw: HttpResponse, reading: Reading<T>): Promise<Answer<T>> {
  try {
    const document = createdRun(raw, reading) ?? (await readJson(raw, reading.maxBytes));
    const value = isJsonObject(document) ? reading.read(document) : undefined;
    if (value !== undefined)
      return { kind: 'ok', value, retryAfterMs: retryAfterMs(raw.headers, reading.nowMs) };
    return faultOf(
      'unreadable',
      isJsonObject(document)
        ? wrongDocumentMessages[reading.endpoint]
        : 'the response is not a JSON object',
    );
  } catch (error) {
    if (!(error instanceof UnreadableBody)) throw error;
    const page = pageIn(reading.scrub(error.text.slice(0, maxScrubbed)));
    const message = page ? pageMessage(page) : `the response body can't be read: ${error.message}`;
    return faultOf(error.isTooLarge ? 'too_large' : 'unreadable', message, page);
  }

  function faultOf(kind: FaultKind, message: string, page?: string): Answer<T> {
    return {
      kind: 'fault',
      fault: {
        ...factsOfResponse(scrubbed(raw, reading), reading),
        kind,
        message: reading.scrub(message),
        page,
      },
    };
  }
}

/** The response to a trigger may have a `Location` instead of a body. */
function createdRun<T>(
  { body, headers }: HttpResponse,
  { endpoint, executionIdIn }: Reading<T>,
): JsonObject | undefined {
  const [location] = valuesOf(headers, 'location');
  if (endpoint !== 'trigger' || body.length > 0 || location === undefined) return undefined;
  const executionId = executionIdIn?.(location);
  return executionId === undefined ? undefined : { executionId, status: 'RUNNING' };
}

async function readErrorResponse<T>(
  response: HttpResponse,
  reading: Reading<T>,
): Promise<Answer<T>> {
  const { status, headers } = response;
  const body = await readErrorOf(response, reading);
  const leadsToRun = valuesOf(headers, 'location').some(
    (location) => reading.executionIdIn?.(location) !== undefined,
  );
  const hasRetryAfter = valuesOf(headers, 'retry-after').some((value) => value !== '');
  const kind = kindOf({ status, body, leadsToRun, hasRetryAfter }, reading.endpoint);
  const fault: Fault = {
    ...factsOfResponse(response, reading),
    kind,
    message: errorResponseMessage(response, body, kind, reading.endpoint),
    page: body.page,
    serviceCode: body.code,
    executionId: kind === 'already_active' ? body.executionId : undefined,
  };
  return { kind: 'fault', fault };
}

async function readErrorOf<T>(response: HttpResponse, { scrub }: Reading<T>): Promise<ErrorBody> {
  const body = response.body.subarray(0, errorBodyBytes);
  const isHtml = valuesOf(response.headers, 'content-type').some((type) => /\bhtml\b/i.test(type));
  try {
    return readErrorBody(scrub(await textOfBody({ ...response, body }, errorBodyBytes)), {
      isHtml,
    });
  } catch {
    // A firewall may compress its page in a way that runctl didn't ask for.
    return readErrorBody(isHtml ? '<html>' : '', { isHtml });
  }
}

/**
 * Hides the API key in the headers. Successful polls skip this, because it takes CPU time and their
 * headers aren't printed.
 */
function scrubbed<T>(response: HttpResponse, { scrub }: Reading<T>): HttpResponse {
  const headers = Object.keys(response.headers).map((name) => [
    name,
    valuesOf(response.headers, name).map(scrub),
  ]);
  return { ...response, headers: Object.fromEntries(headers) };
}

/**
 * The messages for a 2xx response with another document. An object with a `status` may also be the
 * error object of a gateway.
 */
const wrongDocumentMessages: Record<Endpoint, string> = {
  trigger: 'the response has no executionId',
  status: "the response doesn't name this run with a status, and may not come from the service",
  result: "the response doesn't name this run with a status, and may not come from the service",
};

/** What the service refused, in a message. */
const refusedSubjects: Record<Endpoint, string> = {
  trigger: 'it',
  status: 'the request',
  result: 'the request',
};

const pageMessage = (page: string) =>
  `the response is an HTML page, "${page}", and may not come from the service`;

function errorResponseMessage(
  response: HttpResponse,
  body: ErrorBody,
  kind: FaultKind,
  endpoint: Endpoint,
): string {
  // Only the service redirects to a run or names an active one, so a page says nothing more.
  const isOfService =
    kind === 'redirected' || kind === 'redirected_to_run' || kind === 'already_active';
  if (body.page && !isOfService) return pageMessage(body.page);
  const sentence = sentenceOf(kind);
  if (sentence !== undefined) {
    // A 403 may be about this Automation alone, which only the service's message says.
    return response.status === 403 ? withMessage(sentence, body) : sentence;
  }
  if (kind === 'redirected') return redirectMessage(response);
  if (kind === 'unreadable') return 'the response is not JSON';
  if (response.status >= 500) return withMessage('the service reported an error', body);
  return withMessage(`the service refused ${refusedSubjects[endpoint]}`, body);
}

const withMessage = (sentence: string, { message }: ErrorBody) =>
  message ? `${sentence}: ${message}` : sentence;

function redirectMessage({ headers }: HttpResponse): string {
  const [location] = valuesOf(headers, 'location');
  const target = location ? ` to ${originOf(location)}` : '';
  const reason = 'because it would send the API key along';
  return `the service responded with a redirect${target}, which runctl doesn't follow ${reason}`;
}

const originOf = (location: string): string =>
  URL.canParse(location) ? new URL(location).origin : 'another path';

function factsOfResponse<T>({ status, headers }: HttpResponse, { nowMs }: Reading<T>) {
  return {
    httpStatus: status,
    requestId: requestIdOf(headers),
    retryAfterMs: retryAfterMs(headers, nowMs),
  };
}

function requestIdOf(headers: Headers): string | undefined {
  const value = requestIdHeaders
    .flatMap((name) => valuesOf(headers, name))
    .find((candidate) => candidate);
  return value?.replace(/[^\x21-\x7e]/g, '').slice(0, 200) || undefined;
}
