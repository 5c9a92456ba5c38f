import type { Service } from '../../src/run/service.ts';
import { statusPath } from '../../src/service/endpoints.ts';
import type { Exchange, ExchangeFailure, HttpRequest, Transport } from '../../src/service/exchange.ts';
import { createHttpService } from '../../src/service/http-service.ts';
import { parseDuration } from '../../src/system/time-text.ts';
import { executionId, run } from './scripted-service.ts';
import type { VirtualClock } from './virtual-clock.ts';

export interface ScriptedTransport {
  service: Service;
  /** When each request was sent, on the clock that stands still in sleep. */
  readonly sentAtMs: readonly number[];
  readonly requests: readonly HttpRequest[];
}

const failures: Record<string, ExchangeFailure> = {
  unresolvable: network('ENOTFOUND', false),
  refused: network('ECONNREFUSED', false),
  unreachable: network('ENETUNREACH', false),
  'connect-timeout': network('UND_ERR_CONNECT_TIMEOUT', false),
  'reset-unsent': network('ECONNRESET', false),
  'late-unsent': { wasSent: false, kind: 'deadline' },
  reset: network('ECONNRESET', true),
  closed: network('UND_ERR_SOCKET', true),
  cut: { ...network('UND_ERR_SOCKET', true), status: 200 },
  silence: { wasSent: true, kind: 'deadline' },
  unheard: network('EWHATEVER', true),
  expired: network('CERT_HAS_EXPIRED', false),
  'self-signed': network('DEPTH_ZERO_SELF_SIGNED_CERT', false),
  'wrong-host': network('ERR_TLS_CERT_ALTNAME_INVALID', false),
  'broken-tls': network('ERR_SSL_BAD_RECORD', true),
  'client-failed': { wasSent: false, kind: 'network', error: new TypeError('not a function') },
  'broken-client': { wasSent: true, kind: 'network', error: new TypeError('not a function') },
  'proxy-407': proxy(407),
  'proxy-502': proxy(502),
};

const bodies: Record<string, string> = {
  html: '<html><h1>Welcome</h1></html>',
  empty: '',
  text: 'notFound',
  list: '[]',
  other: '{"ok":true}',
  'no-id': '{"status":"RUNNING"}',
  envelope: '{"status":"failed","message":"upstream timeout"}',
  'no-status': JSON.stringify({ executionId }),
  typed: '{"executionId":7,"status":{"a":1}}',
  another: '{"executionId":"00000000-0000-4000-8000-000000000000","status":"COMPLETED"}',
  active: '{"code":"runAlreadyActive"}',
  'active-text': 'runAlreadyActive: it is running',
  'active-id': JSON.stringify({ code: 'runAlreadyActive', executionId }),
  detail: '{"code":"x","detail":"notFound"}',
  run: '',
  huge: 'x',
};

/**
 * The service behind a transport that responds from a script, `502, 429 retry-after 7, RUNNING`, its last entry for ever:
 *
 * - `RUNNING`, or any status in capitals: a good response
 * - `502`: an HTTP status; `502-html`: with a body of the list above; `422-invalidId`: with an error code
 * - `303-run`: a redirect to the run
 * - `429 retry-after 7`, `429 retry-after date+30`, `RUNNING retry-after 7`: with a `Retry-After`, of 7 s or 30 s
 * - `reset`, or another name of the first list: a failure without a response
 * - `asleep 8h`, `stopped 8h`: no response; the machine sleeps, or the process is stopped, a moment after the one before
 * - `stalled 8h`: no response, as the process was stopped while the request was in flight
 */
export function scriptedTransport(script: string, clock: VirtualClock): ScriptedTransport {
  const words = script.split(', ');
  const sentAtMs: number[] = [];
  const requests: HttpRequest[] = [];
  let next = 0;
  const transport: Transport = {
    async exchange(request) {
      requests.push(request);
      sentAtMs.push(clock.elapsedMs());
      const word = words[Math.min(next++, words.length - 1)] ?? '';
      const pauses = /^(asleep|stopped) (.+)$/.exec(words[next] ?? '');
      if (pauses) {
        next += 1;
        const ms = parseDuration(pauses[2] ?? '') ?? 0;
        process.nextTick(() => (pauses[1] === 'asleep' ? clock.suspend(ms) : clock.stop(ms)));
      }
      return exchangeOf(word, clock);
    },
  };
  const service = createHttpService({
    transport,
    baseUrl: 'https://service.test',
    proxy: { origin: 'http://proxy.test:3128', variable: 'HTTPS_PROXY' },
    hasExtraAuthorities: false,
    scrub: (text) => text,
    apiKey: async () => ({ value: 'key', version: 1 }),
    requestTimeoutMs: 30_000,
    maxOutputBytes: 1000,
    userAgent: 'test',
    nowMs: clock.nowMs,
  });
  return { service, sentAtMs, requests };
}

function exchangeOf(word: string, clock: VirtualClock): Exchange {
  const [, stalled] = /^stalled (.+)$/.exec(word) ?? [];
  if (stalled) clock.stop(parseDuration(stalled) ?? 0);
  const failure = failures[stalled ? 'silence' : word];
  if (failure) return { kind: 'failure', failure };
  const [, state, seconds] = /^([A-Z_]+)(?: retry-after (\d+))?$/.exec(word) ?? [];
  if (state !== undefined) {
    const document = JSON.stringify({ executionId, status: state, output: 'done' });
    return responseOf(200, document, seconds && { 'retry-after': seconds });
  }
  const [, status, body = 'empty', wait] = /^(\d{3})(?:-([\w-]+))?(?: retry-after (.+))?$/.exec(word) ?? [];
  if (status === undefined) throw new Error(`the script says ${word}`);
  const text = bodies[body] ?? JSON.stringify({ code: body });
  const dated = /^date\+(\d+)$/.exec(wait ?? '');
  const date = new Date(clock.nowMs()).toUTCString();
  const until = dated && new Date(clock.nowMs() + Number(dated[1]) * 1000).toUTCString();
  const headers: Record<string, string> = wait === undefined ? { date } : { date, 'retry-after': until ?? wait };
  if (body === 'run') headers.location = statusPath(run);
  return responseOf(Number(status), text, headers, body === 'huge');
}

function responseOf(status: number, text: string, headers = {}, isTruncated = false): Exchange {
  return { kind: 'response', response: { status, headers, body: Buffer.from(text), isTruncated } };
}

function network(code: string, wasSent: boolean): ExchangeFailure {
  return { wasSent, kind: 'network', error: Object.assign(new Error(code), { code }) };
}

function proxy(status: number): ExchangeFailure {
  return {
    wasSent: false,
    kind: 'network',
    error: new Error(`Proxy response (${status}) !== 200 when HTTP Tunneling`),
  };
}
