// Builds the program, and beside it a file for each thing that only some commands need, so that the others do not read it.
import { join, relative } from 'node:path';
import { build } from 'esbuild';

/**
 * What is imported dynamically from these sources comes from the file of that name. All of them are loaded at the beginning
 * of a command: the package may be replaced during a long watch, and what is loaded at its end must be in process.cjs.
 */
const parts = {
  emulator: ['server.ts', 'rehearse.ts', 'read-scenario.ts', 'write-report.ts'].map((name) => `src/emulator/${name}`),
  doctor: ['src/doctor/diagnose.ts'],
  suggest: ['src/cli/suggest.ts'],
  schemas: ['src/render/schemas.ts'],
  completion: ['src/commands/complete.ts'],
  'config-setup': ['src/commands/config-setup.ts'],
  'for-programs': ['docs/for-programs.md'],
  troubleshooting: ['docs/troubleshooting.md'],
};

/** Builds process.cjs and the parts into a folder. Returns what esbuild says of each output. */
export async function buildProcess(options, outdir) {
  const root = options.absWorkingDir;
  // A second copy of a module would have a state and classes of its own: a part takes what process.cjs holds from there.
  const whole = await bundle('process', `export { runProcess } from './src/process.ts';`, { write: false });
  const held = new Set(Object.values(whole).flatMap(({ inputs }) => Object.keys(inputs)));
  const shared = new Set();
  const outputs = {};
  for (const [name, sources] of Object.entries(parts)) {
    const isPage = sources[0].endsWith('.md');
    const contents = sources.map((source) => `export ${isPage ? '{ default }' : '*'} from './${source}';`).join('\n');
    Object.assign(outputs, await bundle(name, contents));
  }
  const getters = [...shared].sort().map((source) => `get '${source}'() { return require('./${source}'); },\n`);
  const contents = `export { runProcess } from './src/process.ts';\nexport const shared = {\n${getters.join('')}};`;
  return { ...(await bundle('process', contents)), ...outputs };

  async function bundle(name, contents, more) {
    const { metafile } = await build({
      ...options,
      ...more,
      stdin: { contents, resolveDir: root, sourcefile: `${name}.js` },
      outfile: join(outdir, `${name}.cjs`),
      metafile: true,
      plugins: [partsOf(name), ...options.plugins],
    });
    return metafile.outputs;
  }

  function partsOf(file) {
    return {
      name: 'parts',
      setup({ onResolve, onLoad }) {
        onResolve({ filter: /^\.\/process\.cjs$/ }, ({ path }) => ({ path, external: true }));
        onResolve({ filter: /^\.\.?\// }, ({ path, kind, resolveDir }) => {
          const source = relative(root, join(resolveDir, path));
          const part = Object.keys(parts).find((name) => parts[name].includes(source));
          if (part && kind === 'dynamic-import') return { path: `./${part}.cjs`, external: true };
          if (file === 'process' || !held.has(source)) return undefined;
          shared.add(source);
          return { path: source, namespace: 'shared' };
        });
        onLoad({ filter: /.*/, namespace: 'shared' }, ({ path }) => ({
          contents: `module.exports = require('./process.cjs').shared['${path}'];`,
        }));
      },
    };
  }
}
