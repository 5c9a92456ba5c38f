// Builds dist/: the program as CommonJS, which starts 6 ms sooner than ES modules (Node 20), in one
// file for each part that is loaded on its own. Nothing is minified: a stack trace can be read.
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { build, transform } from 'esbuild';

const root = join(import.meta.dirname, '..');
const target = { platform: 'node', target: 'node20.19' };

/**
 * What packages load and runctl never uses: Node's HTTP/2 (by undici) takes 10 ms, and env-paths
 * (by conf) throws for a user who has neither HOME nor an entry in the password file.
 */
const leaveOut = {
  name: 'leave-out',
  setup({ onResolve, onLoad }) {
    const namespace = 'left-out';
    onResolve({ filter: /^(node:http2|env-paths)$/ }, ({ path }) => ({ path, namespace }));
    onLoad({ filter: /./, namespace }, () => ({ contents: 'module.exports = { constants: {} };' }));
  },
};

// esbuild splits only ES modules, so each file is translated to CommonJS after that.
const { outputFiles, metafile } = await build({
  ...target,
  absWorkingDir: root,
  bundle: true,
  splitting: true,
  format: 'esm',
  entryPoints: ['src/main.ts'],
  outdir: 'dist',
  outExtension: { '.js': '.cjs' },
  plugins: [leaveOut],
  metafile: true,
  write: false,
});

// Whoever runs the program during a build gets the old one or the new one, never a part.
await mkdir(join(root, 'node_modules'), { recursive: true });
const folder = await mkdtemp(join(root, 'node_modules/.build-'));
const [built, old, dist] = [join(folder, 'new'), join(folder, 'old'), join(root, 'dist')];
await mkdir(built);
for (const { path, text } of outputFiles) {
  const supported = { 'dynamic-import': false };
  const { code } = await transform(text, { ...target, format: 'cjs', supported });
  await writeFile(join(built, basename(path)), code);
}
await writeFile(join(built, 'LICENSES.txt'), await licensesOf(metafile));
await rename(dist, old).catch(() => {});
await rename(built, dist);
await rm(folder, { recursive: true });

/** The licenses of the packages of which something is in the bundle. */
async function licensesOf({ outputs }) {
  const sources = Object.values(outputs).flatMap(({ inputs }) => Object.keys(inputs));
  const packages = sources.map((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0]);
  const folders = [...new Set(packages)].filter(Boolean).sort();
  const texts = await Promise.all(folders.map((path) => licenseOf(join(root, path))));
  return `runctl contains parts of these packages.\n\n${texts.join('\n')}`;
}

async function licenseOf(path) {
  const { name, version, license } = JSON.parse(await readFile(join(path, 'package.json'), 'utf8'));
  const file = (await readdir(path)).find((entry) => /^licen[cs]e/i.test(entry));
  if (!file) throw new Error(`${name} has no license file: find out what may be done with it`);
  const text = await readFile(join(path, file), 'utf8');
  return `--- ${name} ${version} (${license})\n\n${text.trim()}\n`;
}
