// Fails, or kills, the built program at each system call that it makes on its files and sockets, and compares what it
// says with what the service and the files know. Needs strace. `npm run test:syscalls -- [minutes] [seed]`
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const [minutes = 5, seed = Date.now() % 1_000_000] = process.argv.slice(2).map(Number);
const bin = resolve(import.meta.dirname, '../../bin/runctl.js');
const calls =
  'openat read pread64 write pwrite64 writev readv fstat newfstatat statx lstat stat fsync fdatasync rename link unlink mkdir getdents64 readlink close flock ftruncate fchmod chmod chown fchown utimensat lseek socket connect sendto recvfrom setsockopt getsockopt shutdown'.split(
    ' ',
  );
const errors = ['EIO', 'ENOSPC', 'EDQUOT', 'EACCES', 'EROFS', 'EMFILE', 'ENFILE', 'EINTR', 'ENOMEM'];
const hangMs = 10_000;
const atOnce = 3;
const project = '00000000-0000-4000-8000-000000000009';

/** `job` is an automation of the case alone; `known` has a finished run, and `left` a trigger whose answer was lost. */
const commands = {
  'trigger --watch': (job) => ['trigger', job, '--watch', '--interval', '1s', ...keyed(job)],
  trigger: (job) => ['trigger', job, ...keyed(job)],
  status: () => ['status', 'known'],
  'config set': () => ['config', 'set', 'project', project],
  recover: () => ['recover', '--give-up-after', '2s'],
  list: () => ['list'],
};
const keyed = (job) => ['--idempotency-key', job, '--give-up-after', '2s'];

async function sweep() {
  await makeTemplates();
  const cases = [];
  for (const name of Object.keys(commands)) {
    const found = await callsOf(name);
    for (const call of found) {
      for (const error of errors) cases.push({ name, ...call, error });
      if (name.startsWith('trigger')) cases.push({ name, ...call });
    }
    console.log(`${name}: ${found.length} calls`);
  }
  console.log(`${cases.length} cases in all, seed ${seed}, Node ${process.version}\n`);
  const random = createRandom(seed);
  const shuffled = cases.map((each) => [random(), each]).sort(([a], [b]) => a - b);
  const untilMs = performance.now() + minutes * 60_000;
  const queue = shuffled.map(([, each]) => each).values();
  const tallies = {};
  const worker = async () => {
    for (const each of queue) {
      if (performance.now() > untilMs) return;
      count(tallies, each, await tryCase(each));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  report(tallies);
}

/** One folder with a config file and a journal that knows a finished run, and one with an unresolved trigger as well. */
async function makeTemplates() {
  const plain = join(folder, 'plain');
  mkdirSync(join(plain, 'config'), { recursive: true });
  const config = { profiles: { default: { project: emulator.projectId, baseUrl: emulator.url } } };
  writeFileSync(join(plain, 'config/config.json'), JSON.stringify(config), { mode: 0o600 });
  await run(['trigger', 'known', '--watch', '--interval', '1s'], plain);
  cpSync(plain, join(folder, 'recover'), { recursive: true });
  await run(
    ['trigger', 'left', '--idempotency-key', 'left', '--give-up-after', '100ms', '--request-timeout', '200ms'],
    join(folder, 'recover'),
  );
}

const templateOf = (name) => join(folder, name === 'recover' ? name : 'plain');

/** Which system calls a command makes on files and sockets of its own: the name, and the how manieth of that name. */
async function callsOf(name) {
  const { job, home, remove } = prepare(name);
  const traced = await run(commands[name](job), home, ['-e', `trace=${calls}`]);
  remove();
  const [main] = traced.lines[0].split(' ');
  const counts = new Map();
  return traced.lines.flatMap((line) => {
    const [, thread, call] = /^(\d+) +(\w+)\(/.exec(line) ?? [];
    if (thread !== main) return [];
    const nth = (counts.get(call) ?? 0) + 1;
    counts.set(call, nth);
    return isOurs(line) ? { call, nth } : [];
  });
}

/** What Node opens itself, its libraries and its event loop are none of ours. */
const ours = [/\/runctl-syscalls-/, /dist\/(process|undici)\.cjs/, /AF_INET/];
ours.push(/^\d+ +\w+\((\d+<(TCP|socket):|[012]<pipe:)/);
const isOurs = (line) => ours.some((pattern) => pattern.test(line));

function prepare(name) {
  const job = `job-${prepared++}`;
  const home = join(folder, job);
  cpSync(templateOf(name), home, { recursive: true });
  const journal = join(home, 'state/journal.jsonl');
  writeFileSync(journal, readFileSync(journal, 'utf8').replaceAll(/(\/|:")left"/g, `$1${job}"`));
  return { job, home, remove: () => rmSync(home, { recursive: true, force: true }) };
}

async function tryCase({ name, call, nth, error }) {
  const { job, home, remove } = prepare(name);
  const what = error ? `error=${error}` : 'signal=KILL';
  const inject = ['-e', `trace=${call}`, '-e', `inject=${call}:${what}:when=${nth}`];
  const first = await run(commands[name](job), home, inject);
  const hit = first.lines.find((line) => line.includes('(INJECTED)'));
  const started = () => emulator.runs().filter(({ target }) => target.automationName === job).length;
  const once = started();
  const again = name.startsWith('trigger') ? await run(commands[name](job), home) : undefined;
  const faults =
    error && !(hit && isOurs(hit)) ? [] : judge({ name, home, error, hit, first, once, again, all: started() });
  remove();
  const missed = error ? !(hit && isOurs(hit)) : first.code !== 'SIGKILL';
  return { ...first, hit, once, faults, missed };
}

/** What is untrue, or went wrong otherwise. */
function judge({ name, home, error, hit, first, once, again, all }) {
  const { code, stdout, stderr, tookMs } = first;
  const isTrigger = name.startsWith('trigger');
  // Node 20 aborts itself where it cannot close a file that it has read as text.
  if (stderr.includes('ReadFileUtf8')) return [];
  const faults = [];
  // Whatever fails while the program loads ends with 70.
  const isOwnCode = hit?.includes('/dist/');
  const must = (isSo, words) => isSo || faults.push(words);
  must(tookMs < hangMs, 'hangs');
  must(!/\n\s+at |node:internal/.test(stderr), 'stack trace');
  must(!stderr.includes(emulator.apiKey), 'API key');
  must(!error || code !== 70 || isOwnCode, '70');
  must(!/no run was started/.test(stderr) || once === 0, 'untrue: no run was started');
  must(code === 'SIGKILL' || code === 0 || /runctl: |is unresolved: /.test(stderr), 'fails without a word');
  if (isTrigger) {
    if ([0, 13, 14, 124].includes(code)) must(once === 1, `ends with ${code} and has started ${once}`);
    if (code === 2 || (code >= 5 && code <= 11)) must(once === 0, `ends with ${code} and has started ${once}`);
    if (code === 0) must(stdout.trim() !== '', 'ends with 0 and prints nothing');
    must(all === 1, `${all} runs after the same command was repeated`);
    must(again.code === 0, `ends with ${again.code} where it is repeated: ${again.stderr}`);
  }
  if (name === 'recover')
    must(code === 12 || once === (code === 0 ? 1 : 0), `ends with ${code} and has started ${once}`);
  if (name === 'status' || name === 'list') must(code !== 0 || stdout.includes('COMPLETED'), `prints ${stdout}`);
  if (name === 'config set') {
    const { profiles } = JSON.parse(readFileSync(join(home, 'config/config.json'), 'utf8'));
    const isStored = profiles.default.project === project;
    must(isStored || code !== 0, 'ends with 0 and has stored nothing');
    must(!isStored || code === 0 || code === 74, `ends with ${code} and has stored it`);
    const left = readdirSync(join(home, 'config')).filter((each) => !/^config\.json(\.lock)?$/.test(each));
    must(left.length === 0, `leaves ${left}`);
  }
  return faults;
}

/** Runs the program, under strace where it is told how. */
function run(argv, home, how) {
  const trace = join(home, 'trace');
  const traced = how ? ['strace', '-f', '-qq', '-yy', '-o', trace, ...how] : [];
  const [file, ...args] = [...traced, process.execPath, bin, ...argv];
  const env = {
    RUNCTL_BASE_URL: emulator.url,
    RUNCTL_API_KEY: emulator.apiKey,
    RUNCTL_CONFIG_DIR: join(home, 'config'),
    RUNCTL_STATE_DIR: join(home, 'state'),
    PATH: process.env.PATH,
  };
  const startMs = performance.now();
  const child = spawn(file, args, { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const texts = ['', ''];
  for (const [at, stream] of [child.stdout, child.stderr].entries()) {
    stream.setEncoding('utf8').on('data', (text) => {
      texts[at] += text;
    });
  }
  const timer = setTimeout(() => process.kill(-child.pid, 'SIGKILL'), hangMs);
  return new Promise((end) => {
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      const [stdout, stderr] = texts;
      const lines = how ? readFileSync(trace, 'utf8').split('\n') : [];
      end({ code: code ?? signal, stdout, stderr, tookMs: performance.now() - startMs, lines });
    });
  });
}

function count(tallies, { name, call, nth, error }, { code, once, faults, missed, hit, stderr }) {
  const kind = `${name}${error ? '' : ', killed'}`;
  tallies[kind] ??= { cases: 0, missed: 0, codes: {}, broken: 0 };
  const tally = tallies[kind];
  if (missed) {
    tally.missed += 1;
    if (faults.length === 0) return;
  }
  tally.cases += 1;
  const end = error ? `${code}` : `${once} started`;
  tally.codes[end] = (tally.codes[end] ?? 0) + 1;
  if (faults.length === 0) return;
  tally.broken += 1;
  console.log(
    `${kind}: ${call} ${nth} ${error ?? ''} (${hit?.slice(0, 150)}) ended with ${code}, ${once} started: ${faults.join('; ')}\n    ${stderr.slice(0, 400).replaceAll('\n', '\n    ')}`,
  );
}

function report(tallies) {
  console.log('\n| command | cases | ended with | broken |\n| --- | --- | --- | --- |');
  for (const [kind, { cases, codes, broken, missed }] of Object.entries(tallies)) {
    const ends = Object.entries(codes).map(([code, times]) => `${code}: ${times}`);
    console.log(`| ${kind} | ${cases} | ${ends.join(', ')} | ${broken} | ${missed}`);
    if (broken > 0) process.exitCode = 1;
  }
}

/** Mulberry32. */
function createRandom(from) {
  let state = from;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A module in TypeScript, which Node 20 cannot read. */
async function load(entry) {
  const outfile = join(folder, 'module.mjs');
  const entryPoints = [join(import.meta.dirname, entry)];
  await build({ entryPoints, outfile, bundle: true, format: 'esm', platform: 'node', logLevel: 'error' });
  return import(pathToFileURL(outfile).href);
}

if (spawnSync('strace', ['-V']).error) {
  console.log('There is no strace on this machine: nothing was tried.');
  process.exit();
}
let prepared = 0;
const folder = mkdtempSync(join(tmpdir(), 'runctl-syscalls-'));
const { startEmulator } = await load('../../src/emulator/server.ts');
const emulator = await startEmulator({
  scenario: {
    automations: { '*': { duration: '500ms' } },
    faults: [{ on: 'trigger', automation: 'left', do: 'hang' }],
  },
});
try {
  await sweep();
} finally {
  await emulator.close();
  rmSync(folder, { recursive: true, force: true });
}
