import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { buildConnector, Dispatcher } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { version } from '../../node_modules/undici/package.json';
import { devDependencies } from '../../package.json';
import { listen } from '../helpers/faulty-server.ts';
import { startProxy } from '../helpers/proxies.ts';

// What is built of undici (`src/service/undici.ts`).
const built: typeof import('../../src/service/undici.ts') = createRequire(import.meta.url)(
  join(import.meta.dirname, '../../dist/undici.cjs'),
);

function post(dispatcher: Dispatcher, origin: string, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart() {},
      onResponseStart() {},
      onResponseData(_controller, chunk) {
        text += chunk;
      },
      onResponseEnd: () => resolve(text),
      onResponseError: (_controller, error) => reject(error),
    };
    dispatcher.dispatch({ origin, path: '/', method: 'POST', body }, handler);
  });
}

test('undici is pinned to one version, because its files are not its interface', () => {
  expect(devDependencies.undici).toBe(version);
});

test('the bundled parts of undici send requests, directly and through a tunnel', async () => {
  const server = createServer((request, response) => request.pipe(response));
  const host = `127.0.0.1:${await listen(server)}`;
  const origin = `http://${host}`;
  const proxy = await startProxy();
  const Client = await built.loadTunnelClient();
  const toProxy = new Client(proxy.url);
  const connect: buildConnector.connector = async (_target, done) => {
    const { socket } = await toProxy.connect({ path: host });
    done(null, socket as Socket);
  };
  const dispatchers = [new built.Pool(origin), new built.Pool(origin, { connect })];
  onTestFinished(() => Promise.all([toProxy, ...dispatchers].map((dispatcher) => dispatcher.destroy())).then(() => {}));
  for (const dispatcher of dispatchers) expect(await post(dispatcher, origin, 'hello')).toBe('hello');
  expect(proxy.requests.map(({ line }) => line)).toEqual([`CONNECT ${host}`]);
});
