// Gives the program random command lines, journals, config files, scenarios and answers. It must end with a code of the
// table other than 70, without a stack trace, the API key or a control character. `npm run stress -- fuzz [seconds] [seed]`
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';

const [seconds = 60, firstSeed = Date.now() % 1_000_000_000, bundle] = process.argv.slice(2);
if (bundle === undefined) await watchOver();
else await fuzz();

/** Runs the cases in a process of their own, and ends it when it does not say for long that it has done one. */
async function watchOver() {
  const folder = mkdtempSync(join(tmpdir(), 'runctl-fuzz-build-'));
  const outfile = join(folder, 'fuzz.cjs');
  const helpers = join(import.meta.dirname, '../helpers');
  const common = { bundle: true, format: 'cjs', platform: 'node', loader: { '.md': 'text' }, logLevel: 'error' };
  const define = { 'import.meta.dirname': JSON.stringify(helpers) };
  await build({ entryPoints: [join(helpers, 'fuzz.ts')], outfile, define, ...common });
  const child = fork(import.meta.filename, [String(seconds), String(firstSeed), outfile]);
  let seed = firstSeed;
  let timer;
  child.on('message', (next) => {
    seed = next;
    clearTimeout(timer);
    timer = setTimeout(() => child.kill('SIGKILL'), 30_000);
  });
  child.on('exit', (code, signal) => {
    clearTimeout(timer);
    rmSync(folder, { recursive: true, force: true });
    if (signal) console.log(`seed ${seed}: it hangs without a pause`);
    process.exitCode = code === 0 ? 0 : 1;
  });
}

async function fuzz() {
  const { fuzzOnce } = createRequire(import.meta.url)(bundle);
  const untilMs = performance.now() + Number(seconds) * 1000;
  const thrown = [];
  process.on('uncaughtException', (error) => thrown.push(`uncaught: ${error.stack}`));
  let cases = 0;
  let failed = 0;
  for (let seed = Number(firstSeed); performance.now() < untilMs; seed++) {
    process.send(seed);
    const { argv, faults } = await fuzzOnce(seed).catch(({ stack }) => ({ argv: [], faults: [stack] }));
    cases++;
    for (const fault of [...faults, ...thrown.splice(0)]) {
      failed++;
      console.log(`seed ${seed}: ${JSON.stringify(argv).slice(0, 300)}\n  ${fault}`);
    }
  }
  console.log(`${cases} cases from seed ${firstSeed} on, ${failed} faults`);
  process.exit(failed === 0 ? 0 : 1);
}
