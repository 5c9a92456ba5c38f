// `npm run bench -- scale`: many runs followed by one process, against an emulator in another, beside a bare undici loop
// that sends the same requests. Prints CPU, peak memory and how late the looks were.
//   npm run bench -- scale [seconds]
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { forkEmulator } from './fork-emulator.mjs';

const root = join(import.meta.dirname, '../..');
const seconds = Number(process.argv[2] ?? 20);
const folder = mkdtempSync(join(tmpdir(), 'runctl-scale-'));
const intervalMs = 5_000;
const settledAfterMs = intervalMs + 2_000;
const project = '00000000-0000-4000-8000-000000000001';

// The emulator, with the times of its status requests by run.
const emulator = forkEmulator(
  `
      import { startEmulator } from './src/emulator/server.ts';
      const emulator = await startEmulator({ scenario: { automations: { '*': { duration: '3h' } } }, keepsRequests: true });
      process.send({ url: emulator.url, apiKey: emulator.apiKey });
      let from = 0;
      process.on('message', (message) => {
        if (message === 'mark') { from = emulator.requests.length; process.send('marked'); return; }
        const looks = new Map();
        for (const { method, url, atMs } of emulator.requests.slice(from)) {
          if (method !== 'GET') continue;
          const id = url.split('/').at(-1);
          looks.set(id, [...(looks.get(id) ?? []), atMs]);
        }
        process.send([...looks.values()]);
      });`,
  folder,
);

// Writes what a process used, and how much of it by each SIGUSR2, to the file that RUSAGE names.
const usageHook = join(folder, 'usage.cjs');
writeFileSync(
  usageHook,
  `const used = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1000; };
   const marks = [];
   process.on('SIGUSR2', () => marks.push(used()));
   process.on('exit', () => {
     const usage = { cpuMs: used(), marks, megabytes: process.resourceUsage().maxRSS / 1024 };
     require('node:fs').writeFileSync(process.env.RUSAGE, JSON.stringify(usage));
   });`,
);

// The named alternative: the same requests at the same times, and nothing else.
const bareFile = join(folder, 'bare.cjs');
writeFileSync(
  bareFile,
  `const { Pool } = require(${JSON.stringify(join(root, 'node_modules/undici'))});
   const { readFileSync } = require('node:fs');
   const runs = readFileSync(0, 'utf8').trim().split('\\n');
   const pool = new Pool(process.env.RUNCTL_BASE_URL, { connections: 64 });
   process.on('SIGTERM', () => process.exit(0));
   const look = async (path) => {
     const { body } = await pool.request({ method: 'GET', path, headers: { 'x-api-key': process.env.RUNCTL_API_KEY } });
     JSON.parse(await body.text());
     setTimeout(look, ${intervalMs}, path);
   };
   runs.forEach((run, index) => {
     const [project, name, id] = run.split('/');
     setTimeout(look, index * ${intervalMs} / runs.length, '/v0/automation/' + project + '/' + name + '/executions/' + id);
   });`,
);

const told = () => new Promise((resolve) => emulator.once('message', resolve));
const { url, apiKey } = await told();
const ask = (message) => {
  const answer = told();
  emulator.send(message);
  return answer;
};

const runs = [];
for (let index = 0; index < 5000; index++) {
  const response = await fetch(`${url}/v0/automation/${project}/job-${index}/trigger`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: '{}',
  });
  runs.push(`${project}/job-${index}/${(await response.json()).executionId}`);
}

async function measure(command, args, count) {
  const usageFile = join(folder, 'usage.json');
  await ask('mark');
  const child = spawn(
    process.execPath,
    ['--require', usageHook, command, ...args.flatMap((arg) => (arg === '<runs>' ? runs.slice(0, count) : arg))],
    {
      stdio: ['pipe', 'ignore', 'ignore'],
      env: { RUSAGE: usageFile, RUNCTL_BASE_URL: url, RUNCTL_API_KEY: apiKey, RUNCTL_STATE_DIR: join(folder, 'state') },
    },
  );
  child.stdin.end(`${runs.slice(0, count).join('\n')}\n`);
  // By then every run has been looked at, and what is done once for each is done.
  await passed(settledAfterMs);
  child.kill('SIGUSR2');
  await passed(seconds * 1000 - settledAfterMs);
  child.kill('SIGUSR2');
  const looks = await ask('looks');
  child.kill('SIGTERM');
  await new Promise((resolve) => child.once('exit', resolve));
  const { cpuMs, marks, megabytes } = JSON.parse(readFileSync(usageFile, 'utf8'));
  // How much later than the interval a look came, the interval's own jitter (10 %) left out for ours.
  const lags = looks.flatMap((times) => times.slice(1).map((atMs, index) => atMs - times[index] - intervalMs));
  lags.sort((a, b) => a - b);
  const at = (share) => lags[Math.min(lags.length - 1, Math.floor(lags.length * share))] ?? Number.NaN;
  return {
    cpuMs,
    steadyMs: marks[1] - marks[0],
    megabytes,
    requests: looks.flat().length,
    p50: at(0.5),
    p99: at(0.99),
  };
}

const passed = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// A rate that does not bind, since the bare loop has none.
const ours = ['watch', '<runs>', '--interval', `${intervalMs}ms`, '--rate', '1500', '--quiet', '--timeout', '0'];
const cells = [
  'runs',
  'client',
  'requests',
  'CPU of one core',
  'peak MB',
  'late p50 ms',
  'late p99 ms',
  'CPU / bare',
  'once settled',
];
console.log(`${seconds} s each, a look at every run each ${intervalMs / 1000} s, Node ${process.version}\n`);
console.log(cells.map((cell) => cell.padEnd(16)).join(''));
for (const count of [1, 100, 1000, 5000]) {
  const bare = await measure(bareFile, [], count);
  const runctl = await measure(join(root, 'bin/runctl.js'), ours, count);
  for (const [client, figures] of [
    ['bare undici', bare],
    ['runctl', runctl],
  ]) {
    const { cpuMs, steadyMs, megabytes, requests, p50, p99 } = figures;
    const share = `${((cpuMs / (seconds * 1000)) * 100).toFixed(1)} %`;
    const row = [
      count,
      client,
      requests,
      share,
      megabytes.toFixed(0),
      p50.toFixed(0),
      p99.toFixed(0),
      (cpuMs / bare.cpuMs).toFixed(2),
      (steadyMs / bare.steadyMs).toFixed(2),
    ];
    console.log(row.map((cell) => String(cell).padEnd(16)).join(''));
  }
}
emulator.kill();
rmSync(folder, { recursive: true, force: true });
