import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { Dispatcher } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { version } from '../node_modules/undici/package.json';
import { devDependencies } from '../package.json';
import { listen } from './helpers/faulty-server.ts';
import { startProxy } from './helpers/proxies.ts';

const root = join(import.meta.dirname, '..');
const { parts, slimUndici } = await import(join(root, '.config/slim-undici.mjs'));

const advice = `.config/slim-undici.mjs replaces files of undici and does not fit undici ${version}: change it, or pin another undici`;

async function buildSlimUndici() {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: ['undici'],
    bundle: true,
    platform: 'node',
    format: 'cjs',
    plugins: [slimUndici],
    write: false,
    metafile: true,
    logLevel: 'silent',
  }).catch((error) => {
    throw new Error(advice, { cause: error });
  });
  const [{ text } = { text: '' }] = outputFiles;
  const module: { exports: Partial<typeof import('undici')> } = { exports: {} };
  new Function('exports', 'require', text)(module.exports, createRequire(import.meta.url));
  return { undici: module.exports, inputs: Object.keys(metafile.inputs) };
}

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
      onResponseError: (_controller, error) => reject(new Error(advice, { cause: error })),
    };
    dispatcher.dispatch({ origin, path: '/', method: 'POST', body }, handler);
  });
}

test('undici is pinned to one version, since its files are not its interface', () => {
  expect(devDependencies.undici).toBe(version);
});

test('every file of undici that is left out is still where it was', async () => {
  const { inputs } = await buildSlimUndici();
  const replaced = inputs.filter((input) => input.startsWith('parts:')).sort();
  const parts = [
    'undici',
    'undici/assert',
    'undici/body',
    'undici/http',
    'undici/http2',
    'undici/llhttp',
    'undici/tree',
  ];
  expect(replaced, advice).toEqual(parts.map((part) => `parts:${part}`));
});

test('a request loads a fifth of the files of undici', async () => {
  const { inputs } = await buildSlimUndici();
  const bundled = inputs.filter((input) => input.includes('/undici/lib/'));
  expect(bundled.length).toBeLessThan(35);
  expect(bundled.filter((input) => /\/(web|mock|cache|interceptor)\//.test(input))).toEqual([]);
});

test('what undici asserts is asserted', () => {
  const module: { exports: (ok: unknown, message?: string | Error) => void } = { exports() {} };
  new Function('module', parts['undici/assert'])(module);
  expect(() => module.exports(true)).not.toThrow();
  expect(() => module.exports(false, 'a paused parser')).toThrow('a paused parser');
  expect(() => module.exports(0)).toThrow('undici expected something else');
});

test('what is left of undici sends requests, alone and through a proxy', async () => {
  const { undici } = await buildSlimUndici();
  const { Pool, ProxyAgent } = undici;
  if (!Pool || !ProxyAgent) throw new Error(advice);
  const server = createServer((request, response) => request.pipe(response));
  const host = `127.0.0.1:${await listen(server)}`;
  const origin = `http://${host}`;
  const proxy = await startProxy();
  const dispatchers = [new Pool(origin), new ProxyAgent(proxy.url)];
  onTestFinished(() => Promise.all(dispatchers.map((dispatcher) => dispatcher.destroy())).then(() => {}));
  for (const dispatcher of dispatchers) expect(await post(dispatcher, origin, 'hello'), advice).toBe('hello');
  expect(proxy.requests.map(({ line }) => line)).toEqual([`CONNECT ${host}`]);
});

test('an answer is taken after a 100 Continue that nobody asked for', async () => {
  const { undici } = await buildSlimUndici();
  if (!undici.Pool) throw new Error(advice);
  const server = createServer((_, response) => {
    response.writeContinue();
    response.end('hello');
  });
  const origin = `http://127.0.0.1:${await listen(server)}`;
  const pool = new undici.Pool(origin);
  onTestFinished(() => pool.destroy());
  expect(await post(pool, origin, '{}')).toBe('hello');
});

test('string-width is loaded for text that is not ASCII, and for no other', async () => {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: ['src/render/width.ts'],
    bundle: true,
    platform: 'node',
    format: 'cjs',
    plugins: [slimUndici],
    write: false,
  });
  const module = { exports: {} as Partial<typeof import('../src/render/width.ts')> };
  let segmenters = 0;
  class Segmenter extends Intl.Segmenter {
    constructor() {
      super();
      segmenters += 1;
    }
  }
  new Function('module', 'Intl', outputFiles[0]?.text ?? '')(module, { Segmenter });
  const { widthOf } = module.exports;
  expect([widthOf?.('nightly'), widthOf?.(''), segmenters]).toEqual([7, 0, 0]);
  expect([widthOf?.('漢字'), widthOf?.('e\u0301'), segmenters]).toEqual([4, 1, 1]);
});
