// Builds dist/: the program as CommonJS (an ES module costs 4 ms more to start on Node 20) in several files, so that a
// command reads little that it does not need: what the sources import dynamically is a file of its own.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { build, transform } from 'esbuild';
import { collectLicences } from './licences.mjs';
import { onlyWhatIsUsed } from './only-what-is-used.mjs';
import { pack } from './pack.mjs';

const root = join(import.meta.dirname, '../');
const outdir = `${root}dist`;
const target = { platform: 'node', target: 'node20.19' };
const bundle = { ...target, bundle: true, format: 'esm', plugins: [onlyWhatIsUsed], write: false };

// esbuild splits nothing but ES modules; each file is made CommonJS afterwards.
const { outputFiles, metafile } = await build({
  ...bundle,
  entryPoints: [`${root}src/main.ts`],
  absWorkingDir: root,
  splitting: true,
  outdir,
  outExtension: { '.js': '.cjs' },
  metafile: true,
});

// The man page is made of the definitions of the commands.
const wiring = await build({ ...bundle, entryPoints: [`${root}.config/manual.ts`], format: 'cjs' });
const { manualPage } = evaluate(wiring.outputFiles[0].text);

const pieces = {};
for (const { path, text } of outputFiles) pieces[basename(path)] = await toCommonJs(text);
const service = ['trigger', 'watch', 'status', 'result', 'list', 'recover', 'agent'];
const together = {
  main: ['src/main.ts'],
  process: ['src/process.ts', 'src/commands/explain.ts'],
  service: service.map((name) => `src/commands/${name}.ts`),
};

const files = {
  'runctl.1': manualPage(),
  'LICENSES.txt': await collectLicences(metafile, root),
};

for (const [name, code] of Object.entries(pack(pieces, metafile, together))) files[name] = await withoutBlanks(code);

await rm(outdir, { recursive: true, force: true });
await mkdir(outdir, { recursive: true });
await Promise.all(Object.entries(files).map(([name, text]) => writeFile(`${outdir}/${name}`, text)));

async function toCommonJs(source) {
  const { code } = await transform(source, {
    ...target,
    format: 'cjs',
    supported: { 'dynamic-import': false },
    define: { 'import.meta.dirname': '__dirname' },
  });
  return requireLate(code);
}

/** What is not there need not be read: a twentieth of the time of `status`. Names stay, for the lines of a stack. */
async function withoutBlanks(source) {
  const { code } = await transform(source, {
    ...target,
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'none',
  });
  return code;
}

/** Node's own modules are loaded where they are first used: node:crypto takes 3 ms, and most commands do without. */
function requireLate(code) {
  const names = new Map();
  const rest = code.replace(/^var (import_\w+) = (require\("node:[\w/]+"\));\n/gm, (_, name, require) => {
    // In brackets: after `new`, a bare call would be what is constructed.
    names.set(name, `(${require})`);
    return '';
  });
  return rest.replace(/\bimport_\w+(?=\.)/g, (name) => names.get(name) ?? name);
}

function evaluate(code) {
  const module = { exports: {} };
  new Function('module', 'exports', 'require', code)(module, module.exports, createRequire(import.meta.url));
  return module.exports;
}
