// `npm run acceptance -- <base URL> <automation>`: which assumptions of docs/service.md hold, found out with the built
// program. Starts five runs at most, and saves the answers as a scenario, without keys, ids and the runs' output.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { parseArgs } from 'node:util';
import { findings, scenarioOf } from './acceptance-findings.mjs';
import { startRecorder } from './acceptance-recorder.mjs';

const options = { yes: { type: 'boolean' }, timeout: { type: 'string', default: '30m' }, save: { type: 'string' } };
const { values, positionals } = parseArgs({ options, allowPositionals: true });
const [baseUrl = '', automation = ''] = positionals;
const file = values.save ?? 'acceptance.json';
const program = join(import.meta.dirname, '../bin/runctl.js');
const marks = { yes: '✔', no: '✖', unseen: '?' };
const missingRun = '00000000-0000-4000-8000-000000000000';

if (!/^https?:/.test(baseUrl) || !automation || positionals.length > 2) {
  console.error(
    'usage: npm run acceptance -- <base URL> <automation> [--yes] [--timeout 30m] [--save acceptance.json]',
  );
  console.error('The API key comes from RUNCTL_API_KEY, RUNCTL_API_KEY_FILE or RUNCTL_API_KEY_COMMAND.');
  process.exit(2);
}
if (!values.yes && !(await isConfirmed())) {
  console.error('Nothing was sent.');
  process.exit(2);
}

const folder = mkdtempSync(join(tmpdir(), 'acceptance-'));
const recorder = await startRecorder(baseUrl);
let step = '';
try {
  const seen = await ask();
  const results = findings(seen);
  for (const { name, verdict, note } of results) console.log(`${marks[verdict]} ${name}${note ? `: ${note}` : ''}`);
  const scenario = scenarioOf(seen);
  writeFileSync(file, `${JSON.stringify(scenario, undefined, 2)}\n`);
  console.log(`\nRuns started (${seen.runs.length}): ${seen.runs.join(' ')}`);
  console.log(`The answers, without keys and ids: ${file}, for \`runctl emulator --scenario\``);
  if (seen.first.id)
    console.log(
      `Tomorrow, just before 24 hours have passed, this must print ${seen.first.id}:\n  RUNCTL_STATE_DIR=$(mktemp -d) runctl trigger ${automation} --idempotency-key ${seen.key}`,
    );
  process.exitCode = results.some(({ verdict }) => verdict === 'no') ? 1 : 0;
} catch (error) {
  console.error(`acceptance: ${error.message}`);
  process.exitCode = 2;
} finally {
  await recorder.close();
  rmSync(folder, { recursive: true });
}

/** Every step, in an order in which five runs are enough. */
async function ask() {
  const key = `acceptance-${Date.now().toString(36)}`;
  const wait = ['--timeout', values.timeout];
  const doctor = await runctl('doctor', ['doctor']);
  const isAnswered = recorder.records.some(({ status }) => status !== undefined);
  if ([2, 7].includes(doctor.code) || !isAnswered) throw new Error(`runctl doctor: ${doctor.stderr}`);
  const missing = await runctl('missing', ['status', `${automation}/${missingRun}`]);
  if (missing.code === 2) throw new Error(missing.stderr);
  const wrongKey = await runctl('wrongKey', ['status', `${automation}/${missingRun}`], {
    ...{ RUNCTL_API_KEY: 'not-the-key', RUNCTL_API_KEY_FILE: '', RUNCTL_API_KEY_COMMAND: '' },
  });
  const trial = await runctl('trial', ['doctor', '--try-key', automation, '--yes']);
  await runctl('trialEnd', ['watch', '--all', ...wait]); // of two runs, if keys are ignored
  const first = await runctl('first', ['trigger', automation, '--idempotency-key', key]);
  const conflict = await runctl('conflict', ['trigger', automation], fresh('conflict'));
  if (first.id) await runctl('watch', ['watch', first.id, ...wait]);
  const status = first.id ? await runctl('status', ['status', first.id]) : first;
  if (conflict.id && conflict.code === 0)
    await runctl('conflictEnd', ['watch', conflict.id, ...wait], fresh('conflict'));
  const again = first.id
    ? await runctl('again', ['trigger', automation, '--idempotency-key', key], fresh('again'))
    : first;
  const { records } = recorder;
  const runs = new Set(records.map(({ started }) => started).filter(Boolean));
  return { key, doctor, missing, wrongKey, trial, first, conflict, status, again, records, runs: [...runs] };
}

/** A journal that knows nothing of the other steps, so that the service has to answer. */
function fresh(name) {
  return { RUNCTL_STATE_DIR: join(folder, name) };
}

function runctl(name, args, more = {}) {
  step = name;
  recorder.begin(step);
  const env = {
    ...process.env,
    ...{ RUNCTL_BASE_URL: recorder.url, RUNCTL_STATE_DIR: join(folder, 'state'), RUNCTL_ON_EXIT: '', RUNCTL_CI: '0' },
    ...{ RUNCTL_IDEMPOTENCY_KEYS: '', ...more },
  };
  const child = spawn(process.execPath, [program, ...args, '--json'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (data) => {
    stdout += data;
  });
  child.stderr.on('data', (data) => {
    stderr += data;
  });
  return new Promise((resolve) => {
    child.on('close', (code) => {
      const [line] = stdout.split('\n');
      const document = line ? JSON.parse(line) : {};
      resolve({ code, document, id: document.executionId ?? undefined, stderr: stderr.trim() });
    });
  });
}

async function isConfirmed() {
  if (!process.stdin.isTTY) {
    console.error(`This starts up to five runs of ${automation} at ${baseUrl}. Add --yes to allow it.`);
    return false;
  }
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await prompt.question(`This starts up to five runs of ${automation} at ${baseUrl}. Continue? [y/N] `);
  prompt.close();
  return /^y(es)?$/i.test(answer.trim());
}
