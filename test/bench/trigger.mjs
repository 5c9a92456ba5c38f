// What the journal costs a trigger, and how fast the program answers from a journal of 100,000 records.
// `npm run bench -- trigger [records] [rounds]`; medians of interleaved runs, in milliseconds.
import { spawn, spawnSync } from 'node:child_process';
import {
  fdatasyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { buildSync } from 'esbuild';

const [records = 100_000, rounds = 25] = process.argv.slice(2).map(Number);
const program = join(import.meta.dirname, '../../bin/runctl.js');
const folder = mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), 'runctl-bench-'));
const { openJournal } = bundled('journal/journal');
const { createTriggerRecord } = bundled('journal/trigger-record');

const emulator = spawn(process.execPath, [program, 'emulator', '--quiet'], { stdio: ['ignore', 'pipe', 'inherit'] });
const env = {};
for await (const line of createInterface({ input: emulator.stdout })) {
  const [, name, value] = /^export (\w+)=(.*)$/.exec(line) ?? [];
  if (name) env[name] = value;
  if (name === 'RUNCTL_PROJECT') break;
}

const hourMs = 3_600_000;
let keys = 0;
const baseUrl = env.RUNCTL_BASE_URL;
const uuid = (kind, n) => `${kind}0000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
const targetOf = (n) => ({ family: 'automation', projectId: env.RUNCTL_PROJECT, automationName: `job-${n % 50}` });
const keyOf = (n) => ({ baseUrl, target: targetOf(n), idempotencyKey: uuid(2, n) });
const triggerOf = (n) => ({ ...keyOf(n), account: 'c0ffee00', body: '{}', userProvided: false, isRepeat: false });

try {
  fill('full', Math.round(records / 3));
  fill('busy', Math.round(records / 3));
  triggers(join(folder, 'busy'));
  answers(join(folder, 'full'), join(folder, 'busy'));
} finally {
  emulator.kill();
  rmSync(folder, { recursive: true, force: true });
}

/** What is done for a trigger, in this process; and the whole program, with a journal and without. */
function triggers(full) {
  const recording = (state) => {
    const journal = openJournal({ folder: state, nowMs: Date.now, onTrouble() {} });
    let n = 1_000_000;
    return () => {
      const record = createTriggerRecord(journal, triggerOf(++n));
      record.sending();
      journal.unresolvedTriggers({ baseUrl, target: targetOf(n) });
      record.started({ executionId: uuid(3, n), status: 'RUNNING', startedAt: new Date().toISOString() });
    };
  };
  let name = 0;
  const trigger = (state) => () => runctl(['trigger', `bench-${++name}`, '-q'], state);
  const none = '/proc/nowhere';
  const plain = openSync(join(folder, 'plain'), 'a');
  const line = `${JSON.stringify({ ...keyOf(0), body: '{}' })}\n`;
  print('The records of a trigger, in process', {
    'the least: two lines, one fdatasync': () => {
      writeSync(plain, line);
      fdatasyncSync(plain);
      writeSync(plain, line);
    },
    'an empty journal': recording(join(folder, 'small')),
    [`a journal of ${records}`]: recording(full),
  });
  print('The program: trigger', {
    'no journal can be written': trigger(none),
    'an empty journal': trigger(join(folder, 'empty')),
    [`a journal of ${records}`]: trigger(full),
  });
}

/** What is read of the full journal, beside the plainest way to read it all. */
function answers(full, busy) {
  const fresh = () => openJournal({ folder: full, nowMs: Date.now, onTrouble: console.error });
  print(`In process, of ${records} records`, {
    'readFileSync and JSON.parse of every line': () => parseAll(full),
    'the first page': () => take(fresh().runs({ baseUrl }), 20),
    'every run': () => take(fresh().runs({ baseUrl }), Number.POSITIVE_INFINITY),
    'open triggers (recover)': () => fresh().unresolvedTriggers({ baseUrl }),
    'a run by its id, the newest': () => fresh().find(uuid(3, Math.round(records / 3) - 1), { baseUrl }),
    'a run by its id, the oldest': () => fresh().find(uuid(3, 0), { baseUrl }),
    'a run by its id, not there': () => fresh().find(uuid(9, 0), { baseUrl }),
    'a key that was not used before': () => fresh().findKey({ ...keyOf(0), idempotencyKey: uuid(9, 0) }),
  });
  print(`The program, of ${records} records`, {
    '--version': () => runctl(['--version'], full),
    'list, no journal yet': () => runctl(['list'], join(folder, 'none')),
    list: () => runctl(['list'], full),
    'list --automation job-7 --json': () => runctl(['list', '--automation', 'job-7', '--json'], full),
    'list --status FAILED (none)': () => runctl(['list', '--status', 'FAILED'], full),
    'list --limit 1000000 --json': () => runctl(['list', '--limit', '1000000', '--json'], full),
    'recover --dry-run': () => runctl(['recover', '--dry-run'], full),
    'watch --all (all have ended)': () => runctl(['watch', '--all'], full),
    'trigger --idempotency-key, a new one': () =>
      runctl(['trigger', `keyed-${++keys}`, '--idempotency-key', `key-${keys}`, '-q'], busy),
    completion: () => runctl(['__complete', 'status', ''], full),
  });
}

function print(title, cases) {
  const times = Object.entries(cases).map(([name, action]) => ({ name, action, ms: [] }));
  // The first round fills caches and is not counted.
  for (let round = 0; round <= rounds; round++) {
    for (const { action, ms } of times) {
      const startMs = performance.now();
      action();
      if (round > 0) ms.push(performance.now() - startMs);
    }
  }
  console.log(`\n| ${title} | ms | beside the first |\n| --- | --- | --- |`);
  const [{ ms: firstMs }] = times;
  for (const { name, ms } of times) {
    // Round by round, so that what else the machine does at the time counts for both.
    const besideMs = medianOf(ms.map((one, round) => one - firstMs[round]));
    console.log(`| ${name} | ${medianOf(ms).toFixed(1)} | ${besideMs.toFixed(1)} |`);
  }
}

function medianOf(numbers) {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1];
}

function runctl(args, state) {
  const runEnv = { ...env, RUNCTL_STATE_DIR: state, RUNCTL_CONFIG_DIR: join(folder, 'config') };
  const { status, stderr } = spawnSync(process.execPath, [program, ...args], { env: runEnv, maxBuffer: 2 ** 28 });
  if (status !== 0) throw new Error(`runctl ${args.join(' ')} ended with ${status}: ${stderr}`);
}

function take(iterable, count) {
  const taken = [];
  for (const one of iterable) if (taken.push(one) >= count) break;
  return taken;
}

function parseAll(state) {
  for (const name of readdirSync(state)) {
    for (const line of readFileSync(join(state, name), 'utf8').split('\n')) if (line !== '') JSON.parse(line);
  }
}

/** Runs of a year, three records each, written as the journal writes them: copies of its own lines. */
function fill(name, count) {
  const state = join(folder, name);
  const sample = join(folder, `sample-of-${name}`);
  const journal = openJournal({ folder: sample, nowMs: () => 0, onTrouble: console.error });
  const record = createTriggerRecord(journal, triggerOf(0));
  const run = { executionId: uuid(3, 0), startedAt: new Date(0).toISOString() };
  record.sending();
  record.started({ ...run, status: 'RUNNING' });
  const end = { completedAt: run.startedAt, creditsCharged: 1.25, status: 'COMPLETED' };
  journal.append({ type: 'status', baseUrl, target: targetOf(0), ...run, ...end });
  const lines = readFileSync(join(sample, 'journal.jsonl'), 'utf8');
  const chunks = [];
  for (let n = 0; n < count; n++) {
    const at = new Date(Date.now() - ((count - n) / count) * 365 * 24 * hourMs).toISOString();
    const own = lines
      .replaceAll('-000000000000"', `-${String(n).padStart(12, '0')}"`)
      .replaceAll('/job-0"', `/job-${n % 50}"`);
    chunks.push(own.replaceAll(run.startedAt, at));
  }
  mkdirSync(state);
  // Of 1 MiB, as the journal makes them.
  const perFile = 1024;
  for (let number = 0; number * perFile < count; number++) {
    const file = number === 0 ? 'journal.jsonl' : `journal-${number}.jsonl`;
    writeFileSync(join(state, file), chunks.slice(number * perFile, (number + 1) * perFile).join(''));
    // Each reading adds a few full files to the checkpoint.
    openJournal({ folder: state, nowMs: Date.now, onTrouble: console.error }).unresolvedTriggers({ baseUrl });
  }
}

function bundled(name) {
  const outfile = join(folder, `${name.replace('/', '-')}.cjs`);
  const source = join(import.meta.dirname, `../../src/${name}.ts`);
  buildSync({ entryPoints: [source], outfile, bundle: true, platform: 'node', format: 'cjs' });
  return createRequire(import.meta.url)(outfile);
}
