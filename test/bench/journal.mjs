// What a journal costs the commands that read it: CPU of the whole process, with no journal, an empty one, and with 10,000
// and 100,000 runs of a year. `npm run bench -- journal [rounds]`; the columns are interleaved.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const rounds = Number(process.argv[2] ?? 5);
const days = 365;
const automations = 50;
const program = join(import.meta.dirname, '../../bin/runctl.js');
const folder = mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), 'journal-bench-'));
const uuid = (kind, n) => `${kind}0000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

const emulator = spawn(process.execPath, [program, 'emulator', '--quiet'], { stdio: ['ignore', 'pipe', 'inherit'] });
const settings = {};
for await (const line of createInterface({ input: emulator.stdout })) {
  const [, name, value] = /^export (\w+)=(.*)$/.exec(line) ?? [];
  if (name) settings[name] = value;
  if (name === 'RUNCTL_PROJECT') break;
}

let names = 0;
const commands = {
  '--version': () => ['--version'],
  trigger: () => ['trigger', `new-${++names}`],
  'trigger, a new idempotency key': () => ['trigger', `new-${++names}`, '--idempotency-key', `key-${names}`],
  list: () => ['list'],
  'list --status FAILED': () => ['list', '--status', 'FAILED'],
  'list --status TIMED_OUT, of which there is none': () => ['list', '--status', 'TIMED_OUT'],
  'list --status NOT_FOUND, of which there is none': () => ['list', '--status', 'NOT_FOUND'],
  'list --status RUNNING, of which there is none': () => ['list', '--status', 'RUNNING'],
  'list --status UNKNOWN, of which there is none': () => ['list', '--status', 'UNKNOWN'],
  'list --status FAILED -q, all of a year': () => ['list', '--status', 'FAILED', '-q'],
  'list --status COMPLETED -q, all of a year': () => ['list', '--status', 'COMPLETED', '-q'],
  'list --status with three': () => ['list', '--status', 'RUNNING,TIMED_OUT,UNKNOWN'],
  'list -q, all of a year': () => ['list', '-q'],
  'list --since 400d, all of a year': () => ['list', '--since', '400d'],
  'list of an automation that is unknown': () => ['list', 'nobody'],
  'watch of the newest run': (runs) => ['watch', uuid(3, runs - 1), '--timeout', '1s'],
  'status of the oldest run': () => ['status', uuid(3, 0)],
  'status of a run that is unknown': () => ['status', `job-1/${uuid(5, 0)}`],
  'recover --dry-run': () => ['recover', '--dry-run'],
  'watch --all': () => ['watch', '--all', '--timeout', '1s'],
  completion: () => ['__complete', 'status', ''],
};

try {
  const columns = {
    'no journal': { runs: 0, state: '/proc/nowhere' },
    'empty journal': { runs: 0, state: fill(0) },
    '10,000 runs': { runs: 10_000, state: fill(10_000) },
    '100,000 runs': { runs: 100_000, state: fill(100_000) },
  };
  const leastMs = {};
  for (let round = 0; round < rounds; round++) {
    for (const [command, argvOf] of Object.entries(commands)) {
      leastMs[command] ??= {};
      for (const [column, { runs, state }] of Object.entries(columns)) {
        const tookMs = cpuMsOf(argvOf(runs), state);
        leastMs[command][column] = Math.min(tookMs, leastMs[command][column] ?? tookMs);
      }
    }
  }
  console.table(leastMs);
} finally {
  emulator.kill();
  rmSync(folder, { recursive: true });
}

/** User and system time of the whole process, in ms. */
function cpuMsOf(argv, state) {
  const script = 'TIMEFORMAT="%U %S"; time "$@" >/dev/null 2>&1';
  const env = { PATH: process.env.PATH, RUNCTL_STATE_DIR: state, RUNCTL_CONFIG_DIR: folder, ...settings };
  const command = ['--norc', '-c', script, 'bash', process.execPath, program, ...argv];
  const { stderr } = spawnSync('bash', command, { env, encoding: 'utf8' });
  const [user, system] = stderr.trim().split(' ').map(Number);
  if (Number.isNaN(user + system)) throw new Error(`runctl ${argv.join(' ')} has no time: ${stderr}`);
  return Math.round((user + system) * 1000);
}

/** Three records a run, in files of 256 KiB, as the journal writes them. Returns the state folder. */
function fill(runs) {
  const state = join(folder, String(runs));
  mkdirSync(state);
  const nowMs = Date.now();
  let number = 0;
  let text = '';
  const write = () => {
    writeFileSync(join(state, number === 0 ? 'journal.jsonl' : `journal-${number}.jsonl`), text, { mode: 0o600 });
    number += 1;
    text = '';
  };
  for (let n = 0; n < runs; n++) {
    const startedMs = nowMs - ((runs - n) * days * 86_400_000) / runs;
    const tookMs = 60_000 + ((n * 7919) % 600_000);
    const iso = (ms) => new Date(ms).toISOString();
    const target = `automation/${settings.RUNCTL_PROJECT}/job-${n % automations}`;
    const append = (type, atMs, fields) => {
      const record = { schema: 1, at: iso(atMs), type, baseUrl: settings.RUNCTL_BASE_URL, target, ...fields };
      text += `\n${JSON.stringify(record)}\n`;
    };
    const idempotencyKey = uuid(2, n);
    const run = { executionId: uuid(3, n), startedAt: iso(startedMs) };
    const attempt = { attempt: uuid(4, n), account: 'c0ffee00', body: '{}', userProvided: false };
    append('triggered', startedMs, { idempotencyKey, ...attempt, process: 'machine/f00d 4711 123456', first: true });
    append('accepted', startedMs, { idempotencyKey, ...run, status: 'RUNNING', account: 'c0ffee00', first: true });
    const completedAt = iso(startedMs + tookMs);
    const status = n % 97 === 0 ? 'FAILED' : 'COMPLETED';
    append('status', startedMs + tookMs, { ...run, status, completedAt, creditsCharged: 12 });
    if (text.length > 256 * 1024) write();
  }
  write();
  return state;
}
