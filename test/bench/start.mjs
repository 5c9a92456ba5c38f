// How fast the built program starts: medians of interleaved runs, and what they are to an empty script of the same Node.
// `npm run bench:start -- [--runs 20] [--node <path>] [--program <path of a runctl.js>]`
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { setImmediate } from 'node:timers/promises';
import { parseArgs } from 'node:util';

const { values: options } = parseArgs({
  options: {
    runs: { type: 'string', default: '20' },
    node: { type: 'string', default: process.execPath },
    program: { type: 'string', default: join(import.meta.dirname, '../../bin/runctl.js') },
  },
});
const runs = Number(options.runs);

const folder = mkdtempSync(join(tmpdir(), 'runctl-bench-'));
const emptyScript = join(folder, 'empty.cjs');
writeFileSync(emptyScript, '');

// In a process of its own: one that answers in ours could not answer while we wait for the program.
const emulator = spawn(options.node, [options.program, 'emulator', '--quiet'], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const settings = {};
for await (const line of createInterface({ input: emulator.stdout })) {
  const [, name, value] = /^export (\w+)=(.*)$/.exec(line) ?? [];
  settings[name] = value;
  if (name === 'RUNCTL_PROJECT') break;
}

const folders = { RUNCTL_CONFIG_DIR: join(folder, 'config'), RUNCTL_STATE_DIR: join(folder, 'state') };
const home = join(folder, 'home');
mkdirSync(home);
const fromEnvironment = { ...settings, ...folders, RUNCTL_CONFIG_DIR: join(folder, 'none') };
mkdirSync(folders.RUNCTL_CONFIG_DIR);
const profile = {
  baseUrl: settings.RUNCTL_BASE_URL,
  apiKey: settings.RUNCTL_API_KEY,
  project: settings.RUNCTL_PROJECT,
};
writeFileSync(join(folders.RUNCTL_CONFIG_DIR, 'config.json'), JSON.stringify({ profiles: { default: profile } }), {
  mode: 0o600,
});

let triggers = 0;
const node = (script, args, env = {}) => ({ file: options.node, args: [script, ...args], env });
const runctl = (args, env) => () => node(options.program, args, env);

/** Each makes one run. */
const cases = {
  'empty script': () => node(emptyScript, []),
  '--version': runctl(['--version']),
  '--help': runctl(['--help']),
  'explain 12': runctl(['explain', '12']),
  completion: runctl(['__complete', 'status', ''], fromEnvironment),
  'status, key from the environment': runctl(['status'], fromEnvironment),
  'status, key from the file': runctl(['status'], folders),
  // A name of its own: one that is running would be refused.
  trigger: () => node(options.program, ['trigger', `bench-${++triggers}`], fromEnvironment),
};
const get = ['-s', '-o', '/dev/null', settings.RUNCTL_BASE_URL];
if (isInstalled('curl')) cases['curl, one GET'] = () => ({ file: 'curl', args: get, env: {} });
if (isInstalled('gh')) cases['gh --version'] = () => ({ file: 'gh', args: ['--version'], env: {} });

const times = Object.fromEntries(Object.keys(cases).map((name) => [name, []]));
const peaks = {};
try {
  run(cases.trigger());
  // The first round fills the caches of the disk and is not counted.
  for (let round = 0; round <= runs; round++) {
    for (const [name, make] of Object.entries(cases)) {
      const ms = run(make());
      if (round > 0) times[name].push(ms);
    }
  }
  for (const [name, make] of Object.entries(cases)) {
    peaks[name] = medianOf([await peakOf(make()), await peakOf(make()), await peakOf(make())]);
  }
  report();
} finally {
  emulator.kill();
  rmSync(folder, { recursive: true, force: true });
}

/** Milliseconds from the start of a process to its end. */
function run({ file, args, env }) {
  const start = process.hrtime.bigint();
  const { status, stderr } = spawnSync(file, args, { env: { PATH: process.env.PATH, HOME: home, ...env } });
  const ms = Number(process.hrtime.bigint() - start) / 1e6;
  if (status !== 0) throw new Error(`${file} ${args.join(' ')} ended with ${status}: ${stderr}`);
  return ms;
}

/** The most memory that a process had, in MB, as Linux tells it while the process runs; elsewhere NaN. */
async function peakOf({ file, args, env }) {
  let peak = existsSync('/proc/self/status') ? 0 : Number.NaN;
  const child = spawn(file, args, { env: { PATH: process.env.PATH, HOME: home, ...env }, stdio: 'ignore' });
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

function report() {
  const base = medianOf(times['empty script']);
  const version = spawnSync(options.node, ['--version'], { encoding: 'utf8' }).stdout.trim();
  console.log(`Node ${version.slice(1)}, medians of ${runs} interleaved runs\n`);
  console.log('| command | ms | × empty script | peak MB |\n| --- | --- | --- | --- |');
  for (const [name, all] of Object.entries(times)) {
    const ms = medianOf(all);
    console.log(`| ${name} | ${ms.toFixed(1)} | ${(ms / base).toFixed(2)} | ${peaks[name].toFixed(0)} |`);
  }
}

function medianOf(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
}

function isInstalled(file) {
  return spawnSync(file, ['--version'], { stdio: 'ignore' }).error === undefined;
}
