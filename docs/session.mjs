// Draws docs/session.svg and docs/board.svg from the running program: `npm run picture`.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { buildSync } from 'esbuild';

const root = join(import.meta.dirname, '..');

const scenario = {
  automations: {
    'nightly-report': {
      duration: '6s',
      steps: { count: 4, skipped: 1 },
      output: 'Read 128 orders, wrote 1 report, sent it to 3 people.',
      creditsCharged: 7,
    },
    invoices: {
      duration: '3s',
      finalStatus: ['COMPLETED', 'COMPLETED', 'COMPLETED', 'FAILED'],
      steps: { count: 5, failed: 1, skipped: 2 },
      error: { type: 'step_failed', message: 'Step "Post to the ledger": the ledger answered 403' },
      creditsCharged: 9,
    },
    'weekly-export': { duration: '40s' },
    backup: { duration: '4s', creditsCharged: 2 },
  },
  faults: [
    { on: 'trigger', automation: 'backup', nth: 1, do: 'loseAnswer' },
    // The first three runs show it the usual duration.
    { on: 'trigger', automation: 'nightly-report', nth: 4, do: 'html', status: 504, acts: true },
    { on: 'status', automation: 'weekly-export', during: { after: '1s', for: '30s' }, do: 'html', status: 502 },
  ],
};

const { openTerminal, pictureOf, startFaultyEmulator } = load(`
  export { pictureOf } from './.config/picture.ts';
  export { openTerminal } from './test/helpers/screen.ts';
  export { startFaultyEmulator } from './test/fault-kit/start.ts';
`);

const folder = mkdtempSync(join(tmpdir(), 'runctl-picture-'));
mkdirSync(join(folder, 'bin'));
symlinkSync(join(root, 'bin/runctl.js'), join(folder, 'bin/runctl'));
const emulator = await startFaultyEmulator(scenario);
const env = {
  PATH: `${folder}/bin:${process.env.PATH}`,
  HOME: folder,
  PS1: '\\n$ ',
  FORCE_COLOR: '1',
  RUNCTL_BASE_URL: emulator.url,
  RUNCTL_API_KEY: emulator.apiKey,
  RUNCTL_PROJECT: emulator.projectId,
};
const open = () => openTerminal('bash', ['--norc', '--noprofile'], { env, columns: 100, rows: 40 });

const before = open();
// So that there is a usual duration to show.
for (let run = 1; run <= 3; run++) await enter(before, 'runctl trigger invoices nightly-report --watch -q');
before.kill();

const session = open();
for (const automation of ['nightly-report', 'invoices']) {
  await enter(session, `runctl trigger ${automation} --watch`);
  await enter(session, 'echo $?');
}
await promptOf(session);
session.type('runctl trigger nightly-report --watch\r');
while (!(await session.lines()).some((line) => line.includes('RUNNING 3'))) await setTimeout(50);
await draw(
  session,
  'session',
  'A session: a trigger gets a 504 although it has started the run, which runctl finds, and its exit code is 0; a run fails, with its error and exit code 1; another shows how long it usually takes',
);
await promptOf(session);

const board = open();
await promptOf(board);
board.type('runctl trigger nightly-report invoices weekly-export --watch\r');
const isTelling = (lines) =>
  ['✖ FAILED', '1 of 3 done', '⚠', 'usually'].every((sign) => lines.some((line) => line.includes(sign)));
while (!isTelling(await board.lines())) await setTimeout(50);
await draw(
  board,
  'board',
  'Three runs watched together: one has failed, one shows how long it usually takes, and for one the service has not responded for some seconds',
);
board.type('\u0003');
await promptOf(board);

rmSync(folder, { recursive: true, force: true });
process.exit();

async function draw(screen, name, about) {
  await screen.lines();
  writeFileSync(join(root, `docs/${name}.svg`), pictureOf(screen.terminal, about));
}

/** Types a command line and waits for the next prompt. */
async function enter(screen, line) {
  await promptOf(screen);
  screen.type(`${line}\r`);
  await setTimeout(300);
  await promptOf(screen);
}

async function promptOf(screen) {
  while ((await screen.lines()).at(-1) !== '$') await setTimeout(50);
}

/** TypeScript, which this Node may not read. */
function load(contents) {
  const { outputFiles } = buildSync({
    stdin: { contents, resolveDir: root },
    bundle: true,
    write: false,
    platform: 'node',
    packages: 'external',
    define: { 'import.meta.dirname': JSON.stringify(join(root, 'test/helpers')) },
  });
  const module = { exports: {} };
  new Function('module', 'exports', 'require', outputFiles[0].text)(
    module,
    module.exports,
    createRequire(import.meta.url),
  );
  return module.exports;
}
