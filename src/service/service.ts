import { type Answer, type Failure, failure } from '../run/failure.ts';
import type { Clock, Service } from '../run/ports.ts';
import type { Automation, JsonObject, Run, RunStatus } from '../run/run.ts';
import { cleanLine } from '../text/clean.ts';
import { readResult, readStarted, readStatus } from './documents.ts';
import { createHttpClient, type Headers, type HttpRequest, type HttpResponse } from './http.ts';
import { proxyFor } from './proxy.ts';
import { answerOf, isJsonRefusal } from './response.ts';
import { serviceTimeMs } from './retry-after.ts';

export interface ServiceOptions {
  /** Without a slash or `/v0` at its end. */
  baseUrl: string;
  /** Read before the first request, and again after a GET was refused with a 401. */
  apiKey: { read(): Promise<string> };
  /** The limit of requests that get no other. */
  requestTimeoutMs: number;
  userAgent: string;
  env: Readonly<Record<string, string | undefined>>;
  clock: Pick<Clock, 'nowMs' | 'elapsedMs'>;
  randomUuid(): string;
  /** Ends all requests. */
  signal: AbortSignal;
  /** Hides secrets. */
  scrub(text: string): string;
  /** Takes a line for each request and each response. */
  debug?(line: string): void;
}

export interface ServiceClient extends Service {
  /** The discontinued endpoints. Ids are UUIDs in lower case, the answer is the document as sent. */
  agentTrigger(
    agentId: string,
    body: { message?: string; title?: string },
    idempotencyKey?: string,
  ): Promise<Answer<JsonObject>>;
  agentStatus(agentId: string, executionId: string): Promise<Answer<JsonObject>>;
  /** Whether the service answers and doesn't refuse the API key, and its clock (since 1970). */
  probe(): Promise<Answer<{ tookMs: number; serviceTimeMs?: number }>>;
  /** The API key that the next request sends. Rejects with the `Problem` of its source. */
  readApiKey(): Promise<string>;
  close(): void;
}

/** What distinguishes one request from another. */
interface Call<T> {
  /** Below `/v0`. */
  path: string;
  /** Only triggers have it, and are POSTs. */
  trigger?: { body: JsonObject; idempotencyKey?: string };
  isLong?: boolean;
  /** Returns the value in a document, or the reason why it isn't what was asked for. */
  read(document: JsonObject, retryAfterMs?: number): T | string;
}

interface Exchange<T> {
  answer: Answer<T>;
  /** Absent if no complete one came. */
  response?: HttpResponse;
  tookMs?: number;
}

/** The service over HTTP. Throws a `Problem` if the environment names a proxy that can't be used. */
export function createService(options: ServiceOptions): ServiceClient {
  const { requestTimeoutMs, randomUuid, scrub } = options;
  const { exchange, readApiKey, close } = createExchanger(options);
  const request = async <T extends object>(call: Call<T>, timeoutMs = requestTimeoutMs) =>
    (await exchange(call, timeoutMs)).answer;

  return {
    trigger(trigger, timeoutMs) {
      const { automation, idempotencyKey } = trigger;
      const path = `${automationPath(automation)}/trigger`;
      const read = (document: JsonObject) => readStarted(document, trigger);
      return request({ path, trigger: { body: {}, idempotencyKey }, read }, timeoutMs);
    },
    status: (run, timeoutMs) => request(statusCall(run), timeoutMs),
    result(run, timeoutMs) {
      const path = `${runPath(run)}/result`;
      const read = (document: JsonObject) => readResult(document, run, scrub);
      return request({ path, isLong: true, read }, timeoutMs);
    },
    agentTrigger(agentId, body, idempotencyKey) {
      const path = `/agent/${agentId}/trigger`;
      return request({ path, trigger: { body, idempotencyKey }, read: wholeIf(readStarted) });
    },
    agentStatus(agentId, executionId) {
      const path = `/agent/${agentId}/executions/${executionId}`;
      const read = wholeIf((document) => readStatus(document, executionId));
      return request({ path, read });
    },
    async probe() {
      const automation = { projectId: randomUuid(), name: 'probe' };
      const run = { automation, executionId: randomUuid() };
      const { answer, response, tookMs = 0 } = await exchange(statusCall(run), requestTimeoutMs);
      if (!answer.ok && !isJsonRefusal(answer.failure, response)) return answer;
      const sentMs = response && serviceTimeMs(response.headers);
      return { ok: true, value: { tookMs, serviceTimeMs: sentMs } };
    },
    readApiKey,
    close,
  };
}

const automationPath = ({ projectId, name }: Automation): string =>
  `/automation/${projectId}/${encodeURIComponent(name.toWellFormed())}`;

const runPath = ({ automation, executionId }: Run): string =>
  `${automationPath(automation)}/executions/${executionId}`;

const statusCall = (run: Run): Call<RunStatus> => ({
  path: runPath(run),
  read(document, retryAfterMs) {
    const status = readStatus(document, run.executionId);
    return typeof status === 'string' ? status : { ...status, retryAfterMs };
  },
});

/** Reads the document as a whole, if `read` finds in it what was asked for. */
const wholeIf = (read: (document: JsonObject) => object | string) => (document: JsonObject) => {
  const value = read(document);
  return typeof value === 'string' ? value : document;
};

/** Makes requests with the API key, and reads the responses. */
function createExchanger(options: ServiceOptions) {
  const { clock, signal, scrub, userAgent } = options;
  const url = new URL(options.baseUrl);
  const http = createHttpClient(url.origin, proxyFor(url, options.env), signal);
  const apiKey = readOnce(options.apiKey);
  const aborted = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  const debug = (line: string) => options.debug?.(cleanLine(scrub(line)));

  async function exchange<T extends object>(
    { path, trigger, isLong, read }: Call<T>,
    timeoutMs: number,
  ): Promise<Exchange<T>> {
    const reading = apiKey.read();
    const why = await Promise.race([reading.then(() => undefined, messageOf), aborted]);
    if (signal.aborted) return failed(failure('interrupted'));
    if (why !== undefined) return failed(failure('unauthorized', { reason: scrub(why) }));

    const request: HttpRequest = {
      method: trigger ? 'POST' : 'GET',
      path: `${url.pathname.replace(/\/$/, '')}/v0${path}`,
      headers: headersOf(trigger, await reading, userAgent),
      body: trigger && JSON.stringify(trigger.body),
      timeoutMs,
      isLong,
    };
    debug(`> ${request.method} ${url.origin}${request.path}${headersText(request.headers)}`);
    const startedMs = clock.elapsedMs();
    const sent = await http.send(request);
    const tookMs = Math.round(clock.elapsedMs() - startedMs);
    if (!sent.ok) {
      const reason = scrub(sent.failure.reason);
      debug(`< no response after ${tookMs} ms: ${reason}`);
      return failed({ ...sent.failure, reason });
    }
    const response = sent.value;
    debug(`< ${response.status} after ${tookMs} ms${headersText(response.headers)}`);
    // API keys may be renewed while a run is followed.
    if (response.status === 401 && !trigger) apiKey.forget(reading);
    const isTrigger = trigger !== undefined;
    const answer = answerOf(response, { isTrigger, read, nowMs: clock.nowMs(), scrub });
    return { answer, response, tookMs };
  }

  return { exchange, readApiKey: apiKey.read, close: http.close };
}

const failed = (why: Failure) => ({ answer: { ok: false, failure: why } as const });

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** Reads the API key once, and again after an error or when it was forgotten. */
function readOnce(source: ServiceOptions['apiKey']) {
  let current: Promise<string> | undefined;
  return {
    read(): Promise<string> {
      current ??= source.read().catch((error) => {
        current = undefined;
        throw error;
      });
      return current;
    },
    /** Unless another one was read since. */
    forget(old: Promise<string>): void {
      if (old === current) current = undefined;
    },
  };
}

function headersOf(trigger: Call<unknown>['trigger'], apiKey: string, userAgent: string) {
  const headers = { 'x-api-key': apiKey, 'user-agent': userAgent, accept: 'application/json' };
  if (!trigger) return { ...headers, 'cache-control': 'no-cache' };
  const { idempotencyKey } = trigger;
  const withKey = idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey };
  return { ...headers, 'content-type': 'application/json', ...withKey };
}

const secretHeaders = /^x-api-key$|auth|cookie|secret|token/;

const headersText = (headers: Headers): string =>
  Object.entries(headers)
    .filter(([name]) => !secretHeaders.test(name))
    .map(([name, value]) => `, ${name}: ${value}`)
    .join('');
