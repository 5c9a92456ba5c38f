// Builds dist/: the program as CommonJS, which starts 6 ms sooner than ES modules (Node 20). Nothing
// is minified: a stack trace can be read.
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { build } from 'esbuild';

const root = join(import.meta.dirname, '..');

/**
 * Each is a file that is loaded when it is needed. All other sources and packages are in the file
 * of process.ts: to read a file takes 0.3 ms, so one for each command would cost 4 ms.
 */
const entryPoints = {
  process: 'src/process.ts',
  undici: 'src/service/undici.ts',
  chalk: 'chalk',
  conf: 'conf',
  input: '@inquirer/input',
  ora: 'ora',
  password: '@inquirer/password',
};

const keepApart = {
  name: 'keep-apart',
  setup({ onResolve }) {
    onResolve({ filter: /./ }, ({ path, kind }) => {
      const name = basename(path, '.ts');
      const isApart = kind === 'dynamic-import' && Object.hasOwn(entryPoints, name);
      return isApart ? { path: `./${name}.cjs`, external: true } : undefined;
    });
  },
};

/**
 * What packages load and runctl never uses. Node's HTTP/2 (by undici) takes 10 ms, and its
 * processes (by commander) 1 ms; env-paths (by conf) throws for a user who has neither HOME nor an
 * entry in the password file.
 */
const leaveOut = {
  name: 'leave-out',
  setup({ onResolve, onLoad }) {
    const namespace = 'left-out';
    onResolve({ filter: /^(node:http2|node:child_process|env-paths)$/ }, ({ path, importer }) =>
      importer.includes('node_modules') ? { path, namespace } : undefined,
    );
    onLoad({ filter: /./, namespace }, () => ({ contents: 'module.exports = { constants: {} };' }));
  },
};

// Whoever runs the program during a build gets the old one or the new one, never a part.
await mkdir(join(root, 'node_modules'), { recursive: true });
const folder = await mkdtemp(join(root, 'node_modules/.build-'));
const [built, old, dist] = [join(folder, 'new'), join(folder, 'old'), join(root, 'dist')];
try {
  const { metafile } = await build({
    absWorkingDir: root,
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'cjs',
    // What is imported dynamically runs when it is first asked for.
    supported: { 'dynamic-import': false },
    entryPoints,
    outdir: built,
    outExtension: { '.js': '.cjs' },
    plugins: [keepApart, leaveOut],
    metafile: true,
  });
  await writeFile(join(built, 'LICENSES.txt'), await licensesOf(metafile));
  await rename(dist, old).catch(() => {});
  await rename(built, dist);
} finally {
  await rm(folder, { recursive: true });
}

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
