import { createServer, type LookupFunction, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { ExchangeFailure, HttpRequest, HttpResponse } from '../../src/api/exchange.ts';
import { faultOf } from '../../src/api/network-fault.ts';
import { ProxyFailure } from '../../src/api/proxy.ts';
import { createTransport, type TransportOptions } from '../../src/api/transport.ts';
import {
  type FaultyServer,
  freePort,
  listen,
  startFaultyServer,
  startStalledServer,
  wireAnswer,
} from '../helpers/faulty-server.ts';
import { startProxy } from '../helpers/proxies.ts';
import { ampleLimitMs, shortLimitMs } from '../helpers/real-time.ts';

function openTransport(origin: string, options: Partial<TransportOptions> = {}) {
  const transport = createTransport({ origin, connections: 2, connectTimeoutMs: ampleLimitMs, ...options });
  const post = { method: 'POST', path: '/v0/x', headers: {}, body: '{}' } as const;
  const request: HttpRequest = { ...post, timeoutMs: ampleLimitMs, maxBytes: 1000 };
  return {
    transport,
    async send(changes: Partial<HttpRequest> = {}, signal = new AbortController().signal) {
      const startMs = performance.now();
      const body = changes.method === 'GET' ? undefined : request.body;
      const exchange = await transport.exchange({ ...request, body, ...changes }, signal);
      return { exchange, tookMs: performance.now() - startMs };
    },
  };
}

async function answered(origin: string, changes?: Partial<HttpRequest>): Promise<HttpResponse> {
  const { exchange } = await openTransport(origin).send(changes);
  if (exchange.kind === 'failure') throw exchange.failure.error ?? new Error(exchange.failure.reason);
  return exchange.response;
}

/** What "at once" is on this machine now: a second, and ten times what an exchange takes that is answered. */
async function measureAtOnce(): Promise<number> {
  const { origin } = await startFaultyServer((socket) => socket.write(wireAnswer('{}')));
  const { tookMs } = await openTransport(origin).send();
  return 1_000 + 10 * tookMs;
}

async function failed(origin: string, changes?: Partial<HttpRequest>, signal?: AbortSignal) {
  const atOnceMs = await measureAtOnce();
  const { exchange, tookMs } = await openTransport(origin).send(changes, signal);
  if (exchange.kind === 'response') throw new Error(`answered ${exchange.response.status}`);
  const { failure } = exchange;
  expect(tookMs).toBeLessThan(atOnceMs + (failure.reason === 'deadline' ? shortLimitMs : 0));
  return {
    failure,
    fault: faultOf(failure, { host: new URL(origin).host, timeoutMs: changes?.timeoutMs ?? ampleLimitMs }),
  };
}

const half = 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{"a"';

test('an answer in pieces is whole, or is cut at the largest size', async () => {
  const { origin } = await startFaultyServer(async (socket) => {
    for (const piece of ['HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\n', 'ab', 'cd', 'ef']) {
      await new Promise((resolve) => socket.write(piece, () => setTimeout(resolve, 5)));
    }
  });
  for (const [maxBytes, body, truncated] of [
    [6, 'abcdef', false],
    [5, 'abcde', true],
    [3, 'abc', true],
  ] as const) {
    const response = await answered(origin, { maxBytes });
    expect([response.body.toString(), response.truncated]).toEqual([body, truncated]);
  }
});

test('a name leads where the lookup says, and nowhere if it has no address', async () => {
  const { origin } = await startFaultyServer((socket) => socket.write(wireAnswer('{}')));
  const named = origin.replace(/\/\/[^:]+/, '//service.test');
  const lookupOf =
    (...addresses: string[]): LookupFunction =>
    (_, options, callback) => {
      const all = addresses.map((address) => ({ address, family: 4 }));
      if (options.all) callback(null, all);
      else callback(null, addresses[0] ?? '', 4);
    };
  const found = await openTransport(named, { lookup: lookupOf(new URL(origin).hostname) }).send();
  expect(found.exchange.kind).toBe('response');
  const { exchange } = await openTransport(named, { lookup: lookupOf() }).send();
  const error = expect.objectContaining({ code: 'ENOTFOUND', message: 'service.test has no address' });
  expect(exchange).toMatchObject({ kind: 'failure', failure: { sent: false, reason: 'network', error } });
});

describe('an exchange', () => {
  test.each<[string, (socket: Socket) => void, ExchangeFailure['reason'], number | undefined, RegExp]>([
    ['reset', (socket) => socket.resetAndDestroy(), 'network', undefined, /reset the connection before it responded/],
    ['closed', (socket) => socket.destroy(), 'network', undefined, /closed the connection before it responded/],
    ['half closed', (socket) => socket.end(), 'network', undefined, /closed the connection before it responded/],
    ['met with silence', () => {}, 'deadline', undefined, /didn't finish its response within 300ms/],
    ['met with half a head', (socket) => socket.write('HTTP/1.1 200 OK\r\nx'), 'deadline', undefined, /finish/],
    [
      'met with early hints without end',
      (socket) => drip(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n'),
      'deadline',
      undefined,
      /finish/,
    ],
    ['stopped in the body', (socket) => socket.write(half), 'deadline', 200, /finish/],
    [
      'dripped',
      (socket) => drip(socket, 'x', 'HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n'),
      'deadline',
      200,
      /finish/,
    ],
    [
      'cut in the body',
      (socket) => socket.end(half),
      'network',
      200,
      /closed the connection in the middle of a 200 response/,
    ],
    [
      'reset in the body',
      (socket) => socket.write(half, () => socket.resetAndDestroy()),
      'network',
      200,
      /(reset|closed) the connection in the middle/,
    ],
    [
      'cut in a chunk',
      (socket) => socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nff\r\nabc'),
      'network',
      200,
      /in the middle of a 200/,
    ],
    ['answered in another language', (socket) => socket.end('220 smtp ready\r\n'), 'network', undefined, /failed/],
    [
      'answered with a head too large',
      (socket) => socket.end(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`),
      'network',
      undefined,
      /failed/,
    ],
  ])('that is %s may have been acted on', async (_, act, reason, status, message) => {
    const { origin, received } = await startFaultyServer(act);
    const timeoutMs = reason === 'deadline' ? shortLimitMs : ampleLimitMs;
    const { failure, fault } = await failed(origin, { timeoutMs });
    expect(failure).toMatchObject({ sent: true, reason, status });
    expect(fault).toMatchObject({
      kind: 'lost',
      message: expect.stringMatching(message),
    });
    expect(received).toEqual([expect.stringMatching(/^POST \/v0\/x HTTP\/1\.1\r\n[\s\S]*\{\}$/)]);
  });

  test('with a port at which nothing listens was not sent', async () => {
    const { failure, fault } = await failed(`http://127.0.0.1:${await freePort()}`);
    expect(failure).toMatchObject({ sent: false, reason: 'network' });
    expect(fault).toMatchObject({ kind: 'unreachable' });
    expect(fault.message).toMatch(/^can't connect to 127\.0\.0\.1:\d+: connection refused$/);
  });

  test('with an unknown name was not sent', async () => {
    const { failure, fault } = await failed('http://no-such-host.invalid', { timeoutMs: shortLimitMs });
    expect(failure.sent).toBe(false);
    expect(fault).toMatchObject({ kind: 'unreachable' });
    // Without a network the look-up fails for now, or not in time.
    expect(fault.message).toMatch(/(can't resolve no-such-host\.invalid|within)/);
  });

  test.each(['GET', 'POST'] as const)('of a %s with a name that has no address at all was not sent', async (method) => {
    const lookup: LookupFunction = (_hostname, _options, found) => void setImmediate(found, null, []);
    const { exchange } = await openTransport('http://empty.test', { lookup }).send({ method });
    if (exchange.kind === 'response') throw new Error('answered');
    expect(exchange.failure).toMatchObject({ sent: false, reason: 'network' });
    expect(faultOf(exchange.failure, { host: 'empty.test', timeoutMs: ampleLimitMs })).toMatchObject({
      kind: 'unreachable',
      message: "can't resolve empty.test",
    });
  });

  const oddLookups: [string, (found: (...answer: never[]) => void) => void][] = [
    ['that is no list', (found) => setImmediate(found, ...([null, undefined, undefined] as never[]))],
    ['of none', (found) => setImmediate(found, ...([null, null, 4] as never[]))],
    ['of an empty text', (found) => setImmediate(found, ...([null, '', 4] as never[]))],
    ['of what is no address', (found) => setImmediate(found, ...([null, [{ address: 'x', family: 4 }]] as never[]))],
    ['of a list of nothing', (found) => setImmediate(found, ...([null, [undefined]] as never[]))],
    ['of an address without a family', (found) => setImmediate(found, ...([null, [{}]] as never[]))],
    [
      'of a look-up that throws',
      () => {
        throw new Error('out of memory');
      },
    ],
  ];

  test.each(oddLookups)('with an answer of the resolver %s was not sent, and ends no process', async (_, answer) => {
    const lookup: LookupFunction = (_hostname, _options, found) => answer(found as never);
    const { exchange } = await openTransport('http://odd.test', { lookup }).send({ method: 'GET' });
    expect(exchange).toMatchObject({ kind: 'failure', failure: { sent: false, reason: 'network' } });
  });

  test.each(['GET', 'POST'] as const)(
    'of a %s whose answer lies in the socket when the limit strikes has it',
    async (method) => {
      const { origin } = await startFaultyServer((socket) => {
        socket.write(wireAnswer('{"a":1}'));
        // As if the process were stopped: when it goes on, its timers run before its sockets are read.
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, shortLimitMs);
      });
      const { exchange } = await openTransport(origin).send({ method, timeoutMs: shortLimitMs });
      expect(exchange).toMatchObject({ kind: 'response', response: { status: 200 } });
    },
  );

  test("that can't be written (a line break in a header) is refused and was not sent", async () => {
    const { origin, received } = await startFaultyServer(() => {});
    const { failure, fault } = await failed(origin, { headers: { 'idempotency-key': 'a\r\nb' } });
    expect(failure).toMatchObject({ sent: false, reason: 'network' });
    expect(fault).toMatchObject({ kind: 'unsendable' });
    expect(fault.message).toBe("the request can't be sent (invalid idempotency-key header)");
    expect(received.join('')).toBe('');
  });

  test('in plain http that is answered by a TLS alert was not understood', async () => {
    const alert = Buffer.from([0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x46]);
    const { origin } = await startFaultyServer((socket) => socket.end(alert));
    const { fault } = await failed(origin);
    expect(fault).toMatchObject({ kind: 'untrusted' });
    expect(fault.message).toMatch(/speaks TLS, not plain http$/);
    expect(fault.hint).toContain('https://');
  });

  test('is answered after informational heads', async () => {
    const { origin } = await startFaultyServer((socket) => {
      socket.write('HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: <x>\r\n\r\n');
      socket.end(wireAnswer('{"a":1}', 'HTTP/1.1 201 Created\r\nX-Twice: a\r\nx-twice: b'));
    });
    const response = await answered(origin);
    expect(response).toMatchObject({ status: 201, headers: { 'x-twice': ['a', 'b'] }, truncated: false });
    expect(response.headers.link).toBeUndefined();
    expect(response.body.toString()).toBe('{"a":1}');
  });

  test('is not answered by a 100 that nobody asked for, and the message says so', async () => {
    const { origin } = await startFaultyServer((socket) => {
      socket.end(`HTTP/1.1 100 Continue\r\n\r\n${wireAnswer('{}')}`);
    });
    const { fault } = await failed(origin);
    expect(fault).toMatchObject({ kind: 'lost', message: expect.stringContaining('100 Continue') });
  });

  test('may be answered by a body that ends with the connection', async () => {
    const { origin } = await startFaultyServer((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\nabc'));
    expect((await answered(origin)).body.toString()).toBe('abc');
  });

  test('may be answered before its request was read', async () => {
    const { origin } = await startFaultyServer((socket) => socket.end(wireAnswer('no', 'HTTP/1.1 413 Too Large')));
    expect((await answered(origin)).status).toBe(413);
  });

  test.each([
    ['of the length allowed is read whole', 1000, false],
    ['that is longer by a byte is cut', 1001, true],
    ['that is far longer is cut', 5_000_000, true],
  ])('with a body %s', async (_, length, truncated) => {
    const { origin } = await startFaultyServer((socket) => socket.write(wireAnswer('x'.repeat(length))));
    const response = await answered(origin, { method: 'GET' });
    expect(response.truncated).toBe(truncated);
    expect(response.body).toHaveLength(1000);
  });

  test('with a body without end is cut at the bound', async () => {
    const { origin } = await startFaultyServer((socket) => drip(socket, 'x'.repeat(400), 'HTTP/1.1 200 OK\r\n\r\n'));
    expect(await answered(origin)).toMatchObject({ status: 200, truncated: true });
  });
});

describe('an interrupt', () => {
  /** A server and a signal that aborts a moment after the server has read the request. */
  async function startInterrupting(act: (socket: Socket) => void) {
    const controller = new AbortController();
    const server = await startFaultyServer((socket) => {
      act(socket);
      setTimeout(() => controller.abort('SIGINT'), 50);
    });
    return { origin: server.origin, signal: controller.signal };
  }

  test('before anything is done sends nothing', async () => {
    const { origin, received } = await startFaultyServer(() => {});
    const { failure, fault } = await failed(origin, {}, AbortSignal.abort());
    expect(failure).toMatchObject({ sent: false, reason: 'interrupted' });
    expect(fault).toMatchObject({ kind: 'interrupted' });
    expect(received).toEqual([]);
  });

  test.each(['GET', 'POST'] as const)(
    'while a %s waits for its answer is in time and leaves it in doubt',
    async (method) => {
      const { origin, signal } = await startInterrupting(() => {});
      const { failure, fault } = await failed(origin, { method }, signal);
      expect(failure).toMatchObject({ sent: true, reason: 'interrupted' });
      expect(fault).toMatchObject({ kind: 'interrupted_in_flight' });
    },
  );

  test('while the body comes is in time', async () => {
    const { origin, signal } = await startInterrupting((socket) => socket.write(half));
    const { failure } = await failed(origin, {}, signal);
    expect(failure).toMatchObject({ sent: true, reason: 'interrupted', status: 200 });
  });
});

describe.skipIf(process.platform !== 'linux')('a service that accepts no connection', () => {
  test('is given up in time, and never sent what nobody waits for any more', async () => {
    const atOnceMs = await measureAtOnce();
    const server = await startStalledServer();
    const origin = `http://127.0.0.1:${server.port}`;
    const interrupt = new AbortController();
    setTimeout(() => interrupt.abort(), 50);
    const shared = openTransport(origin, { connectTimeoutMs: 30_000 });
    const timeoutMs = shortLimitMs;
    const attempts = await Promise.all([
      shared.send({ timeoutMs }),
      shared.send({ timeoutMs }, interrupt.signal),
      shared.send({ method: 'GET', timeoutMs }),
      shared.send({ method: 'GET', timeoutMs }, interrupt.signal),
    ]);
    for (const { exchange, tookMs } of attempts) {
      expect(exchange).toMatchObject({ kind: 'failure', failure: { sent: false } });
      expect(tookMs).toBeLessThan(timeoutMs + atOnceMs);
    }
    const reasons = attempts.map(({ exchange }) => exchange.kind === 'failure' && exchange.failure.reason);
    expect(reasons).toEqual(['deadline', 'interrupted', 'deadline', 'interrupted']);

    server.resume();
    // The kernel sends its SYN again after a second: only then would an attempt come through. A last GET proves it.
    const { exchange } = await shared.send({ method: 'GET', path: '/last' });
    expect(exchange).toMatchObject({ kind: 'response' });
    // Whatever else was to come, comes with it.
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(server.received()).toMatch(/^GET \/last /);
    expect(server.received()).not.toContain('/v0/x');
  });
});

describe('connections', () => {
  const answer = (socket: Socket) => void socket.write(wireAnswer('{}'));
  const requestsOn = ({ received }: FaultyServer) => received.map((text) => text.match(/(GET|POST) /g)?.length);

  test('are kept for polls, but a POST has one of its own', async () => {
    const server = await startFaultyServer(answer);
    const { send } = openTransport(server.origin);
    for (const method of ['GET', 'GET', 'POST', 'GET', 'POST'] as const) {
      await send({ method });
      // undici takes a connection for free a moment after its answer.
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(requestsOn(server)).toEqual([3, 1, 1]);
  });

  test('of a POST are closed after it', async () => {
    let closed = false;
    const server = await startFaultyServer((socket) => {
      socket.on('close', () => {
        closed = true;
      });
      answer(socket);
    });
    await openTransport(server.origin).send();
    await expect.poll(() => closed).toBe(true);
  });

  test('that the service closed are not used again', async () => {
    const server = await startFaultyServer((socket) => socket.end(wireAnswer('{}')));
    const { send } = openTransport(server.origin);
    for (let n = 0; n < 3; n++) expect((await send({ method: 'GET' })).exchange.kind).toBe('response');
    expect(requestsOn(server)).toEqual([1, 1, 1]);
  });

  test.each<[string, string, number[]]>([
    ['a 503', wireAnswer('{}', 'HTTP/1.1 503 Busy'), [1, 2, 1]],
    ['a page', wireAnswer('<p>', 'HTTP/1.1 200 OK\r\ncontent-type: text/html'), [1, 2, 1]],
    ['a refusal', wireAnswer('{}', 'HTTP/1.1 401 No'), [4]],
  ])('after %s are replaced by new ones, once in a quarter of a minute', async (_, answer, requests) => {
    let nowMs = 0;
    const server = await startFaultyServer((socket) => socket.write(answer));
    const { send } = openTransport(server.origin, { elapsedMs: () => nowMs, connections: 1 });
    for (const atMs of [0, 1, 15_000, 15_001]) {
      nowMs = atMs;
      await send({ method: 'GET' });
      // undici takes a connection for free a moment after its answer.
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(requestsOn(server)).toEqual(requests);
  });

  test('after silence are new, also where others of them are idle', async () => {
    const server = await startFaultyServer((socket, text) => {
      if (!text.includes('/silent')) socket.write(wireAnswer('{}'));
    });
    const { send } = openTransport(server.origin);
    const silent = send({ method: 'GET', path: '/silent', timeoutMs: shortLimitMs });
    await send({ method: 'GET' });
    await silent;
    await send({ method: 'GET' });
    // undici connects anew by itself where a request was given up.
    expect(requestsOn(server).filter(Boolean)).toEqual([1, 1, 1]);
  });

  test('are no more than allowed, and a waiting poll that has ended is not sent', async () => {
    const server = await startFaultyServer(() => {});
    const { send } = openTransport(server.origin);
    const stop = new AbortController();
    const first = ['/1', '/2'].map((path) => send({ method: 'GET', path }, stop.signal));
    await vi.waitUntil(() => server.received.filter((text) => text !== '').length === 2, { timeout: ampleLimitMs });
    // Over before the first two make room.
    const late = await Promise.all(['/3', '/4'].map((path) => send({ method: 'GET', path, timeoutMs: shortLimitMs })));
    stop.abort();
    const sent = [...(await Promise.all(first)), ...late].map(
      ({ exchange }) => exchange.kind === 'failure' && exchange.failure.sent,
    );
    expect(sent).toEqual([true, true, false, false]);
    expect(server.received).toHaveLength(2);
  });
});

test('nothing is connected for an exchange that was interrupted before', async () => {
  const { origin, received } = await startFaultyServer((socket) => socket.write(wireAnswer('{}')));
  const transport = createTransport({ origin, connections: 2, connectTimeoutMs: ampleLimitMs });
  const request = { method: 'GET', path: '/', headers: {}, timeoutMs: ampleLimitMs, maxBytes: 100 } as const;
  const interrupted = await transport.exchange(request, AbortSignal.abort());
  expect(interrupted).toEqual({ kind: 'failure', failure: { sent: false, reason: 'interrupted' } });
  const answered = await transport.exchange(request, new AbortController().signal);
  expect([answered.kind, received.length]).toEqual(['response', 1]);
});

test('undici that cannot be loaded is a failure in which nothing was sent, and is loaded for a later request', async () => {
  let isGone = true;
  vi.doMock('undici', (original) => {
    if (isGone) throw new Error('it is gone');
    return original();
  });
  vi.resetModules();
  onTestFinished(() => {
    vi.doUnmock('undici');
    vi.resetModules();
  });
  const { createTransport } = await import('../../src/api/transport.ts');
  const { origin, received } = await startFaultyServer((socket) => socket.write(wireAnswer('{}')));
  const transport = createTransport({ origin, connections: 2, connectTimeoutMs: ampleLimitMs });
  const request = { path: '/', headers: {}, timeoutMs: ampleLimitMs, maxBytes: 100 } as const;
  for (const method of ['POST', 'GET'] as const) {
    const { signal } = new AbortController();
    expect(await transport.exchange({ ...request, method }, signal)).toMatchObject({ failure: { sent: false } });
  }
  expect(received.join('')).toBe('');
  isGone = false;
  for (const method of ['POST', 'GET'] as const) {
    const { signal } = new AbortController();
    expect(await transport.exchange({ ...request, method }, signal)).toMatchObject({ kind: 'response' });
  }
});

describe('through a proxy', () => {
  const through = (origin: string, credentials?: string) => ({ origin, credentials, variable: 'https_proxy' });
  const startService = () => startFaultyServer((socket) => socket.write(wireAnswer('{}')));

  test.each<[string, string | undefined, string | undefined]>([
    ['no credentials', undefined, undefined],
    ['a user and a password', 'user:p@ss word', 'Basic dXNlcjpwQHNzIHdvcmQ='],
    ['a user alone', 'user:', 'Basic dXNlcjo='],
  ])('a request goes by a tunnel that is opened with %s, and the service does not see that', async (_, given, sent) => {
    const { origin, port, received } = await startService();
    const { url, requests } = await startProxy();
    const { exchange } = await openTransport(origin, { proxy: through(url, given) }).send();
    expect(exchange).toMatchObject({ kind: 'response', response: { status: 200 } });
    expect(requests.map(({ line }) => line)).toEqual([`CONNECT 127.0.0.1:${port}`]);
    expect(requests[0]?.headers['proxy-authorization']).toBe(sent);
    expect(received).toEqual([expect.stringMatching(/^POST \/v0\/x /)]);
    expect(received.join('')).not.toMatch(/proxy|Basic/i);
  });

  test('polls share their tunnels, no more than allowed, and a POST has one of its own', async () => {
    const service = await startService();
    const { url, requests } = await startProxy();
    const { send } = openTransport(service.origin, { proxy: through(url), connections: 1 });
    await Promise.all(['/1', '/2', '/3'].map((path) => send({ method: 'GET', path })));
    expect(requests).toHaveLength(1);
    await send();
    expect(requests).toHaveLength(2);
  });

  test('the name of the proxy leads where the lookup says, and that of the service is left to the proxy', async () => {
    const { port } = await startService();
    const proxy = await startProxy();
    const asked: string[] = [];
    const lookup: LookupFunction = (hostname, _options, found) => {
      asked.push(hostname);
      found(null, [{ address: '127.0.0.1', family: 4 }]);
    };
    const named = through(`http://proxy.test:${proxy.port}`);
    const { exchange } = await openTransport(`http://service.test:${port}`, { proxy: named, lookup }).send();
    expect(exchange.kind).toBe('response');
    expect([asked, proxy.requests[0]?.line]).toEqual([['proxy.test'], `CONNECT service.test:${port}`]);
  });

  test('a proxy that hangs is given up after the time to connect, and its connection is closed', async () => {
    const { origin, received } = await startService();
    let isClosed = false;
    const silent = createServer((socket) => {
      socket.resume().on('error', () => {});
      socket.on('close', () => {
        isClosed = true;
      });
    });
    const proxy = through(`http://127.0.0.1:${await listen(silent)}`);
    const { exchange } = await openTransport(origin, { proxy, connectTimeoutMs: 50 }).send({ method: 'GET' });
    const cause = expect.objectContaining({ code: 'UND_ERR_HEADERS_TIMEOUT' });
    expect(exchange).toMatchObject({ kind: 'failure', failure: { sent: false, error: { code: 'PROXY', cause } } });
    await expect.poll(() => isClosed).toBe(true);
    expect(received).toEqual([]);
  });

  test('a proxy that closes the connection is named as what failed', async () => {
    const { origin, received } = await startService();
    const { origin: address } = await startFaultyServer((socket) => socket.destroy());
    const { exchange } = await openTransport(origin, { proxy: through(address) }).send();
    const error = expect.any(ProxyFailure);
    expect(exchange).toMatchObject({ kind: 'failure', failure: { sent: false, reason: 'network', error } });
    expect(received).toEqual([]);
  });

  test('a header that only the proxy may see is refused at once, and nothing is sent', async () => {
    const { origin, received } = await startService();
    const { url, requests } = await startProxy();
    const headers = { 'proxy-authorization': 'Basic dTpw' };
    const { exchange } = await openTransport(origin, { proxy: through(url) }).send({
      headers,
      timeoutMs: shortLimitMs,
    });
    const error = expect.objectContaining({ message: expect.stringContaining('Proxy-Authorization') });
    expect(exchange).toMatchObject({ kind: 'failure', failure: { sent: false, reason: 'network', error } });
    expect([received, requests]).toEqual([[], []]);
  });

  test('a proxy that refuses is given nothing of the request', async () => {
    const { origin, received } = await startService();
    const { url } = await startProxy({ refuse: 403 });
    const { exchange } = await openTransport(origin, { proxy: through(url) }).send();
    const error = expect.objectContaining({ message: expect.stringContaining('403') });
    expect(exchange).toMatchObject({ kind: 'failure', failure: { sent: false, reason: 'network', error } });
    expect(received).toEqual([]);
  });
});

/** The same bytes again and again. */
function drip(socket: Socket, text: string, first = ''): void {
  socket.write(first);
  const timer = setInterval(() => socket.write(text), 20);
  socket.on('close', () => clearInterval(timer));
}
