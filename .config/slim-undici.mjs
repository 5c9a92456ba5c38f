// undici by the parts that are used: whole, it takes 44 ms to load, and these parts 17.

/** What the files of undici's package hold in our build. */
const files = {
  'index.js': `
    exports.Client = require('./lib/dispatcher/client.js');
    exports.Pool = require('./lib/dispatcher/pool.js');
    Object.defineProperty(exports, 'ProxyAgent', {
      get: () => {
        // A tunnel is opened with a method that only the package as a whole gives its dispatchers.
        require('./lib/dispatcher/dispatcher.js').prototype.connect = require('./lib/api/api-connect.js');
        return require('./lib/dispatcher/proxy-agent.js');
      },
    });`,
  // We do not allow HTTP/2. Node's module for it takes 10 ms to load.
  'lib/dispatcher/client-h2.js': `module.exports = () => { throw new Error('HTTP/2 is not in this build of undici') };`,
  // We send nothing but strings. What else fetch can send would be 100 kB.
  'lib/web/fetch/body.js': `exports.extractBody = () => { throw new Error('only strings and buffers can be sent') };`,
  // undici holds its parser, which is WebAssembly, with and without SIMD; the one that runs on every processor is enough.
  // Node 20 ends 80 ms later if V8 is still optimizing the parser; newer versions do not wait. With the flag, V8 refuses
  // the compiled code of Node's own modules: it is set when the first connection is there, and all of them are loaded.
  'lib/llhttp/llhttp_simd-wasm.js': `
    if (process.versions.node.startsWith('20.')) require('node:v8').setFlagsFromString('--liftoff-only');
    module.exports = require('./llhttp-wasm.js');`,
};

/** An esbuild plugin. A build that holds undici fails if undici no longer has one of the files. */
export const slimUndici = {
  name: 'slim-undici',
  setup({ onLoad, onEnd }) {
    const loaded = new Set();
    onLoad({ filter: /\/undici\/.*\.js$/ }, ({ path }) => {
      const [, name] = /.*\/undici\/(.*)$/.exec(path);
      loaded.add(name);
      return name in files ? { contents: files[name] } : undefined;
    });
    onEnd(() => {
      const missing = loaded.size > 0 ? Object.keys(files).filter((name) => !loaded.has(name)) : [];
      return { errors: missing.map((name) => ({ text: messageOf(name) })) };
    });
  },
};

const messageOf = (name) =>
  `undici no longer loads its file ${name}, which .config/slim-undici.mjs replaces: change it, or pin another version`;
