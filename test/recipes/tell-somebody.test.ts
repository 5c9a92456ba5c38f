import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Scenario } from '../fault-kit/scenario.ts';
import { withBareMachine } from './bare-machine.ts';
import { blockOf } from './blocks.ts';

const mailing = blockOf('Tell somebody', 'sh', 'runctl');
const pinging = blockOf('Tell somebody', 'sh', 'set');

const withOutcome = (finalStatus: 'COMPLETED' | 'FAILED'): Scenario => ({
  automations: { '*': { duration: '1ms', finalStatus } },
});

test.each([
  [withOutcome('FAILED'), 1, { status: 'FAILED' }],
  [{ credits: 0 }, 8, { runctl: { outcome: 'no_credits', problem: { name: 'no_credits' } } }],
])('a mail has the exit code as its subject and the document as its body', async (scenario, code, document) => {
  const { run, install, settings } = await withBareMachine(scenario);
  install('mail', 'echo "$*"; cat');
  const ended = await run(['bash', '--norc', '-c', mailing], { env: settings });
  expect(ended.code).toBe(code);
  const [subject, body = ''] = ended.stdout.split('\n');
  expect(subject).toBe(`-s nightly: exit code ${code} ops@example.com`);
  expect(JSON.parse(body)).toMatchObject(document);
});

test('nobody is mailed if the run completed', async () => {
  const { run, install, settings } = await withBareMachine();
  install('mail', 'echo mailed');
  expect(await run(['sh', '-c', mailing], { env: settings })).toMatchObject({ code: 0, stdout: '' });
});

test.each([
  ['completed', withOutcome('COMPLETED'), 0],
  ['failed', withOutcome('FAILED'), 1],
])('a ping says that a script %s, and changes nothing if it fails itself', async (_, scenario, code) => {
  const { run, install, folder, settings } = await withBareMachine(scenario);
  install('curl', `echo "$@" > '${join(folder, 'pinged')}'; exit 22`);
  const around = { ...settings, PING_URL: 'https://ping.example.com/nightly' };
  expect(await run(['bash', '--norc', '-c', pinging], { env: around })).toMatchObject({ code });
  expect(readFileSync(join(folder, 'pinged'), 'utf8')).toContain(`https://ping.example.com/nightly/${code}\n`);
});
