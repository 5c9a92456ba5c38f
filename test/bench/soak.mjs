// `npm run stress -- soak`: the built program starts and watches hundreds of runs while every tenth answer or so is broken
// at random, against an emulator in a process of its own. Prints what came of it; ends with 1 when an invariant is broken.
//   npm run stress -- soak [seconds, 30 at the least]
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { forkEmulator } from './fork-emulator.mjs';

const root = join(import.meta.dirname, '../..');
const seconds = Math.max(30, Number(process.argv[2] ?? 120));
const workers = 6;
const longRuns = 150;
const folder = mkdtempSync(join(tmpdir(), 'runctl-soak-'));
const project = '00000000-0000-4000-8000-000000000001';

const exitCodes = { COMPLETED: 0, FAILED: 1, TIMED_OUT: 3, CANCELLED: 4 };
const outcomes = Object.keys(exitCodes);
const plan = (index, duration) => ({
  duration,
  outcome: outcomes[index % outcomes.length],
  statusLate: '500ms',
  resultLate: '700ms',
});
const shortPlans = Array.from({ length: 4000 }, (_, n) => [`job-${n}`, plan(n, `${1 + (n % 9)}s`)]);
const longPlans = Array.from({ length: longRuns }, (_, n) => [`long-${n}`, plan(n, `${Math.max(5, seconds - 5)}s`)]);
const html = { status: 502, body: '<html>502 Bad Gateway</html>' };
const scenario = {
  automations: Object.fromEntries([...shortPlans, ...longPlans]),
  faults: [
    { on: 'trigger', automation: 'job-0', nth: 1, do: 'hang', acts: true },
    { on: 'trigger', chance: 0.15, do: 'loseAnswer' },
    { on: 'trigger', chance: 0.05, do: 'status', ...html, acts: true },
    { on: 'trigger', chance: 0.05, do: 'truncate' },
    { on: 'trigger', chance: 0.05, do: 'status', status: 503 },
    { chance: 0.02, do: 'status', ...html },
    { chance: 0.02, do: 'reset' },
    { chance: 0.01, do: 'close' },
    { chance: 0.005, do: 'hang' },
    { chance: 0.005, do: 'hangBody' },
    { chance: 0.01, do: 'truncate' },
    { chance: 0.01, do: 'wrongJson' },
    { chance: 0.01, do: 'html' },
    { chance: 0.005, do: 'drip' },
    { chance: 0.02, do: 'delay', delay: '400ms' },
    { chance: 0.01, do: 'status', status: 503, headers: { 'retry-after': '1' } },
    { chance: 0.002, do: 'status', status: 429, headers: { 'retry-after': '1' } },
  ],
};

const emulator = forkEmulator(
  `
      import { startEmulator } from './src/emulator/server.ts';
      process.once('message', async (scenario) => {
        const emulator = await startEmulator({ scenario, keepsRequests: true });
        process.send({ url: emulator.url, apiKey: emulator.apiKey });
        process.on('message', () => process.send({
          runs: emulator.runs().map(({ executionId, target, idempotencyKey, status }) =>
            ({ executionId, name: target.automationName, idempotencyKey, status })),
          requests: emulator.requests.length,
          struck: emulator.requests.filter(({ fault }) => fault !== undefined).length,
        }));
      });`,
  folder,
);
const ask = (message) => {
  const answer = new Promise((resolve) => emulator.once('message', resolve));
  emulator.send(message);
  return answer;
};
const { url, apiKey } = await ask(scenario);

const env = {
  RUNCTL_BASE_URL: url,
  RUNCTL_API_KEY: apiKey,
  RUNCTL_PROJECT: project,
  RUNCTL_CONFIG_DIR: join(folder, 'config'),
  RUNCTL_STATE_DIR: join(folder, 'state'),
  RUNCTL_REQUEST_TIMEOUT: '2s',
};

/** Runs the program to its end: its exit code and its documents. */
function runctl(args, { flags = [], started } = {}) {
  const child = spawn(process.execPath, [...flags, join(root, 'bin/runctl.js'), ...args], { env, stdio: 'pipe' });
  const text = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr']) {
    child[stream].setEncoding('utf8').on('data', (chunk) => {
      text[stream] += chunk;
    });
  }
  child.stdin.end();
  started?.(child);
  return new Promise((resolve) => {
    child.on('close', (code) => resolve({ code, args, stderr: text.stderr, documents: documentsIn(text.stdout) }));
  });
}

function documentsIn(stdout) {
  try {
    return stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  } catch {
    return [];
  }
}

const following = ['--json', '--interval', '500ms', '--give-up-after', '45s', '--rate', '100'];
const endings = [];
let names = 0;
let batches = 0;

/** One process after the other: some start and watch one run, some a dozen. */
async function work(untilMs) {
  while (Date.now() < untilMs) {
    const count = batches++ % 3 === 0 ? 12 : 1;
    const batch = Array.from({ length: count }, () => `job-${names++}`);
    endings.push({ ...(await runctl(['trigger', ...batch, '--watch', ...following])), named: batch });
  }
}

async function startLongRun(name) {
  for (;;) {
    const path = `/v0/automation/${project}/${name}`;
    const headers = { 'x-api-key': apiKey, 'content-type': 'application/json', 'idempotency-key': name };
    const answer = await fetch(`${url}${path}/trigger`, {
      method: 'POST',
      headers,
      body: '{}',
      signal: AbortSignal.timeout(1000),
    })
      .then((response) => response.json())
      .catch(() => ({}));
    if (answer.executionId) return `${project}/${name}/${answer.executionId}`;
  }
}

const megabytesOf = (pid) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? Number.NaN) / 1024;

const startMs = Date.now();
const untilMs = startMs + seconds * 1000;
const longOnes = await Promise.all(longPlans.map(([name]) => startLongRun(name)));
let watcher;
const watching = ['--json', '--interval', '1s', '--rate', '300', '--give-up-after', '45s'];
const longWatch = runctl(['watch', ...longOnes, ...watching], {
  // With a small nursery the memory that is used says more about the memory that is kept.
  flags: ['--max-semi-space-size=1'],
  started: (child) => {
    watcher = child.pid;
  },
});
const samples = [];
const sampling = setInterval(() => samples.push(megabytesOf(watcher)), 500);
setTimeout(() => clearInterval(sampling), untilMs - Date.now() - 6_000);
// The workers stop early enough for what they follow to end.
await Promise.all(Array.from({ length: workers }, () => work(untilMs - 12_000)));
endings.push({ ...(await longWatch), named: longPlans.map(([name]) => name) });
const tookSeconds = (Date.now() - startMs) / 1000;

const truth = await ask('truth');
const runOf = new Map(truth.runs.map((run) => [run.name, run]));
const list = await runctl(['list', '--json', '--limit', '100000']);
const knownIds = new Set(list.documents.map(({ executionId }) => executionId));
const openKeys = new Set(
  list.documents.filter(({ executionId }) => executionId === null).map(({ runctl }) => runctl.list.idempotencyKey),
);

const wrong = [];
let truthful = 0;
let uncertain = 0;
// What may be said when the network failed too often to know more.
const honest = { outcome_unknown: 12, unavailable: 10, rate_limited: 9, result_unavailable: 13 };

function codeOf(document, run) {
  const { status } = document;
  const { problem, outcome, trigger } = document.runctl;
  if (!problem)
    return run && status === run.status && document.executionId === run.executionId ? exitCodes[status] : undefined;
  if (trigger?.started === 'no' && !document.executionId && run) return undefined;
  if (outcome === 'result_unavailable' && status !== run?.status) return undefined;
  return honest[outcome];
}

for (const { code, documents, named, stderr } of endings) {
  const codes = named.map((name, index) => codeOf(documents[index] ?? {}, runOf.get(name)));
  for (const [index, expected] of codes.entries()) {
    if (expected === undefined)
      wrong.push(`${named[index]}: ${JSON.stringify(documents[index])} ${stderr.slice(0, 300)}`);
    else if (documents[index].runctl.problem) uncertain += 1;
    else truthful += 1;
  }
  const expected = codes.find((each) => each !== 0) ?? 0;
  if (code !== expected) wrong.push(`${named.join(' ')}: exit ${code}, not ${expected}: ${stderr.slice(0, 300)}`);
}
const lost = truth.runs.filter(
  ({ executionId, idempotencyKey }) => !knownIds.has(executionId) && !openKeys.has(idempotencyKey),
);
const twice = truth.runs.length - runOf.size;
// Garbage comes and goes: what is kept is the least that each quarter saw. The first has the program's own start.
const quarter = samples.length / 4;
const memory = [0, 1, 2, 3].map((n) => Math.min(...samples.slice(n * quarter, (n + 1) * quarter)));
const isFlat = memory[3] <= 1.25 * memory[1];

const rows = [
  ['seconds', tookSeconds.toFixed(0)],
  ['processes', endings.length],
  ['watches', endings.reduce((sum, { named }) => sum + named.length, 0)],
  ['ended truthfully', truthful],
  ['ended uncertain, and said so', uncertain],
  ['wrong codes or states', wrong.length],
  ['runs started twice', twice],
  ['runs lost', lost.length],
  ['requests', truth.requests],
  ['of them struck', `${truth.struck} (${((100 * truth.struck) / truth.requests).toFixed(1)} %)`],
  [`MB kept to watch ${longRuns} runs`, memory.map((megabytes) => megabytes.toFixed(0)).join(' ')],
];
for (const [what, value] of rows) console.log(`${String(what).padEnd(32)}${value}`);
for (const line of wrong.slice(0, 20)) console.log(`WRONG ${line}`);
for (const run of lost.slice(0, 20)) console.log(`LOST ${JSON.stringify(run)}`);
if (!isFlat) console.log('NOT FLAT: the last quarter kept a quarter more than the second');

emulator.kill();
rmSync(folder, { recursive: true, force: true });
process.exitCode = wrong.length + lost.length + twice > 0 || !isFlat ? 1 : 0;
