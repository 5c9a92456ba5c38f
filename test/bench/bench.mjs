// `npm run bench [-- rounds]`: how soon the installed program starts, and what a journal costs it.
// Processes are measured in turns, one of each kind a round, and nothing of the environment is
// inherited: NODE_EXTRA_CA_CERTS alone adds 50 ms to every start of Node.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { uuidOf, writeJournal } from './journal.mjs';

const rounds = Number(process.argv[2] ?? 20);
const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'runctl-bench-'));
const projectId = uuidOf(1, 1);
const service = spawn(process.execPath, [join(import.meta.dirname, 'service.mjs')]);
let isSlow = false;
try {
  const [line] = await once(service.stdout.setEncoding('utf8'), 'data');
  const program = installProgram();
  const states = makeStates(line.trim());
  compareStarts(program, states);
  compareCpu(program, states);
} finally {
  service.kill();
  rmSync(folder, { recursive: true });
}
process.exitCode = isSlow ? 1 : 0;

/** The path of the program, unpacked from its tarball as npm does it. */
function installProgram() {
  const pack = ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder];
  execFileSync('npm', pack, { cwd: root });
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'));
  execFileSync('tar', ['xzf', tarball], { cwd: folder });
  return join(folder, 'package/bin/runctl.js');
}

/** The environment of each kind of installation. */
function makeStates(baseUrl) {
  const settings = { baseUrl, apiKey: 'bench-key-0000', project: projectId };
  const configDir = join(folder, 'config');
  mkdirSync(configDir);
  const config = JSON.stringify({ profiles: { default: settings } });
  writeFileSync(join(configDir, 'config.json'), config, { mode: 0o600 });
  const own = { PATH: process.env.PATH, HOME: folder };
  const env = {
    ...own,
    RUNCTL_CONFIG_DIR: join(folder, 'empty'),
    RUNCTL_BASE_URL: baseUrl,
    RUNCTL_API_KEY: settings.apiKey,
    RUNCTL_PROJECT: projectId,
  };
  const stateWith = (runs) => {
    const stateDir = join(folder, `state-${runs}`);
    writeJournal(stateDir, { runs, baseUrl, projectId });
    // What `trigger` writes must not change what the others read.
    cpSync(stateDir, `${stateDir}-trigger`, { recursive: true });
    return stateDir;
  };
  const small = stateWith(1);
  return {
    small: { ...env, RUNCTL_STATE_DIR: small },
    'config file': { ...own, RUNCTL_CONFIG_DIR: configDir, RUNCTL_STATE_DIR: small },
    '10,000 runs': { ...env, RUNCTL_STATE_DIR: stateWith(10_000) },
    '100,000 runs': { ...env, RUNCTL_STATE_DIR: stateWith(100_000) },
  };
}

/** With a large journal there is no limit: what may be added is a matter of CPU, see below. */
function compareStarts(program, states) {
  const emptyScript = join(folder, 'empty.cjs');
  writeFileSync(emptyScript, '');
  const caseOf = (command, state, limit) => ({ command, state, limit, ratios: [], tookMs: [] });
  const cases = [caseOf('--help', 'small', 1.8)];
  for (const [command, limit] of Object.entries({
    list: 2.2,
    'status job-0': 3.5,
    'trigger new': 4,
  })) {
    for (const state of Object.keys(states)) {
      cases.push(caseOf(command, state, state.endsWith('runs') ? undefined : limit));
    }
  }
  for (let round = 0; round < rounds; round++) {
    for (const { command, state, ratios, tookMs } of cases) {
      const env = envFor(command, states[state]);
      const emptyMs = wallMs([emptyScript], env);
      const ms = wallMs([program, ...command.split(' ')], env);
      tookMs.push(ms);
      ratios.push(ms / emptyMs);
    }
  }
  print(
    'Start, over an empty script',
    cases.map(({ command, state, limit, ratios, tookMs }) => ({
      command,
      state,
      value: median(ratios),
      shown: `${median(ratios).toFixed(2)} (${Math.round(median(tookMs))} ms)`,
      limit,
    })),
  );
}

/** What 100,000 runs cost: CPU of everyday commands more than with one run; of rarer ones, time. */
function compareCpu(program, { small, '100,000 runs': large }) {
  const everyday = [
    'list',
    'status job-0',
    'result job-0',
    'watch job-0',
    'recover',
    'watch --all',
    'trigger new',
  ];
  const rare = [
    'list --since 30d',
    'list --latest',
    'status old-name',
    `status ${projectId}/job-7/${uuidOf(3, 7)}`,
    'trigger new --idempotency-key key',
  ];
  const rows = everyday.map((command) => ({ command, limit: 60, unit: 'ms more CPU', values: [] }));
  const rareRows = rare.map((command) => ({ command, limit: 1000, unit: 'ms', values: [] }));
  for (let round = 0; round < Math.ceil(rounds / 4); round++) {
    for (const { command, values } of rows) {
      const [withOne, withMany] = [small, large].map((env) => cpuMs(program, command, env));
      values.push(withMany - withOne);
    }
    for (const { command, values } of rareRows) {
      const words = command.replace('--idempotency-key key', `--idempotency-key key-${round}`);
      values.push(wallMs([program, ...words.split(' ')], envFor(command, large)));
    }
  }
  print(
    '100,000 runs in the journal',
    [...rows, ...rareRows].map(({ command, values, limit, unit }) => ({
      command,
      state: '',
      value: median(values),
      shown: `${Math.round(median(values))} ${unit}`,
      limit,
    })),
  );
}

function envFor(command, env) {
  const isTrigger = command.startsWith('trigger');
  return isTrigger ? { ...env, RUNCTL_STATE_DIR: `${env.RUNCTL_STATE_DIR}-trigger` } : env;
}

function wallMs(args, env) {
  const start = process.hrtime.bigint();
  const { status, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
  const tookMs = Number(process.hrtime.bigint() - start) / 1e6;
  if (status !== 0) throw new Error(`${args.join(' ')} exited with ${status}: ${stderr}`);
  return tookMs;
}

/** User and system time of the process. */
function cpuMs(program, command, env) {
  const script = 'TIMEFORMAT="%U %S"; time "$@" >/dev/null 2>&1';
  const args = ['-c', script, 'bash', process.execPath, program, ...command.split(' ')];
  const { stderr } = spawnSync('bash', args, { env: envFor(command, env), encoding: 'utf8' });
  const [user, system] = stderr.trim().split(' ').map(Number);
  return (user + system) * 1000;
}

function median(values) {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)];
}

function print(title, rows) {
  console.log(`\n${title}`);
  for (const { command, state, value, shown, limit } of rows) {
    const isOver = value > limit;
    isSlow ||= isOver;
    const columns = [command.padEnd(40).slice(0, 40), state.padEnd(12), shown.padStart(16)];
    const verdict = limit === undefined ? '' : `limit ${limit}${isOver ? ', TOO SLOW' : ''}`;
    console.log(`  ${columns.join('  ')}  ${verdict}`.trimEnd());
  }
}
