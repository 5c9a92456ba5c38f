// `npm run bench -- rate`: what a service receives from one process, by its own log, and what the process makes of a
// service that is slow or far away. `RUNCTL_ROOT` names another checkout to measure.
import { fork, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const project = '00000000-0000-4000-8000-000000000001';
const idOf = (index) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;

// The service, in a process of its own: answers after `holdMs` until `quickAfterMs`, and logs when each request arrived.
if (process.argv[2] === 'service') {
  let [arrivals, sinceMs, rule] = [[], 0, {}];
  const server = createServer((request, response) => {
    const atMs = performance.now();
    arrivals.push(atMs - sinceMs);
    request.resume();
    const holdMs = atMs - sinceMs < (rule.quickAfterMs ?? Number.POSITIVE_INFINITY) ? (rule.holdMs ?? 0) : 0;
    const status = request.method === 'POST' ? 201 : 200;
    const executionId = request.method === 'POST' ? idOf(arrivals.length) : request.url.split('/').at(-1);
    const body = JSON.stringify({ executionId, status: 'RUNNING', startedAt: new Date().toISOString() });
    setTimeout(() => response.writeHead(status, { 'content-type': 'application/json' }).end(body), holdMs);
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1', () => process.send(server.address().port));
  process.on('message', (message) => {
    if (message === 'log') process.send(arrivals);
    else [arrivals, sinceMs, rule] = [[], performance.now(), message];
  });
} else await measureAll();

async function measureAll() {
  const root = process.env.RUNCTL_ROOT ?? join(import.meta.dirname, '../..');
  const folder = mkdtempSync(join(tmpdir(), 'runctl-rate-'));
  const service = fork(import.meta.filename, ['service']);
  const told = () => new Promise((resolve) => service.once('message', resolve));
  const port = await told();
  // Loaded here, since it would take the messages to the service for its own.
  const { startDistantService } = await import('./distant-service.mjs');
  const far = {};
  for (const ms of [20, 300]) far[ms] = await startDistantService(port, ms, folder);
  const caFile = join(folder, 'ca.pem');
  const watchOf = (runs, seconds, ...flags) => ({
    args: [
      'watch',
      ...Array.from({ length: runs }, (_, n) => `${project}/job-${n}/${idOf(n)}`),
      '--rate',
      '10',
      '--timeout',
      `${seconds}s`,
      ...flags,
    ],
  });
  const scenarios = {
    'held for 6 s, then quick; 80 runs': {
      ...watchOf(80, 45, '--interval', '20s'),
      holdMs: 6000,
      quickAfterMs: 20_000,
    },
    'answers of 3 s, timeout 5 s; 60 runs': {
      ...watchOf(60, 30, '--interval', '5s', '--request-timeout', '5s'),
      holdMs: 3000,
    },
    'the same, --give-up-after 10s': {
      ...watchOf(60, 30, '--interval', '5s', '--request-timeout', '5s', '--give-up-after', '10s'),
      holdMs: 3000,
    },
    'answers of 10 s; 60 runs': { ...watchOf(60, 60), holdMs: 10_000 },
    'TLS 20 ms away; 60 runs': { ...watchOf(60, 15, '--interval', '5s'), awayMs: 20 },
    'TLS 300 ms away; 60 runs': { ...watchOf(60, 15, '--interval', '5s'), awayMs: 300 },
    'TLS 300 ms away; 40 triggers': {
      args: ['trigger', ...Array.from({ length: 40 }, (_, n) => `${project}/job-${n}`)],
      awayMs: 300,
    },
    '5000 runs, --rate 100': { ...watchOf(5000, 30, '--rate', '100') },
  };
  console.log(
    ['', 'most in a second', 'requests', 'attempt_failed', 'exit', 'seconds'].map((cell) => cell.padEnd(18)).join(''),
  );
  for (const [name, { args, awayMs, ...rule }] of Object.entries(scenarios)) {
    if (process.argv[2] && !name.includes(process.argv[2])) continue;
    service.send(rule);
    if (awayMs) writeFileSync(caFile, far[awayMs].ca);
    const startMs = performance.now();
    const child = spawn(process.execPath, [join(root, 'bin/runctl.js'), ...args, '--events'], {
      stdio: ['pipe', 'pipe', 'ignore'],
      env: {
        RUNCTL_BASE_URL: awayMs ? `https://127.0.0.1:${far[awayMs].far}` : `http://127.0.0.1:${port}`,
        RUNCTL_API_KEY: 'a-key-for-the-benchmark',
        RUNCTL_STATE_DIR: join(folder, `state-${Object.keys(scenarios).indexOf(name)}`),
        ...(awayMs && { NODE_EXTRA_CA_CERTS: caFile }),
      },
    });
    child.stdin.end();
    let failed = 0;
    let rest = '';
    child.stdout.on('data', (chunk) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop();
      failed += lines.filter((line) => line.includes('"event":"attempt_failed"')).length;
    });
    const code = await new Promise((resolve) => child.once('close', resolve));
    const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
    const log = told();
    service.send('log');
    const arrivals = (await log).sort((a, b) => a - b);
    const most = Math.max(
      0,
      ...arrivals
        .map((ms, n) => arrivals.findIndex((later, m) => m >= n && later >= ms + 1000) - n)
        .filter((count) => count > 0),
    );
    const cells = [most, arrivals.length, failed, code, seconds];
    console.log(`${name.padEnd(40)}${cells.map((cell) => String(cell).padEnd(18)).join('')}`);
  }
  service.kill();
  for (const { close } of Object.values(far)) close();
  rmSync(folder, { recursive: true, force: true });
}
