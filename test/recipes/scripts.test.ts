import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { loseResponse, type Scenario } from '../fault-kit/scenario.ts';
import { quick } from '../helpers/emulator.ts';
import { mapConcurrently } from '../helpers/map-concurrently.ts';
import { needs } from '../helpers/needs.ts';
import type { ProcessEnded } from '../helpers/run-process.ts';
import { createBareMachine, python, withBareMachine } from './bare-machine.ts';
import { type Block, blockOf, readBlocks } from './blocks.ts';

/** What no test can run, and why. */
const notRunHere: Record<string, string> = {
  'npm ci && npm run demo': 'it installs; test/e2e/demo.test.ts runs the demo',
  'npm ci && npm run pack && npm install --global': 'it installs; test/e2e/package.test.ts does that',
};

/** How a block is checked. One in another language fails the test below. */
const languages = ['sh', 'text', 'console', 'crontab', 'ini', 'yaml', 'python', 'dockerfile', 'make', 'sbatch'];

const blocks = readBlocks('run');
const isRunHere = ({ language, text }: Block) =>
  language === 'sh' && !Object.keys(notRunHere).some((line) => text.startsWith(line));
const scripts = blocks.filter(isRunHere);
const ended = new Map<Block, ProcessEnded>();

async function runScript(block: Block): Promise<void> {
  const machine = await createBareMachine(quick);
  if (block.heading === 'Tell somebody') machine.install('curl', 'echo "$@" > pinged');
  if (block.heading === 'Several hosts in the morning') machine.install('ssh', 'shift 2; exec "$@"');
  const script = machine.run(['bash', '--norc', '-c', block.text], {
    env: { ...machine.settings, PING_URL: 'https://ping.example.com/nightly' },
    input: 'a-key\n',
  });
  try {
    ended.set(block, await script);
  } finally {
    await machine.dispose();
  }
}

// A few at a time, for most of their time is waiting; from the last, for the bad days take longest.
beforeAll(() => mapConcurrently(scripts.toReversed(), runScript, 6), 180_000);

test('every code block of these pages is in a language that is checked', () => {
  expect(blocks.filter(({ language }) => !languages.includes(language))).toEqual([]);
  expect(blocks.length).toBeGreaterThan(20);
});

test.for(scripts)('the script at $place, under $heading, runs as printed', (block, context) => {
  if (block.text.startsWith('parallel')) needs(context, 'parallel');
  const { code, stderr } = ended.get(block) ?? {};
  expect(code, stderr).toBe(0);
});

const printed = blocks.filter(({ language }) => language === 'text');

test.each(printed)('the script above $place, under $heading, prints what the page says', (block) => {
  const script = blocks[blocks.indexOf(block) - 1];
  const lines = (text = '') => text.trim().split('\n').toSorted();
  expect(lines(script && ended.get(script)?.stdout)).toEqual(lines(block.text));
});

test.each([
  ['Keep the id', /^nightly: 0 steps failed\n$/],
  ['Scripts', /^the report is ready\n$/],
  ['Success rate and credits', /^$/],
  ['Several at once', /^north\tCOMPLETED\t12\nsouth\tCOMPLETED\t12\nwest\tCOMPLETED\t12\n$/],
])('the script under "%s" prints what it promises', (heading, wanted) => {
  const script = scripts.find((block) => block.heading === heading);
  expect(script && ended.get(script)?.stdout).toMatch(wanted);
});

test('"Several hosts in the morning" names the host of each run that did not complete, or may not have', async () => {
  const script = scripts.find(({ heading }) => heading === 'Several hosts in the morning')?.text ?? '';
  const { env, install, run, settings } = await withBareMachine({
    automations: { failing: { duration: '1ms', finalStatus: 'FAILED' }, 'response-lost': {} },
    faults: [{ on: 'trigger', automation: 'response-lost', do: 'status', status: 501 }],
  });
  install('ssh', 'RUNCTL_STATE_DIR="$RUNCTL_STATE_DIR-$2"; shift 2; exec "$@"');
  const onOps2 = { ...settings, RUNCTL_STATE_DIR: `${env.RUNCTL_STATE_DIR}-ops2` };
  for (const name of ['failing', 'response-lost']) await run(['runctl', 'trigger', name], { env: onOps2 });
  expect(await run(['bash', '--norc', '-c', script], { env: settings })).toMatchObject({
    code: 0,
    stdout: 'ops2.jsonl\toutcome_unknown\tresponse-lost\nops2.jsonl\trun_failed\tfailing\n',
  });
});

test('make runs the line of the Makefile', async (context) => {
  needs(context, 'make');
  const { folder, emulator, run, settings } = await withBareMachine();
  writeFileSync(join(folder, 'Makefile'), blockOf('make and GNU parallel', 'make'));
  expect(await run(['make', '--silent', 'nightly'], { env: settings })).toMatchObject({ code: 0 });
  expect(emulator.runs()).toMatchObject([{ target: { automationName: 'nightly' } }]);
});

const lostAnswer = loseResponse({ nth: 1 });
const badGateway = { on: 'status', nth: 1, do: 'status', status: 502 } as const;

test.for<[what: string, Scenario, code: number, stdout: RegExp]>([
  ['recovers a lost answer', { faults: [lostAnswer, badGateway] }, 0, /^recover outcome_unknown\nok .+\n$/],
  ['stops where there are no credits', { credits: 0 }, 8, /^no_credits .+\n$/],
  [
    'stops after a final status that it does not know',
    { automations: { '*': { duration: '1ms', finalStatus: 'SKIPPED' } } },
    15,
    /^run_ended .+\n$/,
  ],
])('docs/samples/supervise.py %s', async ([, scenario, code, stdout], context) => {
  needs(context, 'python3');
  const { run, settings } = await withBareMachine({ ...quick, ...scenario });
  const script = join(import.meta.dirname, '../../docs/samples/supervise.py');
  const ended = await run([python, script, 'nightly', '1ms', '9m'], { env: settings });
  expect(ended).toMatchObject({ code, stdout: expect.stringMatching(stdout) });
});
