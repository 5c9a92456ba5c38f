import { setMaxListeners } from 'node:events';
import type { Context } from '../context.ts';
import { type Answer, failureOf } from '../core/failure.ts';
import type { Service, StartedRun } from '../core/ports.ts';
import type { Automation, JsonObject, Run, RunStatus } from '../core/run.ts';
import { cleanLine, withoutRunnerCommands } from '../text/clean.ts';
import { parseResult, parseStarted, parseStatus } from './documents.ts';
import { type HttpRequest, type HttpResponse, send } from './http.ts';
import { proxyFor } from './proxy.ts';
import { answerOf, isJsonRefusal, serviceTimeMs } from './response.ts';

export interface ServiceOptions {
  /** Without a slash or `/v0` at its end. */
  baseUrl: string;
  /** Read before the first request, and again after a GET was refused with a 401. */
  apiKey: { read(): Promise<string> };
  /** The limit of requests that get no other. */
  requestTimeoutMs: number;
  userAgent: string;
}

/** What it needs of the world. The signal ends all requests. */
type ServiceContext = Pick<
  Context,
  'clock' | 'env' | 'flags' | 'randomUuid' | 'secrets' | 'signal' | 'stderr'
>;

export interface ServiceClient extends Service {
  /** The discontinued endpoints. Ids are UUIDs in lower case. */
  agentTrigger(
    agentId: string,
    body: { message?: string; title?: string },
    idempotencyKey?: string,
  ): Promise<Answer<StartedRun>>;
  agentStatus(agentId: string, executionId: string): Promise<Answer<RunStatus>>;
  /** Whether the service answers and doesn't refuse the API key, and its clock (since 1970). */
  probe(): Promise<Answer<{ tookMs: number; serviceTimeMs?: number }>>;
  /** The API key that the next GET sends; a POST sends the first. Rejects with a `Problem`. */
  readApiKey(): Promise<string>;
}

/** What distinguishes one request from another. */
interface Call<T> {
  /** Below `/v0`. */
  path: string;
  method: HttpRequest['method'];
  body?: JsonObject;
  idempotencyKey?: string;
  isLong?: boolean;
  /** Returns the value in a document, or the reason why it isn't what was asked for. */
  read(document: JsonObject, retryAfterMs?: number): T | string;
}

/** The service over HTTP. Throws a `Problem` if the environment names a proxy that can't be used. */
export function createService(options: ServiceOptions, world: ServiceContext): ServiceClient {
  const { requestTimeoutMs } = options;
  const { clock, randomUuid, secrets } = world;
  const { sendCall, readApiKey } = createSender(options, world);

  function answerTo<T extends object>({ method, read }: Call<T>, response: HttpResponse) {
    return answerOf(response, { method, read, nowMs: clock.nowMs(), scrub: secrets.scrub });
  }

  async function request<T extends object>(call: Call<T>, timeoutMs = requestTimeoutMs) {
    const sent = await sendCall(call, timeoutMs);
    return sent.ok ? answerTo(call, sent.value) : sent;
  }

  return {
    trigger(trigger, timeoutMs) {
      const { automation, idempotencyKey } = trigger;
      const path = triggerPath(automation);
      const read = (document: JsonObject) => parseStarted(document, trigger);
      return request({ method: 'POST', path, body: {}, idempotencyKey, read }, timeoutMs);
    },
    status: (run, timeoutMs) => request(statusCall(runPath(run), run.executionId), timeoutMs),
    result(run, timeoutMs) {
      const path = `${runPath(run)}/result`;
      const read = (document: JsonObject) => parseResult(document, run, secrets.scrub);
      return request({ method: 'GET', path, isLong: true, read }, timeoutMs);
    },
    agentTrigger(agentId, body, idempotencyKey) {
      const path = `/agent/${agentId}/trigger`;
      const read = (document: JsonObject) => parseStarted(document);
      return request({ method: 'POST', path, body: { ...body }, idempotencyKey, read });
    },
    agentStatus: (agentId, executionId) =>
      request(statusCall(`/agent/${agentId}/executions/${executionId}`, executionId)),
    async probe() {
      const automation = { projectId: randomUuid(), name: 'probe' };
      const executionId = randomUuid();
      const call = statusCall(runPath({ automation, executionId }), executionId);
      const startedMs = clock.elapsedMs();
      const sent = await sendCall(call, requestTimeoutMs);
      if (!sent.ok) return sent;
      const tookMs = Math.round(clock.elapsedMs() - startedMs);
      const answer = answerTo(call, sent.value);
      if (!answer.ok && !isJsonRefusal(answer.failure, sent.value)) return answer;
      return { ok: true, value: { tookMs, serviceTimeMs: serviceTimeMs(sent.value.headers) } };
    },
    readApiKey,
  };
}

const automationPath = ({ projectId, name }: Automation): string =>
  `/automation/${projectId}/${encodeURIComponent(name.toWellFormed())}`;

const triggerPath = (automation: Automation) => `${automationPath(automation)}/trigger`;

/** For people: where a trigger is sent. */
export const triggerUrl = (baseUrl: string, automation: Automation): string =>
  `${baseUrl}/v0${triggerPath(automation)}`;

const runPath = ({ automation, executionId }: Run): string =>
  `${automationPath(automation)}/executions/${executionId}`;

const statusCall = (path: string, executionId: string): Call<RunStatus> => ({
  method: 'GET',
  path,
  read: (document, retryAfterMs) => parseStatus(document, executionId, retryAfterMs),
});

/** Sends requests with the API key, and tells of them with `--debug`. */
function createSender({ baseUrl, apiKey, userAgent }: ServiceOptions, world: ServiceContext) {
  const { clock, env, flags, signal, stderr } = world;
  const origin = new URL(baseUrl);
  const root = `${origin.pathname.replace(/\/$/, '')}/v0`;
  const proxy = proxyFor(origin, env);
  const debug = (line: string) =>
    flags.debug && stderr.write(`${withoutRunnerCommands(cleanLine(line))}\n`);
  // Each request listens to it.
  setMaxListeners(0, signal);

  const apiKeys = createApiKeys(apiKey);

  async function sendCall(
    { method, path, body, idempotencyKey, isLong }: Call<unknown>,
    timeoutMs: number,
  ): Promise<Answer<HttpResponse>> {
    const key = await apiKeys.readFor(method).catch((error: Error) => error);
    if (typeof key !== 'string') {
      apiKeys.forget();
      if (signal.aborted) return { ok: false, failure: failureOf('interrupted') };
      return { ok: false, failure: failureOf('unauthorized', { reason: key.message }) };
    }
    const request: HttpRequest = {
      method,
      origin,
      proxy,
      path: root + path,
      headers: {
        host: origin.host,
        'user-agent': userAgent,
        ...headersOf(body, idempotencyKey, key),
      },
      body: body && JSON.stringify(body),
      timeoutMs,
      isLong,
    };
    debug(`> ${request.method} ${origin.origin}${request.path}${headersText(request.headers)}`);
    const startedMs = clock.elapsedMs();
    const sent = await send(request, signal);
    const took = `after ${Math.round(clock.elapsedMs() - startedMs)} ms`;
    if (!sent.ok) {
      debug(`< no response ${took}: ${sent.failure.reason}`);
      return sent;
    }
    const { status, headers } = sent.value;
    debug(`< ${status} ${took}${headersText(headers)}`);
    // API keys may be renewed while a run is followed.
    if (status === 401 && method === 'GET') apiKeys.forget();
    return sent;
  }

  return { sendCall, readApiKey: () => apiKeys.readFor('GET') };
}

/** The API key as the source has it, read once and again after `forget`. */
function createApiKeys(source: ServiceOptions['apiKey']) {
  let first: Promise<string> | undefined;
  let last: Promise<string> | undefined;
  return {
    readFor(method: HttpRequest['method']): Promise<string> {
      // Idempotency keys are scoped per API key, so triggers keep the one that the journal has.
      if (method === 'POST' && first) return first;
      last ??= source.read();
      first ??= last;
      return last;
    },
    forget() {
      last = undefined;
    },
  };
}

const headersOf = (body: object | undefined, key: string | undefined, apiKey: string) => ({
  'x-api-key': apiKey,
  accept: 'application/json',
  'cache-control': 'no-cache',
  // Without it every coding is acceptable (RFC 9110 §12.5.3).
  'accept-encoding': 'identity',
  ...(body && { 'content-type': 'application/json' }),
  ...(key && { 'idempotency-key': key }),
});

const secretHeaders = /api-key|auth|cookie|secret|token/;

const headersText = (headers: Readonly<Record<string, unknown>>): string =>
  Object.entries(headers)
    .filter(([name]) => !secretHeaders.test(name))
    .map(([name, value]) => `, ${name}: ${value}`)
    .join('');
