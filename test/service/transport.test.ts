import { createServer as createHttpServer } from 'node:http';
import { createServer, type LookupFunction, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { FaultKind } from '../../src/run/fault.ts';
import type { Exchange, ExchangeFailure, HttpRequest } from '../../src/service/exchange.ts';
import { networkFaultOf } from '../../src/service/network-fault.ts';
import { createTransport, type TransportOptions } from '../../src/service/transport.ts';
import {
  type FaultyServer,
  listen,
  startFaultyServer,
  startStalledServer,
  wireAnswer,
} from '../helpers/faulty-server.ts';
import { startProxy, startSocksProxy } from '../helpers/proxies.ts';
import { ampleLimitMs, shortLimitMs } from '../helpers/real-time.ts';

const methods = ['GET', 'POST'] as const;
const ok = wireAnswer('{}');
const answer = (socket: Socket) => void socket.write(ok);
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Sends requests through one transport: a POST unless it is said otherwise, with time enough and room for 1,000 bytes. */
function openTransport(origin: string, options: Partial<TransportOptions> = {}) {
  const transport = createTransport({ origin, connections: 2, connectTimeoutMs: ampleLimitMs, ...options });
  return (changes: Partial<HttpRequest> = {}, signal = new AbortController().signal): Promise<Exchange> => {
    const request = { method: 'POST', path: '/v0/x', headers: {}, timeoutMs: ampleLimitMs, maxBytes: 1000 } as const;
    const body = changes.method === 'GET' ? undefined : '{}';
    return transport.exchange({ ...request, body, ...changes }, signal);
  };
}

/** What becomes of one request to a server that does this with it. */
async function exchangeWith(act: (socket: Socket) => void, changes?: Partial<HttpRequest>, signal?: AbortSignal) {
  const { origin, received } = await startFaultyServer(act);
  return { exchange: await openTransport(origin)(changes, signal), received };
}

function failureOf(exchange: Exchange): ExchangeFailure & { fault: FaultKind; says: string; hint?: string } {
  if (exchange.kind === 'response') throw new Error(`answered ${exchange.response.status}`);
  const { failure } = exchange;
  const { kind, message, hint } = networkFaultOf(failure, { host: 'its host', timeoutMs: shortLimitMs });
  return { ...failure, fault: kind, says: message, hint };
}

function responseOf(exchange: Exchange) {
  if (exchange.kind === 'failure') throw exchange.failure.error ?? new Error(exchange.failure.kind);
  return { ...exchange.response, body: exchange.response.body.toString() };
}

/** The same bytes again and again. */
function drip(socket: Socket, text: string, first = ''): void {
  socket.write(first);
  const timer = setInterval(() => socket.write(text), 20);
  socket.on('close', () => clearInterval(timer));
}

const half = 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{"a"';
const halfChunk = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nff\r\nabc';
/** Response headers of so many bytes. */
const headOf = (bytes: number) => `HTTP/1.1 200 OK\r\n${`x: ${'y'.repeat(996)}\r\n`.repeat(bytes / 1000)}`;
const hugeHead = `${headOf(270_000)}\r\n`;

describe('a request that is sent may have been acted on', () => {
  type Row = [how: string, (socket: Socket) => void, status?: number, says?: string];

  const failing: Row[] = [
    ['reset', (socket) => socket.resetAndDestroy(), undefined, 'reset the connection before'],
    ['closed', (socket) => socket.destroy(), undefined, 'closed the connection before'],
    ['half closed', (socket) => socket.end(), undefined, 'closed the connection before'],
    ['cut in the body', (socket) => socket.end(half), 200, 'a 200 response'],
    ['reset in the body', (socket) => socket.write(half, () => socket.resetAndDestroy()), 200, 'a 200 response'],
    ['cut in a chunk', (socket) => socket.end(halfChunk), 200, 'a 200 response'],
    ['answered in another language', (socket) => socket.end('220 smtp ready\r\n'), undefined, "isn't HTTP"],
    ['answered with a huge head', (socket) => socket.end(hugeHead), undefined, '256 KB'],
    ['answered with a 100', (socket) => socket.end(`HTTP/1.1 100 Go on\r\n\r\n${ok}`), undefined, '100 Continue'],
  ];
  const endless: Row[] = [
    ['met with silence', () => {}],
    ['met with half a head', (socket) => socket.write('HTTP/1.1 200 OK\r\nx')],
    ['met with early hints without end', (socket) => drip(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n')],
    ['stopped in the body', (socket) => socket.write(half), 200],
    ['answered in drops', (socket) => drip(socket, 'x', 'HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n'), 200],
  ];

  test.each<[ExchangeFailure['kind'], ...Row]>([
    ...failing.map((row): ['network', ...Row] => ['network', ...row]),
    ...endless.map((row): ['deadline', ...Row] => ['deadline', ...row]),
  ])('%s: %s', async (reason, _, act, status, says = '') => {
    const timeoutMs = reason === 'deadline' ? shortLimitMs : ampleLimitMs;
    const { exchange, received } = await exchangeWith(act, { timeoutMs });
    expect(failureOf(exchange)).toMatchObject({ wasSent: true, kind: reason, status, fault: 'lost' });
    expect(failureOf(exchange).says).toContain(says);
    expect(received).toEqual([expect.stringMatching(/^POST \/v0\/x HTTP\/1\.1\r\n[\s\S]*\{\}$/)]);
  });

  test('but not by a server that responds to plain HTTP with a TLS alert', async () => {
    const alert = Buffer.from([0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x46]);
    const { exchange } = await exchangeWith((socket) => socket.end(alert));
    expect(failureOf(exchange)).toMatchObject({
      fault: 'tls_handshake_failed',
      hint: expect.stringContaining('https://'),
    });
  });
});

describe('a request is not sent', () => {
  test("if HTTP can't carry it, as with a line break in a header", async () => {
    const { exchange, received } = await exchangeWith(() => {}, { headers: { 'idempotency-key': 'a\r\nb' } });
    expect(failureOf(exchange)).toMatchObject({ wasSent: false, kind: 'network', fault: 'unsendable' });
    expect(failureOf(exchange).says).toContain('idempotency-key');
    expect(received.join('')).toBe('');
  });

  test('if it was interrupted before, and nothing is connected for it', async () => {
    const { origin, received } = await startFaultyServer(answer);
    const send = openTransport(origin);
    for (const method of methods) {
      expect(failureOf(await send({ method }, AbortSignal.abort()))).toMatchObject({
        wasSent: false,
        fault: 'interrupted',
      });
    }
    expect(received).toEqual([]);
    expect(responseOf(await send({ method: 'GET' })).status).toBe(200);
  });

  test('if undici can not be loaded, which the next request tries again', async () => {
    let isGone = true;
    vi.doMock('../../src/service/undici.ts', (original) => {
      if (isGone) throw new Error('it is gone');
      return original();
    });
    vi.resetModules();
    onTestFinished(() => {
      vi.doUnmock('../../src/service/undici.ts');
      vi.resetModules();
    });
    const { createTransport } = await import('../../src/service/transport.ts');
    const { origin, received } = await startFaultyServer(answer);
    const transport = createTransport({ origin, connections: 2, connectTimeoutMs: ampleLimitMs });
    const send = (method: 'GET' | 'POST') => {
      const request = { method, path: '/', headers: {}, timeoutMs: ampleLimitMs, maxBytes: 100 };
      return transport.exchange(request, new AbortController().signal);
    };
    for (const method of methods) expect(await send(method)).toMatchObject({ failure: { wasSent: false } });
    expect(received.join('')).toBe('');
    isGone = false;
    for (const method of methods) expect(await send(method)).toMatchObject({ kind: 'response' });
  });
});

describe('a look-up', () => {
  type Found = (...answer: unknown[]) => void;
  const lookupOf =
    (act: (found: Found) => void): LookupFunction =>
    (_name, _options, found) =>
      act(found as Found);
  const answering = (...found: unknown[]) => lookupOf((take) => setImmediate(take, ...found));

  test('decides where a request is sent', async () => {
    const { port } = await startFaultyServer(answer);
    const lookup = answering(null, [{ address: '127.0.0.1', family: 4 }]);
    expect(responseOf(await openTransport(`http://service.test:${port}`, { lookup })()).status).toBe(200);
  });

  test.each(methods)('that finds no address is an error of the name: %s', async (method) => {
    const exchange = await openTransport('http://empty.test', { lookup: answering(null, []) })({ method });
    expect(failureOf(exchange)).toMatchObject({ wasSent: false, kind: 'network', fault: 'unreachable' });
    expect(failureOf(exchange).error).toMatchObject({ code: 'ENOTFOUND', message: 'empty.test has no address' });
  });

  test.each<[string, LookupFunction]>([
    ['that is no list', answering(null, undefined, undefined)],
    ['of none', answering(null, null, 4)],
    ['of an empty text', answering(null, '', 4)],
    ['of what is no address', answering(null, [{ address: 'x', family: 4 }])],
    ['of a list of nothing', answering(null, [undefined])],
    ['of an address without a family', answering(null, [{}])],
    [
      'of a resolver that throws',
      lookupOf(() => {
        throw new Error('out of memory');
      }),
    ],
  ])('with an answer %s makes the request fail without ending the process', async (_, lookup) => {
    const exchange = await openTransport('http://odd.test', { lookup })({ method: 'GET' });
    expect(failureOf(exchange)).toMatchObject({ wasSent: false, kind: 'network' });
  });
});

describe('a response', () => {
  test('may come after informational responses, with a header twice', async () => {
    const { exchange } = await exchangeWith((socket) => {
      socket.write('HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: <x>\r\n\r\n');
      socket.end(wireAnswer('{"a":1}', 'HTTP/1.1 201 Created\r\nX-Twice: a\r\nx-twice: b'));
    });
    const { headers, ...response } = responseOf(exchange);
    expect(response).toEqual({ status: 201, body: '{"a":1}', isTruncated: false });
    expect([headers['x-twice'], headers.link]).toEqual([['a', 'b'], undefined]);
  });

  test('may have headers of 250 KB', async () => {
    const { exchange } = await exchangeWith((socket) => socket.end(`${headOf(250_000)}content-length: 2\r\n\r\n{}`));
    expect(responseOf(exchange)).toMatchObject({ status: 200, body: '{}' });
  });

  test('may end with the connection, and come before the request was read', async () => {
    const { exchange } = await exchangeWith((socket) => socket.end('HTTP/1.1 413 Too Large\r\n\r\nabc'));
    expect(responseOf(exchange)).toMatchObject({ status: 413, body: 'abc' });
  });

  test.each([
    [6, 'abcdef', false],
    [5, 'abcde', true],
    [3, 'abc', true],
  ])('is put together from pieces, or cut at %i bytes', async (maxBytes, body, isTruncated) => {
    const { exchange } = await exchangeWith(
      async (socket) => {
        for (const piece of ['HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\n', 'ab', 'cd', 'ef']) {
          await new Promise((resolve) => socket.write(piece, () => setTimeout(resolve, 5)));
        }
      },
      { maxBytes },
    );
    expect(responseOf(exchange)).toMatchObject({ body, isTruncated });
  });

  test.each<[string, (socket: Socket) => void]>([
    ['far longer', (socket) => void socket.write(wireAnswer('x'.repeat(5_000_000)))],
    ['without an end', (socket) => drip(socket, 'x'.repeat(400), 'HTTP/1.1 200 OK\r\n\r\n')],
  ])('is cut if it is %s than allowed', async (_, act) => {
    const { exchange } = await exchangeWith(act, { method: 'GET' });
    expect(responseOf(exchange)).toMatchObject({ body: 'x'.repeat(1000), isTruncated: true });
  });

  test.each(methods)('to a %s that lies in the socket when the limit strikes is taken', async (method) => {
    const lateAnswer = (socket: Socket) => {
      answer(socket);
      // As if the process were stopped: when it goes on, its timers run before its sockets are read.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, shortLimitMs);
    };
    const { exchange } = await exchangeWith(lateAnswer, { method, timeoutMs: shortLimitMs });
    expect(responseOf(exchange).status).toBe(200);
  });
});

test.each([
  ['waits for its answer', 'POST', '', undefined],
  ['waits for its answer', 'GET', '', undefined],
  ['reads its answer', 'POST', half, 200],
] as const)('an interrupt while a request %s leaves it in doubt: %s', async (_, method, sent, status) => {
  const abort = new AbortController();
  const interrupting = (socket: Socket) => {
    if (sent) socket.write(sent);
    setTimeout(() => abort.abort('SIGINT'), 50);
  };
  const { exchange } = await exchangeWith(interrupting, { method }, abort.signal);
  expect(failureOf(exchange)).toMatchObject({
    wasSent: true,
    kind: 'interrupted',
    status,
    fault: 'interrupted_in_flight',
  });
});

test.skipIf(process.platform !== 'linux')(
  'a service that accepts no connection is given up in time, and never sent what nobody waits for any more',
  async () => {
    const server = await startStalledServer();
    const interrupt = new AbortController();
    setTimeout(() => interrupt.abort(), 50);
    const send = openTransport(`http://127.0.0.1:${server.port}`, { connectTimeoutMs: 30_000 });
    const timeoutMs = shortLimitMs;
    const attempts = await Promise.all(
      methods.flatMap((method) => [send({ method, timeoutMs }), send({ method, timeoutMs }, interrupt.signal)]),
    );
    expect(attempts.map(failureOf)).toMatchObject(
      ['deadline', 'interrupted', 'deadline', 'interrupted'].map((reason) => ({ wasSent: false, kind: reason })),
    );

    server.resume();
    // The kernel sends its SYN again after a second: only then would an attempt come through. A last GET proves it.
    expect(responseOf(await send({ method: 'GET', path: '/last' })).status).toBe(204);
    // Whatever else was to come, comes with it.
    await pause(100);
    expect(server.received()).toMatch(/^GET \/last /);
    expect(server.received()).not.toContain('/v0/x');
  },
);

describe('connections', () => {
  const requestsOn = ({ received }: FaultyServer) => received.map((text) => text.match(/(GET|POST) /g)?.length);
  // undici takes a connection for free a moment after its answer.
  const whenFree = () => pause(20);

  test('are kept for polls, but a POST has one of its own, which is closed after it', async () => {
    let closed = 0;
    const server = await startFaultyServer((socket, text) => {
      if (text.startsWith('POST')) socket.on('close', () => (closed += 1));
      answer(socket);
    });
    const send = openTransport(server.origin);
    for (const method of ['GET', 'GET', 'POST', 'GET', 'POST'] as const) {
      await send({ method });
      await whenFree();
    }
    expect(requestsOn(server)).toEqual([3, 1, 1]);
    await expect.poll(() => closed).toBe(2);
  });

  test.each<[string, (socket: Socket) => void]>([
    ['was given up', () => {}],
    ['has a body that is too large', (socket) => drip(socket, 'x'.repeat(400), 'HTTP/1.1 200 OK\r\n\r\n')],
  ])('are closed after a request that %s', async (_, act) => {
    let isClosed = false;
    const closing = (socket: Socket) => {
      socket.on('close', () => {
        isClosed = true;
      });
      act(socket);
    };
    await exchangeWith(closing, { method: 'GET', timeoutMs: shortLimitMs });
    await expect.poll(() => isClosed).toBe(true);
  });

  test('are not used again after the service closed them', async () => {
    const server = await startFaultyServer((socket) => socket.end(ok));
    const send = openTransport(server.origin);
    for (let n = 0; n < 3; n++) expect(responseOf(await send({ method: 'GET' })).status).toBe(200);
    expect(requestsOn(server)).toEqual([1, 1, 1]);
  });

  test.each<[string, string, number[]]>([
    ['a 503', wireAnswer('{}', 'HTTP/1.1 503 Busy'), [1, 2, 1]],
    ['a page', wireAnswer('<p>', 'HTTP/1.1 200 OK\r\ncontent-type: text/html'), [1, 2, 1]],
    ['a refusal', wireAnswer('{}', 'HTTP/1.1 401 No'), [4]],
  ])('after %s are replaced by new ones, once in a quarter of a minute', async (_, text, requests) => {
    let nowMs = 0;
    const server = await startFaultyServer((socket) => socket.write(text));
    const send = openTransport(server.origin, { elapsedMs: () => nowMs, connections: 1 });
    for (const atMs of [0, 1, 15_000, 15_001]) {
      nowMs = atMs;
      await send({ method: 'GET' });
      await whenFree();
    }
    expect(requestsOn(server)).toEqual(requests);
  });

  test('are new after silence, even if others of them are idle', async () => {
    const server = await startFaultyServer((socket, text) => {
      if (!text.includes('/silent')) answer(socket);
    });
    const send = openTransport(server.origin);
    const silent = send({ method: 'GET', path: '/silent', timeoutMs: shortLimitMs });
    await send({ method: 'GET' });
    await silent;
    await send({ method: 'GET' });
    // undici connects anew by itself after a request was given up.
    expect(requestsOn(server).filter(Boolean)).toEqual([1, 1, 1]);
  });

  test('are never more than allowed, and a poll that ended while it waited is not sent', async () => {
    const server = await startFaultyServer(() => {});
    const send = openTransport(server.origin);
    const stop = new AbortController();
    const first = ['/1', '/2'].map((path) => send({ method: 'GET', path }, stop.signal));
    await vi.waitUntil(() => server.received.filter(Boolean).length === 2, { timeout: ampleLimitMs });
    // Over before the first two make room.
    const late = await Promise.all(['/3', '/4'].map((path) => send({ method: 'GET', path, timeoutMs: shortLimitMs })));
    stop.abort();
    const all = [...(await Promise.all(first)), ...late];
    expect(all.map((exchange) => failureOf(exchange).wasSent)).toEqual([true, true, false, false]);
    expect(server.received).toHaveLength(2);
  });
});

describe('a transport through a proxy', () => {
  const through = (origin: string, credentials?: string) => ({ origin, credentials, variable: 'https_proxy' });

  test.each<[string, string | undefined, string | undefined]>([
    ['no credentials', undefined, undefined],
    ['a user and a password', 'user:p@ss word', 'Basic dXNlcjpwQHNzIHdvcmQ='],
    ['a user alone', 'user:', 'Basic dXNlcjo='],
  ])('sends a request by a tunnel that is opened with %s, which the service does not see', async (_, given, sent) => {
    const { origin, port, received } = await startFaultyServer(answer);
    const { url, requests } = await startProxy();
    expect(responseOf(await openTransport(origin, { proxy: through(url, given) })()).status).toBe(200);
    expect(requests.map(({ line }) => line)).toEqual([`CONNECT 127.0.0.1:${port}`]);
    expect(requests[0]?.headers['proxy-authorization']).toBe(sent);
    expect(received).toEqual([expect.stringMatching(/^POST \/v0\/x /)]);
    expect(received.join('')).not.toMatch(/proxy|Basic/i);
  });

  test('shares tunnels between polls, no more than allowed, and gives a POST one of its own', async () => {
    const { origin } = await startFaultyServer(answer);
    const { url, requests } = await startProxy();
    const send = openTransport(origin, { proxy: through(url), connections: 1 });
    await Promise.all(['/1', '/2', '/3'].map((path) => send({ method: 'GET', path })));
    expect(requests).toHaveLength(1);
    await send();
    expect(requests).toHaveLength(2);
  });

  test('looks up the name of the proxy, and leaves that of the service to the proxy', async () => {
    const { port } = await startFaultyServer(answer);
    const proxy = await startProxy();
    const asked: string[] = [];
    const lookup: LookupFunction = (hostname, _options, found) => {
      asked.push(hostname);
      found(null, [{ address: '127.0.0.1', family: 4 }]);
    };
    const named = through(`http://proxy.test:${proxy.port}`);
    const exchange = await openTransport(`http://service.test:${port}`, { proxy: named, lookup })();
    expect(exchange.kind).toBe('response');
    expect([asked, proxy.requests[0]?.line]).toEqual([['proxy.test'], `CONNECT service.test:${port}`]);
  });

  test('gives up a proxy that hangs after the time to connect, and closes its connection', async () => {
    const { origin, received } = await startFaultyServer(answer);
    let isClosed = false;
    const silent = createServer((socket) => {
      socket.resume().on('error', () => {});
      socket.on('close', () => {
        isClosed = true;
      });
    });
    const proxy = through(`http://127.0.0.1:${await listen(silent)}`);
    const exchange = await openTransport(origin, { proxy, connectTimeoutMs: 50 })({ method: 'GET' });
    const cause = expect.objectContaining({ code: 'UND_ERR_HEADERS_TIMEOUT' });
    expect(failureOf(exchange)).toMatchObject({ wasSent: false, error: { code: 'PROXY', cause } });
    await expect.poll(() => isClosed).toBe(true);
    expect(received).toEqual([]);
  });

  test('accepts a response to CONNECT with headers of 250 KB', async () => {
    const { origin } = await startFaultyServer(answer);
    const { url } = await startProxy({ headerBytes: 250_000 });
    expect(responseOf(await openTransport(origin, { proxy: through(url) })()).status).toBe(200);
  });

  describe('that speaks SOCKS5', () => {
    const socks = (origin: string, credentials?: string) => ({ ...through(origin, credentials), isSocks: true });

    test.each([undefined, 'user:p@ss wo:rd'])(
      'sends a request, and leaves the name of the service to the proxy: %s',
      async (user) => {
        const { port, received } = await startFaultyServer(answer);
        const { url, targets } = await startSocksProxy({ credentials: user });
        const send = openTransport(`http://service.test:${port}`, { proxy: socks(url, user) });
        for (const method of methods) expect(responseOf(await send({ method })).status).toBe(200);
        expect(targets).toEqual([`service.test:${port}`, `service.test:${port}`]);
        expect(received).toHaveLength(2);
      },
    );

    test.each<[string, Parameters<typeof startSocksProxy>[0], string | undefined, code: string]>([
      ['wants credentials', { credentials: 'a:b' }, undefined, 'UND_ERR_SOCKS5_AUTH_REJECTED'],
      ['rejects the credentials', { credentials: 'a:b' }, 'a:c', 'UND_ERR_SOCKS5_AUTH_FAILED'],
      ['forbids it', { reply: 2 }, undefined, 'UND_ERR_SOCKS5_REPLY_2'],
      ['cannot connect', { reply: 5 }, undefined, 'UND_ERR_SOCKS5_REPLY_5'],
      ['says nothing', { hang: true }, undefined, 'UND_ERR_HEADERS_TIMEOUT'],
    ])('gives it nothing of the request if it %s', async (_, options, credentials, code) => {
      const { origin, received } = await startFaultyServer(answer);
      const { url } = await startSocksProxy(options);
      const send = openTransport(origin, { proxy: socks(url, credentials), connectTimeoutMs: 200 });
      for (const method of methods) {
        const failure = failureOf(await send({ method }));
        expect(failure).toMatchObject({ wasSent: false, error: { code: 'PROXY', cause: { code } } });
      }
      expect(received).toEqual([]);
    });

    test('prints nothing, although undici calls it experimental', async () => {
      const warnings: Error[] = [];
      const note = (warning: Error) => warnings.push(warning);
      process.on('warning', note);
      onTestFinished(() => void process.off('warning', note));
      const { origin } = await startFaultyServer(answer);
      await openTransport(origin, { proxy: socks((await startSocksProxy()).url) })();
      await pause(20);
      expect(warnings).toEqual([]);
    });
  });
});

describe.skipIf(process.platform !== 'linux')('a name with several addresses', () => {
  // The queue of a stalled server on one address of loopback is full; nobody listens on the other.
  const lookupOf =
    (...addresses: string[]): LookupFunction =>
    (_name, _options, found) =>
      found(
        null,
        addresses.map((address) => ({ address, family: 4 })),
      );

  test('is tried in turn: a silent address costs two seconds at most', async () => {
    const silent = await startStalledServer();
    const live = createHttpServer((_request, response) => void response.end('{}')).listen(silent.port, '127.0.0.2');
    onTestFinished(() => void live.close());
    const lookup = lookupOf('127.0.0.1', '127.0.0.2');
    const startMs = performance.now();
    const exchange = await openTransport(`http://service.test:${silent.port}`, { lookup })();
    expect(responseOf(exchange).status).toBe(200);
    expect(performance.now() - startMs).toBeLessThan(2_000);
  });

  test('is waited for longer by the second attempt, whatever the other addresses do', async () => {
    const slow = await startStalledServer();
    const options = { lookup: lookupOf('127.0.0.1', '127.0.0.9') };
    const sends = methods.map((method) => {
      const send = openTransport(`http://service.test:${slow.port}`, options);
      return () => send({ method });
    });
    for (const failure of (await Promise.all(sends.map((send) => send()))).map(failureOf)) {
      expect(failure).toMatchObject({ wasSent: false, fault: 'unreachable' });
    }
    // Linux sends its SYN again after one and three seconds.
    setTimeout(slow.resume, 2_000);
    const exchanges = await Promise.all(sends.map((send) => send()));
    expect(exchanges.map((exchange) => responseOf(exchange).status)).toEqual([204, 204]);
  });
});
