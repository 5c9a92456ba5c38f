// What a follower costs: its memory while runs pass through, and beside so many processes that watch a run each.
// Run with `npm run build && node test/bench/follower.mjs [runs]`.
import { spawn } from 'node:child_process';
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const runs = Number(process.argv[2] ?? 20_000);
const watchers = 40;
const atOnce = 250;
const work = mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), 'follower-bench-'));
const entry = join(import.meta.dirname, '../../bin/runctl.js');
const projectId = '00000000-0000-4000-8000-000000000001';
const idOf = (n) => `30000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

/** Runs whose number is below this have finished. */
let finished = 0;
let results = 0;
const server = createServer((request, response) => {
  const [, id = ''] = /executions\/([\da-f-]+)/.exec(request.url) ?? [];
  const isFinished = Number(id.slice(-12)) < finished;
  const at = new Date().toISOString();
  const times = { startedAt: at, ...(isFinished && { completedAt: at, creditsCharged: 12 }) };
  if (request.url.endsWith('/result')) results += 1;
  response.setHeader('content-type', 'application/json');
  response.end(
    JSON.stringify({ executionId: id, status: isFinished ? 'COMPLETED' : 'RUNNING', output: null, ...times }),
  );
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const baseUrl = `http://127.0.0.1:${server.address().port}`;

const env = (folder) => ({
  ...{
    PATH: process.env.PATH,
    RUNCTL_BASE_URL: baseUrl,
    RUNCTL_API_KEY: 'bench-key-123456',
    RUNCTL_PROJECT: projectId,
  },
  ...{ RUNCTL_STATE_DIR: join(work, folder), RUNCTL_CONFIG_DIR: work },
});
const start = (folder, ...argv) => spawn(process.execPath, [entry, ...argv], { env: env(folder), stdio: 'ignore' });
const memoryOf = ({ pid }) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
const total = (processes) => processes.reduce((sum, each) => sum + memoryOf(each), 0).toFixed(0);

function accept(folder, n) {
  const at = new Date().toISOString();
  const target = `automation/${projectId}/job-${n % 50}`;
  const record = { schema: 1, at, type: 'accepted', baseUrl, target, idempotencyKey: `key-${n}`, account: 'c0ffee00' };
  const line = `\n${JSON.stringify({ ...record, executionId: idOf(n), startedAt: at, status: 'RUNNING', first: true })}\n`;
  // The follower begins a new file now and then.
  const numbers = readdirSync(join(work, folder)).map((name) => Number(/^journal-(\d+)/.exec(name)?.[1] ?? 0));
  const number = Math.max(...numbers);
  appendFileSync(join(work, folder, number === 0 ? 'journal.jsonl' : `journal-${number}.jsonl`), line);
}

// Forty runs: one follower beside forty watches.
const follower = start('state', 'watch', '--all', '--follow', '--quiet', '--rate', '1000');
await sleep(1_500);
for (let n = 0; n < watchers; n++) accept('state', n);
await sleep(4_000);
console.log(`one follower of ${watchers} runs: ${total([follower])} MB`);
const others = Array.from({ length: watchers }, (_, n) => start('state', 'watch', `${projectId}/job-${n}/${idOf(n)}`));
await sleep(15_000);
console.log(`${watchers} watches of a run each: ${total(others)} MB`);
for (const each of others) each.kill('SIGTERM');

// Then many pass through.
const rows = [];
finished = Number.POSITIVE_INFINITY;
for (let n = watchers; n < runs; n++) {
  accept('state', n);
  while (n - results > atOnce) await sleep(20);
  if (n % Math.ceil(runs / 10) === 0) rows.push({ runs: results, megabytes: Number(total([follower])) });
}
while (results < runs) await sleep(50);
rows.push({ runs: results, megabytes: Number(total([follower])) });
console.table(rows);
const cpu = readFileSync(`/proc/${follower.pid}/stat`, 'utf8').split(') ')[1].split(' ');
console.log(`${((Number(cpu[11]) + Number(cpu[12])) / 100).toFixed(0)} s of CPU in all`);
follower.kill('SIGTERM');
server.close();
await sleep(500);
rmSync(work, { recursive: true });
