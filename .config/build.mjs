// Builds dist/: the program as CommonJS, which starts 4 ms sooner on Node 20 than ES modules. Nothing is minified, so that
// a stack trace names a line that can be read. `node .config/build.mjs [folder]` builds into another folder.
import { rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import { licencesOf } from './licences.mjs';

const root = join(import.meta.dirname, '../');
const outdir = process.argv[2] ?? `${root}dist`;

/** To read a file takes time: `--version` reads only the first of these, and a package is read where it is used. */
const entryPoints = {
  main: 'src/main.ts',
  process: 'src/process.ts',
  undici: 'src/service/undici.ts',
  conf: 'conf',
  ora: 'ora',
  chalk: 'chalk',
};

const keepApart = {
  name: 'keep-apart',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(\.\/process\.ts|\.\/undici\.ts|conf|ora|chalk)$/ }, ({ path, importer }) =>
      importer.startsWith(`${root}src/`) ? { path: `./${basename(path, '.ts')}.cjs`, external: true } : undefined,
    );
    // Its segmenter and its expression for emoji take 20 ms to make, and most names need neither.
    onResolve({ filter: /^string-width$/ }, ({ path, importer }) =>
      importer.startsWith(`${root}src/`) ? { path, namespace: 'when-called' } : undefined,
    );
    onLoad({ filter: /^string-width$/, namespace: 'when-called' }, () => ({
      contents: `export default (text) => require('string-width').default(text);`,
      resolveDir: root,
    }));
  },
};

/**
 * What packages load and runctl never uses. Node's module for HTTP/2, which undici loads, takes 10 ms. env-paths, which conf
 * would ask for a folder if it had none, throws for a user who has neither HOME nor a line in the password file.
 */
const leaveOut = {
  name: 'leave-out',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(node:http2|env-paths)$/ }, ({ path }) => ({ path, namespace: 'left-out' }));
    onLoad({ filter: /./, namespace: 'left-out' }, () => ({ contents: 'module.exports = { constants: {} };' }));
  },
};

const options = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  format: 'cjs',
  // What is imported dynamically runs when it is first asked for.
  supported: { 'dynamic-import': false },
  loader: { '.md': 'text' },
  define: { 'import.meta.dirname': '__dirname' },
  plugins: [keepApart, leaveOut],
};

await rm(outdir, { recursive: true, force: true });
const { metafile } = await build({ ...options, entryPoints, outdir, outExtension: { '.js': '.cjs' }, metafile: true });
for (const [file, { bytes, inputs }] of Object.entries(metafile.outputs))
  console.log(`${basename(file).padEnd(20)} ${String(Math.round(bytes / 1000)).padStart(4)} kB  ${contentsOf(inputs)}`);
await writeFile(`${outdir}/LICENSES.txt`, await licencesOf(metafile, root));

// The man page is made from the definitions of the commands.
const { manualPage } = await evaluate('.config/manual.ts');
await writeFile(`${outdir}/runctl.1`, manualPage());

/** The packages and folders of which most is in a file, with their size in kB. */
function contentsOf(inputs) {
  const sizes = {};
  for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
    const [, name] = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path) ?? /^((?:src\/)?[^/]+)/.exec(path) ?? [];
    sizes[name] = (sizes[name] ?? 0) + bytesInOutput / 1000;
  }
  const largest = Object.entries(sizes).sort(([, a], [, b]) => b - a);
  return largest
    .slice(0, 8)
    .map(([name, size]) => `${name} ${Math.round(size)}`)
    .join(', ');
}

/** What a source exports. */
async function evaluate(source) {
  const { outputFiles } = await build({ ...options, entryPoints: [source], write: false });
  const evaluated = { exports: {} };
  new Function('module', 'require', outputFiles[0].text)(evaluated, createRequire(import.meta.url));
  return evaluated.exports;
}
