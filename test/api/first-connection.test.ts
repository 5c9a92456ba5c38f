import { once } from 'node:events';
import type { LookupFunction, Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import type { buildConnector } from 'undici';
import { expect, onTestFinished, test, vi } from 'vitest';
import { beginConnection } from '../../src/api/first-connection.ts';
import { createTransport } from '../../src/api/transport.ts';
import { freePort, startFaultyServer, wireAnswer } from '../helpers/faulty-server.ts';
import { ampleLimitMs, shortLimitMs } from '../helpers/real-time.ts';

const unused = {} as buildConnector.Options;
const neverLookedUp: LookupFunction = () => {
  throw new Error('an address needs no look-up');
};

/** Begins to connect, and asks twice for a connection: `usual` is undici's own. */
async function begin(origin: string, timeoutMs = ampleLimitMs, between = async () => {}) {
  const connectionFrom = await beginConnection(origin, { timeoutMs, lookup: neverLookedUp });
  await between();
  const connect = connectionFrom((_, found) => found(new Error('usual'), null));
  const ask = () =>
    new Promise<Socket | string>((resolve) =>
      connect(unused, (error, socket) => resolve(error ? error.message : socket)),
    );
  return [await ask(), await ask()] as const;
}

test('the connection that was begun is given once, and the next one is of undici', async () => {
  const { origin, port, received } = await startFaultyServer(() => {});
  const [first, second] = await begin(origin);
  expect(first).toMatchObject({ remotePort: port, destroyed: false });
  expect(second).toBe('usual');
  expect(received).toEqual(['']);
});

test('a connection that was reset before undici asked for it is replaced by one of undici', async () => {
  let accept = (_: Socket) => {};
  const accepted = new Promise<Socket>((resolve) => {
    accept = resolve;
  });
  const { origin } = await startFaultyServer((socket) => accept(socket), { atOnce: true });
  const given = await begin(origin, ampleLimitMs, async () => {
    await once((await accepted).resetAndDestroy(), 'close');
    await setImmediate();
  });
  expect(given).toEqual(['usual', 'usual']);
});

test('a refusal, and TLS that is never answered, are reported once', async () => {
  const refused = await begin(`http://127.0.0.1:${await freePort()}`);
  expect(refused).toEqual([expect.stringContaining('ECONNREFUSED'), 'usual']);
  const { port } = await startFaultyServer(() => {});
  expect(await begin(`https://127.0.0.1:${port}`, shortLimitMs)).toEqual(['no connection in time', 'usual']);
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

test('undici that cannot be loaded is a failure in which nothing was sent', async () => {
  vi.doMock('undici', () => {
    throw new Error('it is gone');
  });
  vi.resetModules();
  onTestFinished(() => {
    vi.doUnmock('undici');
    vi.resetModules();
  });
  const { createTransport } = await import('../../src/api/transport.ts');
  const { origin, received } = await startFaultyServer(() => {});
  const transport = createTransport({ origin, connections: 2, connectTimeoutMs: ampleLimitMs });
  const request = { path: '/', headers: {}, timeoutMs: ampleLimitMs, maxBytes: 100 } as const;
  for (const method of ['POST', 'GET'] as const) {
    const { signal } = new AbortController();
    expect(await transport.exchange({ ...request, method }, signal)).toMatchObject({ failure: { sent: false } });
  }
  expect(received.join('')).toBe('');
});
