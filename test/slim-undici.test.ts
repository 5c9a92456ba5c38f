import { cpSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
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
import { temporaryFolder } from './helpers/temporary-folder.ts';

const root = join(import.meta.dirname, '..');
const { slimUndici } = await import(join(root, '.config/slim-undici.mjs'));

const advice = `.config/slim-undici.mjs replaces files of undici and does not fit undici ${version}: change it, or pin another undici`;

async function buildSlimUndici(folder = root) {
  const { outputFiles, metafile } = await build({
    absWorkingDir: folder,
    entryPoints: ['undici'],
    bundle: true,
    platform: 'node',
    format: 'cjs',
    plugins: [slimUndici],
    write: false,
    metafile: true,
    logLevel: 'silent',
  });
  const [{ text } = { text: '' }] = outputFiles;
  const module: { exports: Partial<typeof import('undici')> } = { exports: {} };
  new Function('exports', 'require', text)(module.exports, createRequire(import.meta.url));
  return { undici: module.exports, text, inputs: Object.keys(metafile.inputs) };
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

test('undici is built without HTTP/2 and the parts of it that no request needs', async () => {
  const { inputs, text } = await buildSlimUndici();
  const bundled = inputs.filter((input) => input.includes('/undici/lib/'));
  expect(
    bundled.filter((input) => /\/(web|mock|cache|interceptor)\//.test(input) && !input.endsWith('fetch/body.js')),
  ).toEqual([]);
  expect(text).not.toContain('node:http2');
});

test('a build fails and names the file if undici has moved a file that is replaced', async () => {
  const folder = temporaryFolder();
  const moved = join(folder, 'node_modules/undici');
  cpSync(join(root, 'node_modules/undici'), moved, { recursive: true });
  const dispatcher = join(moved, 'lib/dispatcher');
  renameSync(join(dispatcher, 'client-h2.js'), join(dispatcher, 'http2-client.js'));
  const client = join(dispatcher, 'client.js');
  writeFileSync(client, readFileSync(client, 'utf8').replace('./client-h2.js', './http2-client.js'));
  await expect(buildSlimUndici(folder)).rejects.toThrow(/client-h2\.js.*slim-undici\.mjs/);
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
