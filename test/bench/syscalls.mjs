// Fails, or kills, the built program at the system calls that it makes on its files and sockets, and compares what it says
// with what the service and the files know. Needs strace. `npm run stress -- syscalls [minutes] [seed]`
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const [minutes = 5, seed = Date.now() % 1_000_000] = process.argv.slice(2).map(Number);
const root = join(import.meta.dirname, '../..');
const errors = ['EIO', 'ENOSPC', 'EDQUOT', 'EACCES', 'EROFS', 'EMFILE', 'ENFILE', 'EINTR', 'ENOMEM'];
const hangMs = 10_000;
const atOnce = 3;
const project = '00000000-0000-4000-8000-000000000009';

/** `job` is an automation of one case alone; `known` has a finished run. */
const commands = {
  'trigger --watch': (job) => ['trigger', job, '--watch', '--interval', '1s', ...keyed(job)],
  trigger: (job) => ['trigger', job, ...keyed(job)],
  status: () => ['status', 'known'],
  'config set': () => ['config', 'set', 'project', project],
  recover: () => ['recover', '--give-up-after', '2s'],
  list: () => ['list'],
};
const keyed = (job) => ['--idempotency-key', job, '--give-up-after', '2s'];
const isTrigger = (name) => name.startsWith('trigger');

if (spawnSync('strace', ['-V']).error) {
  console.log('There is no strace on this machine: nothing was tried.');
  process.exit();
}
const folder = mkdtempSync(join(tmpdir(), 'runctl-syscalls-'));
const { createRandom, startEmulator } = await loadSources();
const emulator = await startEmulator({
  scenario: {
    automations: { '*': { duration: '500ms' } },
    faults: [{ on: 'trigger', automation: 'left', do: 'hang' }],
  },
});
let prepared = 0;
try {
  await makeTemplates();
  report(await tryAll(shuffle(await listCases())));
} finally {
  await emulator.close();
  rmSync(folder, { recursive: true, force: true });
}

/** One folder with a journal that knows a finished run, and one with a trigger besides that was not answered. */
async function makeTemplates() {
  const plain = join(folder, 'plain');
  mkdirSync(join(plain, 'config'), { recursive: true });
  const config = { profiles: { default: { project: emulator.projectId, baseUrl: emulator.url } } };
  writeFileSync(join(plain, 'config/config.json'), JSON.stringify(config), { mode: 0o600 });
  await run(['trigger', 'known', '--watch', '--interval', '1s'], plain);
  cpSync(plain, join(folder, 'recover'), { recursive: true });
  const limits = ['--give-up-after', '100ms', '--request-timeout', '200ms'];
  await run(['trigger', 'left', '--idempotency-key', 'left', ...limits], join(folder, 'recover'));
}

/** A copy for one case, where the trigger that was not answered is that of its own automation. */
function prepare(name) {
  const job = `job-${prepared++}`;
  const home = join(folder, job);
  cpSync(join(folder, name === 'recover' ? name : 'plain'), home, { recursive: true });
  const journal = join(home, 'state/journal.jsonl');
  writeFileSync(journal, readFileSync(journal, 'utf8').replaceAll(/(\/|:")left"/g, `$1${job}"`));
  return { job, home };
}

async function listCases() {
  const cases = [];
  for (const name of Object.keys(commands)) {
    const calls = await callsOf(name);
    for (const call of calls) {
      for (const error of errors) cases.push({ name, ...call, error });
      if (isTrigger(name)) cases.push({ name, ...call });
    }
  }
  return cases;
}

/** The system calls that a command makes on its own files and sockets: their names, and how many of the name came before. */
async function callsOf(name) {
  const { job, home } = prepare(name);
  const { lines } = await run(commands[name](job), home, ['-e', 'trace=%file,%desc,%network']);
  const [main] = lines[0].split(' ');
  const counts = new Map();
  return lines.flatMap((line) => {
    const [, thread, call] = /^(\d+) +(\w+)\(/.exec(line) ?? [];
    if (thread !== main) return [];
    const nth = (counts.get(call) ?? 0) + 1;
    counts.set(call, nth);
    return isOurs(line) ? { call, nth } : [];
  });
}

/** What Node opens itself, its libraries and its event loop are not ours. */
function isOurs(line) {
  return /\/runctl-syscalls-|\/dist\/(process|undici)\.cjs|AF_INET|^\d+ +\w+\((\d+<(TCP|socket):|[012]<pipe:)/.test(
    line,
  );
}

function shuffle(cases) {
  const random = createRandom(seed);
  const keyed = cases.map((each) => [random(), each]).sort(([one], [other]) => one - other);
  return keyed.map(([, each]) => each);
}

/** As many as there is time for. */
async function tryAll(cases) {
  console.log(`${cases.length} cases, seed ${seed}, Node ${process.version}\n`);
  const tallies = {};
  const untilMs = performance.now() + minutes * 60_000;
  const queue = cases.values();
  const worker = async () => {
    for (const each of queue) {
      if (performance.now() > untilMs) return;
      const outcome = await tryCase(each);
      if (outcome) count(tallies, each, outcome);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return tallies;
}

/** Undefined where the call came elsewhere this time: how often Node's event loop reads differs. */
async function tryCase({ name, call, nth, error }) {
  const { job, home } = prepare(name);
  const what = error ? `error=${error}` : 'signal=KILL';
  const first = await run(commands[name](job), home, [
    '-e',
    `trace=${call}`,
    '-e',
    `inject=${call}:${what}:when=${nth}`,
  ]);
  const hit = first.lines.find((line) => line.includes('(INJECTED)'));
  const countRuns = () => emulator.runs().filter(({ target }) => target.automationName === job).length;
  const started = countRuns();
  const again = isTrigger(name) ? await run(commands[name](job), home) : undefined;
  const isHit = error ? hit !== undefined && isOurs(hit) : first.code === 'SIGKILL';
  const faults = isHit ? judge({ name, home, error, hit, first, started, again, all: countRuns() }) : [];
  rmSync(home, { recursive: true, force: true });
  return isHit ? { ...first, hit, started, faults } : undefined;
}

/** What is not true, or went wrong otherwise. */
function judge({ name, home, error, hit, first, started, again, all }) {
  const { code, stdout, stderr, tookMs } = first;
  const faults = [];
  const must = (isSo, words) => isSo || faults.push(words);
  // Node 20 aborts itself where it cannot close a file that it has read as text.
  if (stderr.includes('ReadFileUtf8')) return faults;
  must(tookMs < hangMs, 'hangs');
  must(!/\n\s+at |node:internal/.test(stderr), 'prints a stack trace');
  must(!stderr.includes(emulator.apiKey), 'prints the API key');
  must(code !== 70 || hit.includes('/dist/'), 'ends with 70 although it could be loaded');
  must(!/no run was started/.test(stderr) || started === 0, 'says that no run was started');
  must(!error || code === 0 || /runctl: /.test(stderr), 'fails without a word');
  if (isTrigger(name)) {
    if ([0, 13, 14, 124].includes(code)) must(started === 1 && stdout !== '', 'claims a run');
    if (code === 2 || (code >= 5 && code <= 11)) must(started === 0, 'denies a run');
    must(all === 1 && again.code === 0, `is repeated, and has ${all} runs and the code ${again.code}`);
  }
  if (name === 'recover') must(code === 12 || started === (code === 0 ? 1 : 0), 'is wrong about the run');
  if (name === 'status' || name === 'list') must(code !== 0 || stdout.includes('COMPLETED'), 'leaves the run out');
  if (name === 'config set') {
    const { profiles } = JSON.parse(readFileSync(join(home, 'config/config.json'), 'utf8'));
    must((profiles.default.project === project) === [0, 74].includes(code), 'is wrong about what is stored');
    const left = readdirSync(join(home, 'config')).filter((file) => !/^config\.json(\.lock)?$/.test(file));
    must(left.length === 0, `leaves ${left}`);
  }
  return faults;
}

/** Runs the program, under strace with `options` where they are given, in a group of its own. */
function run(argv, home, options) {
  const trace = join(home, 'trace');
  const strace = options ? ['strace', '-f', '-qq', '-yy', '-o', trace, ...options] : [];
  const [file, ...args] = [...strace, process.execPath, join(root, 'bin/runctl.js'), ...argv];
  const env = {
    PATH: process.env.PATH,
    RUNCTL_BASE_URL: emulator.url,
    RUNCTL_API_KEY: emulator.apiKey,
    RUNCTL_CONFIG_DIR: join(home, 'config'),
    RUNCTL_STATE_DIR: join(home, 'state'),
  };
  const startMs = performance.now();
  const child = spawn(file, args, { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const texts = { stdout: '', stderr: '' };
  for (const name of Object.keys(texts)) {
    child[name].setEncoding('utf8').on('data', (text) => {
      texts[name] += text;
    });
  }
  const timer = setTimeout(() => process.kill(-child.pid, 'SIGKILL'), hangMs);
  return new Promise((resolve) => {
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      const lines = options ? readFileSync(trace, 'utf8').split('\n') : [];
      resolve({ code: code ?? signal, ...texts, tookMs: performance.now() - startMs, lines });
    });
  });
}

function count(tallies, { name, call, nth, error }, { code, started, faults, hit = '', stderr }) {
  const kind = error ? name : `${name}, killed`;
  tallies[kind] ??= { cases: 0, ends: {}, broken: 0 };
  const tally = tallies[kind];
  const end = error ? code : `${started} started`;
  tally.cases += 1;
  tally.ends[end] = (tally.ends[end] ?? 0) + 1;
  if (faults.length === 0) return;
  tally.broken += 1;
  console.log(`${kind}: ${call} ${nth} ${error ?? ''} ends with ${code}: ${faults.join(', ')}\n${hit}\n${stderr}`);
}

function report(tallies) {
  console.log('| command | cases | ended with | broken |\n| --- | --- | --- | --- |');
  for (const [kind, { cases, ends, broken }] of Object.entries(tallies)) {
    const times = Object.entries(ends).map(([end, count]) => `${end}: ${count}`);
    console.log(`| ${kind} | ${cases} | ${times.join(', ')} | ${broken} |`);
    if (broken > 0) process.exitCode = 1;
  }
}

/** Of the sources in TypeScript, which Node 20 cannot read. */
async function loadSources() {
  const outfile = join(folder, 'sources.mjs');
  const contents = `export { startEmulator } from './src/emulator/server.ts';
    export { createRandom } from './test/helpers/random.ts';`;
  const common = { bundle: true, format: 'esm', platform: 'node', logLevel: 'error' };
  await build({ stdin: { contents, resolveDir: root }, outfile, ...common });
  return import(pathToFileURL(outfile).href);
}
