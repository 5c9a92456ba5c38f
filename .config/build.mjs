// Builds dist/: the program as CommonJS (an ES module costs 4 ms more to start on Node 20) in many files, so that a
// command reads little that it does not need: what the sources import dynamically is a file of its own.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { build, transform } from 'esbuild';
import { collectLicences } from './licences.mjs';
import { onlyWhatIsUsed } from './only-what-is-used.mjs';
import { writeManual } from './manual.mjs';

const root = new URL('..', import.meta.url).pathname;
const outdir = `${root}dist`;
const target = { platform: 'node', target: 'node20.19' };

// esbuild splits nothing but ES modules; each file is made CommonJS afterwards.
const { outputFiles, metafile } = await build({
  ...target,
  entryPoints: [`${root}src/main.ts`],
  absWorkingDir: root,
  bundle: true,
  splitting: true,
  format: 'esm',
  outdir,
  outExtension: { '.js': '.cjs' },
  plugins: [onlyWhatIsUsed],
  metafile: true,
  write: false,
});

await rm(outdir, { recursive: true, force: true });
await mkdir(outdir, { recursive: true });
for (const { path, text } of outputFiles) {
  const { code } = await transform(text, { ...target, format: 'cjs', supported: { 'dynamic-import': false } });
  await writeFile(path, requireLate(code));
}
await writeFile(`${outdir}/LICENSES.txt`, await collectLicences(metafile, root));
await writeManual(root, outdir);

/** Node's own modules are loaded where they are first used: node:crypto takes 3 ms, and most commands do without. */
function requireLate(code) {
  const names = new Map();
  const rest = code.replace(/^var (import_\w+) = (require\("node:[\w/]+"\));\n/gm, (_, name, require) => {
    names.set(name, require);
    return '';
  });
  return rest.replace(/\bimport_\w+(?=\.)/g, (name) => names.get(name) ?? name);
}
