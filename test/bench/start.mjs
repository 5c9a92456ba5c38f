// How fast the program starts as it is installed: lower quartiles of interleaved runs, and what they are to an empty script of
// the same Node. Nothing of the environment is inherited: NODE_EXTRA_CA_CERTS alone would take each process 40 ms.
// `npm run bench -- start [--runs 20] [--node <path or version>]... [--program <path of a runctl.js>]`
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { installNode } from './install-node.mjs';

const { values: options } = parseArgs({
  options: {
    runs: { type: 'string', default: '20' },
    node: { type: 'string', multiple: true, default: [process.execPath] },
    program: { type: 'string' },
  },
});
const runs = Number(options.runs);

const folder = mkdtempSync(join(tmpdir(), 'runctl-bench-'));
const emptyScript = join(folder, 'empty.cjs');
writeFileSync(emptyScript, '');
const own = { PATH: process.env.PATH, HOME: join(folder, 'home') };
mkdirSync(own.HOME);
const program = options.program ?? installTarball();
const nodes = options.node.map((node) => (/^\d[\d.]*$/.test(node) ? installNode(node, folder) : node));

// In a process of its own: one that answers in ours could not answer while we wait for the program.
const emulator = spawn(process.execPath, [program, 'emulator', '--quiet'], {
  env: own,
  stdio: ['ignore', 'pipe', 'inherit'],
});
const settings = { RUNCTL_CONFIG_DIR: join(folder, 'config') };
for await (const line of createInterface({ input: emulator.stdout })) {
  const [, name, value] = /^export (\w+)=(.*)$/.exec(line) ?? [];
  settings[name] = value;
  if (name === 'RUNCTL_PROJECT') break;
}

const environmentOf = (journal) => ({ ...own, ...settings, RUNCTL_STATE_DIR: journal });

let triggers = 0;
/** Each makes the arguments of one process. */
const cases = {
  'empty script': () => [emptyScript],
  '`--version`': () => [program, '--version'],
  '`explain 12`': () => [program, 'explain', '12'],
  '`status`': () => [program, 'status', '@last'],
  '`list`': () => [program, 'list'],
  // A name of its own: one that is running would be refused.
  '`trigger`': () => [program, 'trigger', `bench-${++triggers}`],
};

const firstJournal = join(folder, 'state');
/** `status` and `list` tell of one run, however many are triggered. */
const journalOf = (name) => (name === '`trigger`' ? join(folder, 'triggers') : firstJournal);

try {
  const noTimes = () => Object.fromEntries(Object.keys(cases).map((name) => [name, []]));
  const columns = nodes.map((node) => ({ node, times: noTimes(), peaks: {} }));
  await run(process.execPath, [program, 'trigger', 'nightly'], firstJournal);
  // The first round fills the caches of the disk and is not counted.
  for (let round = 0; round <= runs; round++) {
    for (const { node, times } of columns) {
      for (const [name, make] of Object.entries(cases)) {
        const ms = await run(node, make(), journalOf(name));
        if (round > 0) times[name].push(ms);
      }
    }
  }
  for (const { node, peaks } of columns) {
    for (const [name, make] of Object.entries(cases)) {
      const peakOfOne = () => peakOf(node, make(), journalOf(name));
      // A process may end before its last growth is seen.
      peaks[name] = Math.max(await peakOfOne(), await peakOfOne(), await peakOfOne());
    }
  }
  report(columns);
} finally {
  emulator.kill();
  rmSync(folder, { recursive: true, force: true });
}

/** Installs what `npm run pack` makes, and returns the path of the program. */
function installTarball() {
  const build = join(import.meta.dirname, '../../.config');
  execFileSync(process.execPath, [join(build, 'stage.mjs')]);
  execFileSync(process.execPath, [join(build, 'pack.mjs'), folder]);
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'));
  const args = ['install', '--offline', '--no-audit', '--no-fund', '--prefix', folder, join(folder, tarball)];
  execFileSync('npm', args, { env: own });
  return join(folder, 'node_modules/runctl/bin/runctl.js');
}

/** Milliseconds from the start of a process to its end. */
async function run(node, args, journal) {
  const start = performance.now();
  const child = spawn(node, args, { env: environmentOf(journal), stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.resume();
  const errors = text(child.stderr);
  const [status] = await once(child, 'exit');
  const ms = performance.now() - start;
  if (status !== 0) throw new Error(`${node} ${args.join(' ')} ended with ${status}: ${await errors}`);
  return ms;
}

/** The most memory that a process had, in MB, as Linux tells it while the process runs; elsewhere NaN. */
async function peakOf(node, args, journal) {
  let peak = existsSync('/proc/self/status') ? 0 : Number.NaN;
  const child = spawn(node, args, { env: environmentOf(journal), stdio: 'ignore' });
  while (peak >= 0 && child.exitCode === null) {
    const [, kilobytes] = /VmHWM:\s*(\d+)/.exec(statusOf(child.pid)) ?? [];
    peak = Math.max(peak, Number(kilobytes ?? 0) / 1024);
    await setImmediate();
  }
  return peak;
}

function statusOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return '';
  }
}

function report(columns) {
  const versions = columns.map(({ node }) => execFileSync(node, ['--version'], { encoding: 'utf8' }).trim().slice(1));
  const row = (cells) => console.log(`| ${cells.join(' | ')} |`);
  console.log(`\nLower quartiles of ${runs} interleaved runs: × empty script (ms, peak MB)\n`);
  row(['command', ...versions.map((version) => `Node ${version}`)]);
  row(['---', ...versions.map(() => '---')]);
  for (const name of Object.keys(cases)) {
    const cellOf = ({ times, peaks }) => {
      const ms = lowerQuartileOf(times[name]);
      const ratio = ms / lowerQuartileOf(times['empty script']);
      return `${ratio.toFixed(2)} (${ms.toFixed(0)}, ${peaks[name].toFixed(0)})`;
    };
    row([name, ...columns.map(cellOf)]);
  }
}

function lowerQuartileOf(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 4)];
}
