// What a follower costs: its memory while runs pass through, and beside so many processes that watch a run each.
// Run with `npm run bench -- follower [runs]`; 100,000 runs take some ten minutes.
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const runs = Number(process.argv[2] ?? 100_000);
/** After how many runs the memory is shown. */
const marks = [1_000, 3_000, 10_000, 30_000, 100_000].filter((mark) => mark < runs).concat(runs);
const watchers = 40;
const atOnce = 250;
const fileBytes = 1024 * 1024;
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

const stateFolder = join(work, 'state');
const heapFile = join(work, 'heap');
const env = {
  ...{ PATH: process.env.PATH, RUNCTL_BASE_URL: baseUrl, RUNCTL_API_KEY: 'bench-key-123456' },
  ...{ RUNCTL_PROJECT: projectId, RUNCTL_STATE_DIR: stateFolder, RUNCTL_CONFIG_DIR: work, HEAP_FILE: heapFile },
};
const start = (flags, ...argv) => spawn(process.execPath, [...flags, entry, ...argv], { env, stdio: 'ignore' });
const residentOf = ({ pid }) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
const total = (processes) => Math.round(processes.reduce((sum, each) => sum + residentOf(each), 0));

function cpuSecondsOf({ pid }) {
  const [, fields] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  const [user, system] = fields.split(' ').slice(11);
  return (Number(user) + Number(system)) / 100;
}

/** What is left on its heap after a garbage collection, in megabytes. */
async function heapOf(process) {
  rmSync(heapFile, { force: true });
  process.kill('SIGUSR2');
  while (!existsSync(heapFile) || statSync(heapFile).size === 0) await sleep(20);
  return Math.round(Number(readFileSync(heapFile, 'utf8')) / 1e5) / 10;
}

/** Records a run as a process that has triggered it. */
function accept(n) {
  const at = new Date().toISOString();
  const target = `automation/${projectId}/job-${n % 50}`;
  const record = { schema: 1, at, type: 'accepted', baseUrl, target, idempotencyKey: `key-${n}`, account: 'c0ffee00' };
  const line = `\n${JSON.stringify({ ...record, executionId: idOf(n), startedAt: at, status: 'RUNNING', first: true })}\n`;
  // The follower begins a new file now and then.
  const newest = Math.max(0, ...readdirSync(stateFolder).map((name) => Number(/^journal-(\d+)/.exec(name)?.[1] ?? 0)));
  const pathOf = (number) => join(stateFolder, number === 0 ? 'journal.jsonl' : `journal-${number}.jsonl`);
  const isFull = existsSync(pathOf(newest)) && statSync(pathOf(newest)).size > fileBytes;
  appendFileSync(pathOf(isFull ? newest + 1 : newest), line);
}

// Forty runs: one follower beside forty watches.
const follower = start(
  ['--expose-gc', '--require', join(import.meta.dirname, 'heap-on-signal.cjs')],
  ...['watch', '--follow', '--quiet', '--rate', '1000'],
);
while (!existsSync(stateFolder)) await sleep(50);
await sleep(1_500);
for (let n = 0; n < watchers; n++) accept(n);
await sleep(4_000);
const others = Array.from({ length: watchers }, (_, n) => start([], 'watch', `${projectId}/job-${n}/${idOf(n)}`));
await sleep(15_000);
const begun = others.map(cpuSecondsOf);
const followerBegun = cpuSecondsOf(follower);
await sleep(30_000);
const spent = (seconds) => `${seconds.toFixed(1)} s of CPU in 30 s`;
console.log(
  `one follower of ${watchers} runs: ${total([follower])} MB, ${spent(cpuSecondsOf(follower) - followerBegun)}`,
);
const spentByOthers = others.reduce((sum, each, n) => sum + cpuSecondsOf(each) - begun[n], 0);
console.log(`${watchers} watches of a run each: ${total(others)} MB, ${spent(spentByOthers)}`);
for (const each of others) each.kill('SIGTERM');

// Then many pass through.
const rows = [];
finished = Number.POSITIVE_INFINITY;
for (let n = watchers; n < runs; n++) {
  accept(n);
  while (n - results > atOnce) await sleep(20);
  if (marks.includes(n)) await show();
}
while (results < runs) await sleep(50);
await show();
console.table(rows);
follower.kill('SIGTERM');
server.close();
await sleep(500);
rmSync(work, { recursive: true });

async function show() {
  const resident = total([follower]);
  rows.push({
    runs: results,
    'heap MB': await heapOf(follower),
    'resident MB': resident,
    'CPU s': cpuSecondsOf(follower),
  });
  console.log(JSON.stringify(rows.at(-1)));
}
