// CPU time of `stats` and `check` with 100,000 runs in the journal, of which a fifth finished in the last 30 days.
// Run with `npm run bench -- stats [rounds]`; the rows are interleaved.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const runs = 100_000;
const days = 150;
const automations = 50;
const rounds = Number(process.argv[2] ?? 20);
const work = mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), 'statistics-bench-'));
const entry = join(import.meta.dirname, '../../bin/runctl.js');
const baseUrl = 'https://api.example.com';
const projectId = '00000000-0000-4000-8000-000000000001';
const env = {
  ...{ PATH: process.env.PATH, RUNCTL_STATE_DIR: work, RUNCTL_CONFIG_DIR: work },
  ...{ RUNCTL_BASE_URL: baseUrl, RUNCTL_API_KEY: 'bench-key-123456', RUNCTL_PROJECT: projectId },
};
fill();

const commands = [
  ['--version'],
  ['stats'],
  ['stats', '--since', '365d'],
  ['check', 'job-7', '--within', '26h'],
  ['check', 'nobody', '--within', '26h'],
];
const tookMs = new Map(commands.map((argv) => [argv, []]));
for (let round = 0; round < rounds; round++) for (const [argv, took] of tookMs) took.push(cpuMsOf(argv));
console.table(
  [...tookMs].map(([argv, took]) => {
    const sorted = took.sort((a, b) => a - b);
    return { command: argv.join(' '), 'least ms': sorted[0], 'median ms': sorted[rounds >> 1] };
  }),
);
rmSync(work, { recursive: true });

/** User and system time of the whole process. */
function cpuMsOf(argv) {
  const script = 'TIMEFORMAT="%U %S"; time "$@" >/dev/null 2>&1';
  const { stderr } = spawnSync('bash', ['--norc', '-c', script, 'bash', process.execPath, entry, ...argv], {
    env,
    encoding: 'utf8',
  });
  const [user, system] = stderr.trim().split(' ').map(Number);
  return Math.round((user + system) * 1000);
}

/** Three records a run, in files of 1 MiB, as the journal writes them. */
function fill() {
  const uuid = (kind, n) => `${kind}0000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
  const nowMs = Date.now();
  let number = 0;
  let text = '';
  const write = () => writeFileSync(join(work, number === 0 ? 'journal.jsonl' : `journal-${number}.jsonl`), text);
  for (let n = 0; n < runs; n++) {
    const startedMs = nowMs - ((runs - n) * days * 86_400_000) / runs;
    const tookMs = 60_000 + ((n * 7919) % 600_000);
    const iso = (ms) => new Date(ms).toISOString();
    const common = { baseUrl, target: `automation/${projectId}/job-${n % automations}` };
    const append = (type, atMs, fields) => {
      text += `\n${JSON.stringify({ schema: 1, at: iso(atMs), type, ...common, ...fields })}\n`;
    };
    const idempotencyKey = uuid(2, n);
    const run = { executionId: uuid(3, n), startedAt: iso(startedMs) };
    const attempt = { attempt: uuid(4, n), account: 'c0ffee00', body: '{}', userProvided: false };
    append('triggered', startedMs, { idempotencyKey, ...attempt, process: 'machine/f00d 4711 123456', first: true });
    append('accepted', startedMs, { idempotencyKey, ...run, status: 'RUNNING', account: 'c0ffee00', first: true });
    const status = n % 97 === 0 ? 'FAILED' : 'COMPLETED';
    append('status', startedMs + tookMs, {
      ...run,
      status,
      completedAt: iso(startedMs + tookMs),
      creditsCharged: 12,
    });
    if (text.length <= 1024 * 1024) continue;
    write();
    number += 1;
    text = '';
  }
  write();
}
