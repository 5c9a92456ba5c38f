import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Scenario } from '../../src/emulator/scenario.ts';
import { needs } from '../helpers/needs.ts';
import { runProgram } from '../helpers/run-program.ts';
import { withBareMachine } from './bare-machine.ts';

const text = readFileSync(join(import.meta.dirname, '../../docs/hooks.md'), 'utf8');

/** The block that follows these words. */
function blockAfter(words: string): string {
  const [, block] = /```\w+\n([\s\S]*?)```/.exec(text.slice(text.indexOf(words))) ?? [];
  if (!text.includes(words) || block === undefined) throw new Error(`no block after ${words}`);
  return block;
}

const failing: Scenario = { automations: { '*': { duration: '1ms', outcome: 'FAILED' } } };
const quick: Scenario = { automations: { '*': { duration: '1ms' } } };
const watched = ['trigger', 'nightly', '--watch', '--quiet', '--interval', '20ms'];

test('a line of a script says what a failed run exited with, and nothing of one that completed', async () => {
  const shell = ['sh', '-c', blockAfter('use the shell')];
  const failed = await withBareMachine(failing);
  expect((await failed.run(shell, { env: failed.settings })).stderr).toMatch(/^nightly exited with 1$/m);
  const completed = await withBareMachine(quick);
  expect(await completed.run(shell, { env: completed.settings })).toMatchObject({ code: 0, stderr: '' });
});

test('mail has the exit code as its subject and the messages as its body, and is sent for failures alone', async () => {
  const mailOf = async (scenario: Scenario) => {
    const { run, settings, folder, env } = await withBareMachine(scenario);
    const [args, input] = ['args', 'input'].map((name) => join(folder, name));
    writeFileSync(join(folder, 'mail'), `#!/bin/sh\nprintf '%s\\n' "$@" > '${args}'; cat > '${input}'\n`, {
      mode: 0o755,
    });
    const PATH = `${folder}:${env.PATH}`;
    await run(['sh', '-c', blockAfter('**Mail**')], { env: { ...settings, PATH, MAIL_TO: 'ops' } });
    return existsSync(args ?? '') ? [args, input].map((file) => readFileSync(file ?? '', 'utf8')) : [];
  };
  expect(await mailOf(quick)).toEqual([]);
  expect(await mailOf(failing)).toEqual([
    '-s\nrunctl: nightly exited with 1\nops\n',
    expect.stringContaining('FAILED'),
  ]);
});

test('one watch at a time runs its hook for each unfinished run', async (context) => {
  needs(context, 'flock');
  const { run, env, settings, folder } = await withBareMachine(quick);
  await runProgram(['trigger', 'nightly'], { env: { ...env, ...settings } });
  writeFileSync(join(folder, 'logger'), `#!/bin/sh\necho "$3" >> '${join(folder, 'log')}'\n`, { mode: 0o755 });
  const around = { ...settings, HOME: folder, PATH: `${folder}:${env.PATH}` };
  expect(await run(['sh', '-c', blockAfter('Every unfinished run')], { env: around })).toMatchObject({ code: 0 });
  expect(readFileSync(join(folder, 'log'), 'utf8')).toBe('nightly COMPLETED\n');
});

test('the cron line speaks up until the automation has completed', async () => {
  const { run, env, settings } = await withBareMachine(quick);
  const check = () => run(['sh', '-c', blockAfter('**From cron**')], { env: settings });
  expect((await check()).stdout).toBe('nightly has not completed within 26h\n');
  await runProgram(watched, { env: { ...env, ...settings } });
  expect(await check()).toMatchObject({ code: 0, stdout: '' });
});

test('statistics count the runs, those that completed, and their credits', async (context) => {
  needs(context, 'jq');
  const { run, env, settings } = await withBareMachine(quick);
  await runProgram(watched, { env: { ...env, ...settings } });
  const { stdout } = await run(['sh', '-c', blockAfter('## Statistics')], { env: settings });
  expect(JSON.parse(stdout)).toMatchObject({ runs: 1, completed: 1 });
});
