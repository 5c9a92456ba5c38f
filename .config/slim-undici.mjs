// What is left out of undici and commander, or loaded only when it is used, and a line of undici that is changed.

import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';

export const parts = {
  // undici whole takes 44 ms to load, these parts 17.
  undici: `
    exports.Client = require('undici/lib/dispatcher/client.js');
    exports.Pool = require('undici/lib/dispatcher/pool.js');
    Object.defineProperty(exports, 'ProxyAgent', {
      get: () => {
        // A tunnel is opened with a method that only the package as a whole gives its dispatchers.
        require('undici/lib/dispatcher/dispatcher.js').prototype.connect = require('undici/lib/api/api-connect.js');
        return require('undici/lib/dispatcher/proxy-agent.js');
      },
    });`,
  // undici looks the names of usual headers up in a tree, which takes 1 ms to make.
  'undici/tree': 'exports.tree = { lookup() {} };',
  // undici loads it for the largest header, which we set ourselves, and to know one of its streams, which we never send.
  'undici/http': 'exports.maxHeaderSize = 16384; exports.IncomingMessage = class {};',
  // Node's own opens standard error for its colors.
  'undici/assert': `
    module.exports = (ok, message) => {
      if (!ok) throw message instanceof Error ? message : new Error(message ?? 'undici expected something else');
    };`,
  // We do not allow HTTP/2, and send nothing but strings: half of what would be read.
  'undici/http2': `module.exports = () => { throw new Error('HTTP/2 is not in this build of undici') };`,
  'undici/body': `exports.extractBody = () => { throw new Error('only strings and buffers can be sent') };`,
  // undici holds its parser, which is WebAssembly, with and without SIMD; the one that runs on every processor is enough.
  // Node 20 ends 80 ms later if V8 is still optimizing the parser; newer versions do not wait. With the flag, V8 refuses
  // the compiled code of Node's own modules: it is set when the first connection is there, and all of them are loaded.
  'undici/llhttp': `
    if (process.versions.node.startsWith('20.')) require('node:v8').setFlagsFromString('--liftoff-only');
    module.exports = require('undici/lib/llhttp/llhttp-wasm.js');`,
  // Commander starts subcommands that are programs of their own with it; we have none.
  'commander/child_process': '',
  // Its segmenter and its expression for emoji take 25 ms to make, and the names in a table are ASCII mostly.
  'string-width': `
    exports.default = (text) => (/^[\\x20-\\x7e]*$/.test(text) ? text.length : require('string-width').default(text));
    exports.__esModule = true;`,
};

/** undici takes a 100 Continue that it didn't ask for as a broken answer; RFC 9110 §15.2 lets a client ignore it. */
const refusesContinue = 'if (statusCode === 100) {';

function acceptContinue(source) {
  if (!source.includes(refusesContinue)) throw new Error(`client-h1.js of undici no longer has: ${refusesContinue}`);
  return source.replace(refusesContinue, 'if (false) {');
}

/** An esbuild plugin. */
export const slimUndici = {
  name: 'slim-undici',
  setup({ onResolve, onLoad }) {
    const replace = (filter, importer, path) =>
      onResolve({ filter }, (wanted) => (importer.test(wanted.importer) ? { path, namespace: 'parts' } : undefined));
    replace(/^undici$/, /^$/, 'undici');
    replace(/^node:http$/, /\/undici\//, 'undici/http');
    replace(/^node:assert$/, /\/undici\//, 'undici/assert');
    replace(/^\.\/tree$/, /\/undici\/lib\/core\//, 'undici/tree');
    replace(/fetch\/body\.js$/, /\/undici\//, 'undici/body');
    replace(/client-h2\.js$/, /\/undici\//, 'undici/http2');
    replace(/llhttp_simd-wasm\.js$/, /\/undici\//, 'undici/llhttp');
    replace(/^node:child_process$/, /\/commander\//, 'commander/child_process');
    replace(/^string-width$/, /\/src\/render\//, 'string-width');
    onLoad({ filter: /.*/, namespace: 'parts' }, ({ path }) => ({
      contents: parts[path],
      resolveDir: dirname(import.meta.dirname),
    }));
    onLoad({ filter: /undici\/lib\/dispatcher\/client-h1\.js$/ }, async ({ path }) => ({
      contents: acceptContinue(await readFile(path, 'utf8')),
    }));
  },
};
