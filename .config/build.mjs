// Builds dist/: the program in one CommonJS file, and one file for each larger package, loaded when it is first used.
// CommonJS, because an ES module costs 4 ms more to start on Node 20; one file each, because esbuild has no
// splitting for it, and a package inlined into the program would be read by every command.
import { rm } from 'node:fs/promises';
import { build } from 'esbuild';

const root = new URL('..', import.meta.url).pathname;
const outdir = `${root}dist`;

/** The packages that only some commands need, and what is taken of one where that is not the whole. */
const packages = {
  chalk: undefined,
  conf: undefined,
  ora: undefined,
  undici: `
    exports.Client = require('undici/lib/dispatcher/client.js');
    exports.Pool = require('undici/lib/dispatcher/pool.js');
    Object.defineProperty(exports, 'EnvHttpProxyAgent', {
      get: () => require('undici/lib/dispatcher/env-http-proxy-agent.js'),
    });`,
};

const common = {
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  format: 'cjs',
  outExtension: { '.js': '.cjs' },
  supported: { 'dynamic-import': false },
  logLevel: 'warning',
};

await rm(outdir, { recursive: true, force: true });

await build({
  ...common,
  entryPoints: [`${root}src/main.ts`],
  outdir,
  plugins: [
    {
      name: 'one-file-per-package',
      setup({ onResolve }) {
        onResolve({ filter: new RegExp(`^(${Object.keys(packages).join('|')})$`) }, ({ path }) => ({
          path: `./packages/${path}.cjs`,
          external: true,
        }));
      },
    },
  ],
});

await Promise.all(
  Object.entries(packages).map(([name, parts]) =>
    build({
      ...common,
      outfile: `${outdir}/packages/${name}.cjs`,
      outExtension: undefined,
      stdin: { contents: parts ?? `export * from '${name}'; export { default } from '${name}';`, resolveDir: root },
    }),
  ),
);
