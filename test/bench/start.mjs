// How fast the built program starts: medians of interleaved runs, and what they are to an empty script of the same Node.
// Also over TLS, beside the service and 20 ms away from it, and on a terminal. Nothing of the environment is inherited.
// `npm run bench -- start [--runs 20] [--node <path or version>] [--program <path of a runctl.js>]`
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { spawn as spawnOnTerminal } from '@lydell/node-pty';
import { startDistantService } from './distant-service.mjs';
import { installNode } from './install-node.mjs';

const { values: options } = parseArgs({
  options: {
    runs: { type: 'string', default: '20' },
    node: { type: 'string', default: process.execPath },
    program: { type: 'string', default: join(import.meta.dirname, '../../bin/runctl.js') },
  },
});
const runs = Number(options.runs);

const folder = mkdtempSync(join(tmpdir(), 'runctl-bench-'));
if (/^\d[\d.]*$/.test(options.node)) options.node = installNode(options.node, folder);
const emptyScript = join(folder, 'empty.cjs');
writeFileSync(emptyScript, '');

// In a process of its own: one that answers in ours could not answer while we wait for the program.
const roundTripMs = 20;
const emulator = spawn(options.node, [options.program, 'emulator', '--quiet'], {
  env: {},
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

const service = await startDistantService(Number(new URL(settings.RUNCTL_BASE_URL).port), roundTripMs, folder);
const authority = join(folder, 'authority.pem');
writeFileSync(authority, service.ca);
/** The same service over TLS. Node reads a certificate that is not of the usual ones from a file. */
const over = (port) => ({
  ...fromEnvironment,
  RUNCTL_BASE_URL: `https://127.0.0.1:${port}`,
  NODE_EXTRA_CA_CERTS: authority,
});
const [near, far] = [over(service.near), over(service.far)];

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
if (isInstalled('curl')) cases['curl, one GET'] = curl(settings.RUNCTL_BASE_URL);
cases['status on a terminal'] = () => ({ ...runctl(['status'], fromEnvironment)(), onTerminal: true });
cases['status over TLS'] = runctl(['status'], near);
if (isInstalled('curl')) cases['curl over TLS'] = curl(near.RUNCTL_BASE_URL);
cases[`status over TLS, ${roundTripMs} ms away`] = runctl(['status'], far);
if (isInstalled('curl')) cases[`curl over TLS, ${roundTripMs} ms away`] = curl(far.RUNCTL_BASE_URL);
if (isInstalled('gh')) cases['gh --version'] = () => ({ file: 'gh', args: ['--version'], env: {} });

const times = Object.fromEntries(Object.keys(cases).map((name) => [name, []]));
const peaks = {};
try {
  // A status is that of the last run at its base URL.
  for (const env of [fromEnvironment, near, far])
    await run(node(options.program, ['trigger', `bench-${++triggers}`], env));
  // The first round fills the caches of the disk and is not counted.
  for (let round = 0; round <= runs; round++) {
    for (const [name, make] of Object.entries(cases)) {
      const ms = await run(make());
      if (round > 0) times[name].push(ms);
    }
  }
  for (const [name, make] of Object.entries(cases)) {
    peaks[name] = medianOf([await peakOf(make()), await peakOf(make()), await peakOf(make())]);
  }
  report();
} finally {
  emulator.kill();
  service.close();
  rmSync(folder, { recursive: true, force: true });
}

/** Milliseconds from the start of a process to its end; its output goes to a pipe, or to a terminal. */
async function run({ file, args, env, onTerminal }) {
  const own = { PATH: process.env.PATH, HOME: home, ...env };
  const start = performance.now();
  let [status, said] = [];
  if (onTerminal) {
    const terminal = spawnOnTerminal(file, args, { env: own, cols: 80, rows: 24 });
    status = await new Promise((resolve) => terminal.onExit(({ exitCode }) => resolve(exitCode)));
  } else {
    const child = spawn(file, args, { env: own, stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.resume();
    const errors = text(child.stderr);
    [status] = await once(child, 'exit');
    said = await errors;
  }
  const ms = performance.now() - start;
  if (status !== 0) throw new Error(`${file} ${args.join(' ')} ended with ${status}: ${said}`);
  return ms;
}

function curl(url) {
  const args = ['-s', '-o', '/dev/null', '--cacert', authority, url];
  return () => ({ file: 'curl', args, env: {} });
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
