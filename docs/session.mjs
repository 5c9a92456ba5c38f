// Draws docs/session.svg from the running program: `npm run picture`.
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
      outcome: ['COMPLETED', 'COMPLETED', 'COMPLETED', 'FAILED'],
      steps: { count: 5, failed: 1, skipped: 2 },
      error: { type: 'step_failed', message: 'Step "Post to the ledger": the ledger answered 403' },
      creditsCharged: 9,
    },
    'weekly-export': { duration: '40s' },
  },
  faults: [
    // The first three runs show it the usual duration.
    { on: 'trigger', automation: 'nightly-report', nth: 4, do: 'loseAnswer' },
    { on: 'status', automation: 'nightly-report', during: { after: '2s', for: '2s' }, do: 'status', status: 502 },
  ],
};

const { openTerminal, pictureOf, startEmulator } = load(`
  export { pictureOf } from './test/helpers/picture.ts';
  export { openTerminal } from './test/helpers/screen.ts';
  export { startEmulator } from './src/emulator/server.ts';
`);

const folder = mkdtempSync(join(tmpdir(), 'runctl-picture-'));
mkdirSync(join(folder, 'bin'));
symlinkSync(join(root, 'bin/runctl.js'), join(folder, 'bin/runctl'));
const emulator = await startEmulator({ scenario });
const env = {
  PATH: `${folder}/bin:${process.env.PATH}`,
  HOME: folder,
  PS1: '\\n$ ',
  RUNCTL_BASE_URL: emulator.url,
  RUNCTL_API_KEY: emulator.apiKey,
  RUNCTL_PROJECT: emulator.projectId,
};
const open = () => openTerminal('bash', ['--norc', '--noprofile'], { env, columns: 88, rows: 40 });

const before = open();
// So that there is a usual duration to show.
for (let run = 1; run <= 3; run++) await enter(before, 'runctl trigger invoices nightly-report --watch -q');
before.kill();

const session = open();
await enter(session, 'runctl trigger nightly-report --watch; echo "exit code $?"');
await enter(session, 'runctl trigger invoices --watch; echo "exit code $?"');
await enter(session, 'runctl list --limit 2');
await session.lines();
writeFileSync(
  join(root, 'docs/session.svg'),
  pictureOf(
    session.terminal,
    'A session at a terminal: the answer to a trigger is lost, the service answers 502, and there is one run that completes; another fails and says why; the list of both',
  ),
);
rmSync(folder, { recursive: true, force: true });
process.exit();

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
