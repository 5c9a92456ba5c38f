// How the clients in clients/ do in the built-in scenarios, from `emulator --report`. Prints
// the table of docs/rehearsal.md, and a second one by scenario. `npm run bench -- clients [scenario…]` takes nine minutes for all of them.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const program = join(import.meta.dirname, '../../bin/runctl.js');
const folder = mkdtempSync(join(tmpdir(), 'clients-bench-'));

/** `unknown`: the exit codes that say that the client doesn't know how the run ended. */
const clients = [
  { name: 'curl loop', command: ['sh', 'curl.sh'], unknown: () => false },
  { name: 'careful curl', command: ['bash', 'curl-careful.sh'], unknown: (code) => code > 1 },
  { name: 'Python', command: ['python3', 'standard-library.py'], unknown: () => false },
  { name: 'fetch', command: [process.execPath, 'fetch.mjs'], unknown: () => false },
  { name: 'runctl', command: ['sh', 'runctl.sh'], unknown: (code) => [12, 14, 124].includes(code) },
];

/** Long runs pass 20 times as fast, so an outage of 25 minutes takes 75 s. A client's waits aren't any faster. */
const longScenarios = ['bad-day', 'third-hour-502s', 'night', 'key-revoked'];
const speedOf = (scenario) => (longScenarios.includes(scenario) ? 20 : 1);
const limitMs = 12 * 60_000;

/** The automations that a scenario is tried with; `flaky` breaks things at random, so it is tried ten times. */
const automationsOf = (scenario) =>
  ({
    'every-ending': ['completes', 'fails', 'times-out', 'is-cancelled', 'not-runnable', 'lease-lost', 'reaped'],
    'keys-ignored': ['nightly', 'quick'],
    night: ['early', 'broken'],
    flaky: Array.from({ length: 10 }, (_, n) => `nightly-${n + 1}`),
  })[scenario] ?? ['nightly'];

const scenarios = process.argv.length > 2 ? process.argv.slice(2) : await builtIn();
const tries = scenarios.flatMap((scenario) =>
  automationsOf(scenario).flatMap((automation) => clients.map((client) => ({ scenario, automation, client }))),
);
// The long ones first, some at once: nearly all of their time is waiting.
tries.sort((one, other) => speedOf(other.scenario) - speedOf(one.scenario));
const waiting = [...tries];
await Promise.all(Array.from({ length: 30 }, work));
rmSync(folder, { recursive: true });
printTables();

async function builtIn() {
  const { stdout } = await run([program, 'help', 'scenarios']);
  const [table] = /^Built-in scenarios:\n(?: {2}.*\n)+/.exec(stdout);
  return [...table.matchAll(/^ {2}([a-z]\S+) /gm)].map(([, name]) => name);
}

async function work() {
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const report = join(folder, `${tries.indexOf(next)}.json`);
    const [interpreter, file] = next.client.command;
    const client = [interpreter, join(import.meta.dirname, 'clients', file), next.automation];
    const options = ['--scenario', next.scenario, '--speed', speedOf(next.scenario), '--report', report, '--quiet'];
    const { isLate } = await run([program, 'emulator', ...options, '--', ...client]);
    next.facts = JSON.parse(readFileSync(report, 'utf8'));
    next.told = told(next, isLate);
    console.error(`${next.scenario} ${next.automation}, ${next.client.name}: ${JSON.stringify(summaryOf([next]))}`);
  }
}

function run(args) {
  const child = spawn(process.execPath, args.map(String), { stdio: ['ignore', 'pipe', 'ignore'] });
  let stdout = '';
  let isLate = false;
  child.stdout.on('data', (data) => {
    stdout += data;
  });
  const timer = setTimeout(() => {
    isLate = child.kill('SIGTERM');
  }, limitMs);
  return new Promise((resolve) => {
    child.on('close', () => {
      clearTimeout(timer);
      resolve({ stdout, isLate });
    });
  });
}

/** Is the exit code right? 0 means that every run completed, any other that one didn't or none was started. */
function told({ client, facts: { exitCode, automations } }, isLate) {
  const runs = automations.flatMap((automation) => automation.runs);
  if (isLate) return 'no';
  if (runs.length > 0 && client.unknown(exitCode)) return 'unknown';
  const hasCompleted = runs.length > 0 && runs.every(({ status }) => status === 'COMPLETED');
  const hasFailed = runs.length === 0 || runs.some(({ status }) => !['COMPLETED', 'RUNNING'].includes(status));
  return (exitCode === 0 ? hasCompleted : hasFailed) ? 'yes' : 'no';
}

function summaryOf(chosen) {
  const sum = (read) => chosen.reduce((total, each) => total + read(each), 0);
  const ofAutomations = (field) =>
    sum(({ facts }) => facts.automations.reduce((total, each) => total + each[field], 0));
  return {
    tries: chosen.length,
    started: ofAutomations('runsStarted'),
    twice: ofAutomations('startedTwice'),
    truly: sum(({ told }) => Number(told === 'yes')),
    unknown: sum(({ told }) => Number(told === 'unknown')),
    codes: [...new Set(chosen.map(({ facts }) => facts.exitCode))].sort((one, other) => one - other),
    requests: sum(({ facts }) => facts.requests),
  };
}

function printTables() {
  const row = (cells) => console.log(`| ${cells.join(' | ')} |`);
  const head = (cells) => {
    row(cells);
    row(cells.map(() => '---'));
  };
  head(['client', 'tries', 'runs started', 'started twice', 'right exit code', 'outcome unknown', 'requests']);
  for (const client of clients) {
    const {
      tries: count,
      started,
      twice,
      truly,
      unknown,
      requests,
    } = summaryOf(tries.filter((each) => each.client === client));
    row([client.name, count, started, twice, truly, unknown, requests]);
  }
  console.log('');
  head(['scenario', ...clients.map(({ name }) => name)]);
  for (const scenario of scenarios) {
    const cells = clients.map((client) =>
      cellOf(summaryOf(tries.filter((each) => each.client === client && each.scenario === scenario))),
    );
    row([`\`${scenario}\``, ...cells]);
  }
}

/** Such as `✔ 0` with the exit code, or `✖ 8 of 10, ? 1` if one exit code was wrong, then runs started twice and requests. */
function cellOf({ tries: count, truly, unknown, twice, codes, requests }) {
  const mark = truly + unknown < count ? '✖' : truly > 0 ? '✔' : '?';
  const ends = count === 1 ? `${mark} ${codes[0]}` : `${mark} ${truly} of ${count}${unknown ? `, ? ${unknown}` : ''}`;
  return `${ends}${twice > 0 ? `, **${twice} twice**` : ''}; ${requests}`;
}
