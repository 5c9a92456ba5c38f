import { type Reply, refusalReply, refusals } from '../../src/emulator/reply.ts';
import type { Service } from '../../src/run/service.ts';
import { type FinalStatus, finalStatuses } from '../../src/run/statuses.ts';
import type { Exchange, HttpRequest, Transport } from '../../src/service/exchange.ts';
import { createHttpService } from '../../src/service/http-service.ts';
import { createFaultyService } from '../fault-kit/faulty-service.ts';
import type { VirtualClock } from '../helpers/virtual-clock.ts';

/** What happens to one request. If it `acts`, the service did its work, and only the answer is lost. */
export type Condition =
  | { kind: 'normal' | 'undated' }
  | { kind: 'lost' | 'unreadable'; acts: boolean }
  | { kind: 'unreachable' | 'tls_handshake_failed' }
  | { kind: 'answer'; status: number; retryAfter?: number; acts?: boolean }
  /** Of a poll: as things stood before, or not there yet (within 20 s of the trigger), or a status of another version. */
  | { kind: 'stale' | 'missing' | 'odd' };

export interface ServiceOptions {
  order: 'keyFirst' | 'activeFirst';
  namesActiveRun: boolean;
  replaysRefusals: boolean;
  idempotencyKeys: 'honored' | 'ignored';
  durationMs: number;
  /** The final statuses of its runs, in turn. */
  outcomes?: FinalStatus[];
  /** The clocks of the service's hosts differ by this at most. */
  hostSkewMs: number;
  /** How long a request takes at most. */
  latencyMs: number;
  random(): number;
  clock: VirtualClock;
}

/** A request to start a run, when it left and whether its outcome was known; times are true. */
export interface SentTrigger {
  apiKey: string;
  idempotencyKey: string;
  atMs: number;
  isInDoubt: boolean;
  /** It left, and is not only on record. */
  wasSent: boolean;
  /** The run that the answer names as active. */
  conflictId?: string;
  /** It was refused because a run was active. */
  isConflict?: boolean;
  /** The run that it started. */
  startedId?: string;
}

export interface TrueRun {
  executionId: string;
  idempotencyKey?: string;
  /** On the clock that never errs. */
  beganAtMs: number;
  endsAtMs: number;
  outcome: string;
}

const lateMs = 20_000;
export const apiKeys = ['api-key-1', 'api-key-2', 'api-key-3'];
const [, , foreignApiKey = ''] = apiKeys;

/** The emulated service, its hosts and the way to them, in memory and in virtual time; what really happened stays known. */
export function createSimulatedService({ clock, random, hostSkewMs, latencyMs, ...options }: ServiceOptions) {
  const emulated = createFaultyService(
    {
      order: options.order,
      namesActiveRun: options.namesActiveRun,
      replayErrors: options.replaysRefusals,
      idempotencyKeys: options.idempotencyKeys,
      apiKeys,
      automations: {
        '*': { duration: `${options.durationMs}ms`, finalStatus: options.outcomes ?? [...finalStatuses] },
      },
    },
    'api-key-0',
  );
  const beganAtMs = new Map<string, number>();

  /** One of the service's hosts answers. */
  function answer({ method, path, headers, body = '' }: HttpRequest): Reply {
    const realMs = clock.nowMs();
    const now = { realMs, emulatedMs: realMs + (random() - 0.5) * hostSkewMs };
    const reply = emulated.answer({ method, url: path, headers, body }, now);
    for (const { executionId } of emulated.runs()) {
      if (!beganAtMs.has(executionId)) beganAtMs.set(executionId, realMs);
    }
    return reply;
  }

  function exchangeOf(request: HttpRequest, condition: Condition): Exchange {
    const acts = 'acts' in condition && condition.acts;
    switch (condition.kind) {
      case 'unreachable':
      case 'tls_handshake_failed':
        return failure(false, condition.kind === 'tls_handshake_failed' ? 'CERT_HAS_EXPIRED' : 'ECONNREFUSED');
      case 'lost':
        if (acts) answer(request);
        return failure(true, 'ECONNRESET');
      case 'unreadable':
        if (acts) answer(request);
        return response({ status: 201, headers: {}, body: '<html>' });
      case 'answer': {
        if (acts) answer(request);
        const { status, retryAfter } = condition;
        return response({ status, headers: retryAfter ? { 'retry-after': String(retryAfter) } : {}, body: '' });
      }
      case 'undated':
        return response(answer(request), { isDated: false });
    }
    const reply = answer(request);
    return response(request.method === 'GET' ? polled(request, reply, condition.kind) : reply);
  }

  function polled({ path }: HttpRequest, reply: Reply, kind: Condition['kind']): Reply {
    const [executionId = ''] = /[0-9a-f-]{36}(?=\/result$|$)/.exec(path) ?? [];
    const isNew = clock.nowMs() < (beganAtMs.get(executionId) ?? 0) + lateMs;
    if (kind === 'missing' && isNew) return refusalReply(refusals.notFound);
    if (kind !== 'stale' && kind !== 'odd') return reply;
    const document = JSON.parse(reply.body);
    if (kind === 'stale' && document.status) document.status = 'RUNNING';
    if (kind === 'odd' && document.status === 'RUNNING') document.status = 'PAUSED';
    return {
      ...reply,
      body: JSON.stringify({ ...document, completedAt: kind === 'stale' ? null : document.completedAt }),
    };
  }

  function response({ status, headers, body }: Reply, { isDated = true } = {}): Exchange {
    const hostMs = clock.nowMs() + (random() - 0.5) * hostSkewMs;
    const date: Record<string, string> = isDated ? { date: new Date(hostMs).toUTCString() } : {};
    return {
      kind: 'response',
      response: { status, headers: { ...headers, ...date }, body: Buffer.from(body), isTruncated: false },
    };
  }

  /** The service as a process sees it. */
  function connect(apiKey: string, nowMs: () => number, nextCondition: () => Condition, sent: SentTrigger[]): Service {
    const transport: Transport = {
      async exchange(request) {
        const key = request.headers['idempotency-key'];
        const attempt: SentTrigger = {
          apiKey,
          idempotencyKey: key ?? '',
          atMs: clock.nowMs(),
          isInDoubt: false,
          wasSent: true,
        };
        if (key) sent.push(attempt);
        const tookMs = random() * latencyMs;
        const readAt = random();
        await clock.sleep(tookMs * readAt);
        const condition = nextCondition();
        const before = emulated.runs().length;
        const exchange = exchangeOf(request, condition);
        attempt.startedId = emulated.runs()[before]?.executionId;
        await clock.sleep(tookMs * (1 - readAt));
        const status = exchange.kind === 'response' ? exchange.response.status : undefined;
        attempt.isInDoubt =
          condition.kind === 'unreadable' ||
          (exchange.kind === 'failure' ? exchange.failure.wasSent : !/^(?:201|4(?!08|09|25))/.test(`${status}`));
        attempt.isConflict = status === 422;
        if (status === 422) attempt.conflictId = conflictIn(exchange);
        return exchange;
      },
    };
    const limits = { requestTimeoutMs: 30_000, maxOutputBytes: 10_000 };
    return createHttpService({
      transport,
      baseUrl: 'https://service.test',
      proxy: undefined,
      hasExtraAuthorities: false,
      scrub: (text) => text,
      apiKey: async () => ({ value: apiKey, version: 1 }),
      userAgent: 'test',
      nowMs,
      ...limits,
    });
  }

  const runs = (): TrueRun[] =>
    emulated.runs().map(({ executionId, idempotencyKey, startedAtMs, endsAtMs, plan }) => {
      const began = beganAtMs.get(executionId) ?? Number.NaN;
      const { finalStatus = 'COMPLETED' } = plan;
      return {
        executionId,
        idempotencyKey,
        outcome: finalStatus,
        beganAtMs: began,
        endsAtMs: began + endsAtMs - startedAtMs,
      };
    });

  /** A schedule, or somebody who has no idempotency keys, starts a run, unless one is active. */
  function startElsewhere(path: string): void {
    const headers = { 'x-api-key': foreignApiKey, 'content-type': 'application/json' };
    answer({ method: 'POST', path, headers, body: '{}', timeoutMs: 0, maxBytes: 0 });
  }

  return { runs, connect, startElsewhere };
}

function conflictIn(exchange: Exchange): string | undefined {
  return exchange.kind === 'response' ? JSON.parse(exchange.response.body.toString()).executionId : undefined;
}

function failure(wasSent: boolean, code: string): Exchange {
  return { kind: 'failure', failure: { wasSent, kind: 'network', error: Object.assign(new Error(code), { code }) } };
}
