// Kills the built program with SIGKILL hundreds of times while it triggers runs against a faulty service, in both
// orders of its checks; then lets `recover` settle it. `npm run stress -- torture [triggers] [seed]`
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const [triggers = 300, seed = Date.now() % 1_000_000] = process.argv.slice(2).map(Number);
const folder = mkdtempSync(join(tmpdir(), 'runctl-torture-'));
try {
  const { torture } = await load(new URL('../helpers/torture.ts', import.meta.url).pathname);
  const tallies = {};
  for (const order of ['keyFirst', 'activeFirst']) {
    tallies[order] = await torture({ order, triggers, seed, folder: join(folder, order), side: 4 });
  }
  report(tallies);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** A module in TypeScript, which Node 20 cannot read. It finds the program from where it stands, so it is told where. */
async function load(entry) {
  const outfile = join(folder, 'torture.mjs');
  const define = { 'import.meta.dirname': JSON.stringify(join(entry, '..')) };
  const common = { bundle: true, format: 'esm', platform: 'node', logLevel: 'warning' };
  await build({ entryPoints: [entry], outfile, define, ...common });
  return import(pathToFileURL(outfile).href);
}

function report({ keyFirst, activeFirst }) {
  const rows = {
    triggers: ({ triggers }) => triggers,
    killed: ({ killed }) => killed,
    'runs started': ({ runsStarted }) => runsStarted,
    'started twice': ({ startedTwice }) => startedTwice.length,
    'runs unknown to the journal': ({ unknown }) => unknown.length,
    'ended with an untrue word': ({ untrue }) => untrue.length,
    'open after recover, runs going': ({ openWhileActive }) => openWhileActive,
    'of these not explained by exit code 12': ({ unexplained }) => unexplained.length,
    'open after recover, runs ended': ({ openAtLast }) => openAtLast,
  };
  console.log(`seed ${seed}, Node ${process.version}\n`);
  console.log('| | key first | active first |\n| --- | --- | --- |');
  for (const [name, of] of Object.entries(rows)) console.log(`| ${name} | ${of(keyFirst)} | ${of(activeFirst)} |`);
  const broken = [keyFirst, activeFirst].flatMap(({ startedTwice, unknown, untrue, unexplained, openAtLast }) => [
    ...startedTwice,
    ...unknown,
    ...untrue,
    ...unexplained,
    ...(openAtLast > 0 ? [`${openAtLast} open at last`] : []),
  ]);
  if (keyFirst.openWhileActive > 0) broken.push(`${keyFirst.openWhileActive} open with the key first`);
  for (const word of broken) console.error(`broken: ${word}`);
  process.exitCode = broken.length > 0 ? 1 : 0;
}
