import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Scenario } from '../../src/emulator/scenario.ts';
import { withEmulator } from '../helpers/emulator.ts';
import { runProgram } from '../helpers/run-program.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const failing: Scenario = {
  automations: {
    nightly: {
      duration: '1s',
      outcome: 'FAILED',
      error: { type: 'step_failed', message: 'Step "A":\n::set-output name=a::100% ##[add-mask]b' },
      output: 'first\n  ::add-mask::secret\n##[error]third',
    },
  },
};

/** One command as a step of a job. */
async function step(scenario: Scenario, args: string[], summaryIs: 'file' | 'folder' = 'file') {
  const { env, clock } = await withEmulator(scenario);
  const folder = temporaryFolder();
  const summary = join(folder, 'summary.md');
  if (summaryIs === 'folder') mkdirSync(summary);
  const outputs = join(folder, 'outputs');
  const files = { GITHUB_STEP_SUMMARY: summary, GITHUB_OUTPUT: outputs };
  const ended = await runProgram(args, { env: { ...env, GITHUB_ACTIONS: 'true', ...files }, clock });
  /** What the runner would obey, by its own rules. */
  const commands = `${ended.stdout}\n${ended.stderr}`.split('\n').filter((line) => /^\s*::|##\[/.test(line));
  const read = (file: string) => readFileSync(file, 'utf8');
  return { ...ended, commands, summary: () => read(summary), outputs: () => read(outputs) };
}

test('a run that failed is an annotation and a part of the summary, and its text gives the runner no orders', async () => {
  const { code, commands, summary, stdout } = await step(failing, ['trigger', 'nightly', '--watch']);
  expect(code).toBe(1);
  expect(commands).toEqual([
    '::error title=nightly FAILED::step_failed: Step "A":%0A: :set-output name=a::100%25 ## [add-mask]b',
  ]);
  expect(stdout).toContain('first\n  : :add-mask: :secret\n## [error]third\n');
  expect(summary()).toMatch(/^### ✖ FAILED nightly after 1s\n\n```text\n/);
});

test('data on stdout is as it is anywhere', async () => {
  const { stdout, commands } = await step(failing, ['trigger', 'nightly', '--watch', '--json']);
  expect(JSON.parse(stdout)).toMatchObject({ status: 'FAILED', output: 'first\n  ::add-mask::secret\n##[error]third' });
  expect(commands).toEqual([expect.stringMatching(/^::error title=nightly FAILED::/)]);
});

test('a run that completed is in the summary and in the outputs of the step', async () => {
  const good = { automations: { nightly: { duration: '1s' } } };
  const { commands, summary, outputs } = await step(good, ['trigger', 'nightly', '--watch', '--quiet']);
  expect(commands).toEqual([]);
  expect(summary()).toMatch(/^### ✔ COMPLETED nightly in 1s\n/);
  expect(outputs()).toMatch(/^execution-id=[0-9a-f-]{36}\nstatus=COMPLETED\nstarted=yes\noutcome=ok\nexit-code=0\n$/);
});

test('a trigger that was refused is an annotation and a part of the summary', async () => {
  const { code, commands, summary } = await step({ credits: 0 }, ['trigger', 'nightly']);
  expect(code).toBe(8);
  expect(commands).toEqual([expect.stringMatching(/^::error title=runctl::.*\(HTTP 402 \w+\)%0Atop up the credits/)]);
  expect(summary()).toMatch(/^### ✖ nightly\\: no\\_credits\n/);
});

test.each<[string, Scenario, string[], string]>([
  ['a usage error', {}, ['trigger', 'nightly', '--nope'], 'started=no outcome=usage exit-code=2'],
  ['a missing setting', {}, ['watch', 'nightly', '--base-url', 'ftp://x'], 'started=no outcome=usage exit-code=2'],
  [
    'an unknown outcome',
    { faults: [{ on: 'trigger', do: 'loseAnswer' }] },
    ['trigger', 'nightly', '--give-up-after', '1ms'],
    'started=unknown outcome=outcome_unknown exit-code=12',
  ],
])('the outputs of the step say how %s ended', async (_, scenario, argv, expected) => {
  const { outputs } = await step(scenario, argv);
  expect(outputs().split('\n').slice(2, 5).join(' ')).toBe(expected);
});

test('a command that neither starts nor follows a run leaves the outputs of the step alone', async () => {
  const { outputs } = await step({}, ['list']);
  expect(outputs).toThrow('ENOENT');
});

test("a summary that can't be written is reported and changes nothing else", async () => {
  const { code, stderr } = await step({ credits: 0 }, ['trigger', 'nightly'], 'folder');
  expect(code).toBe(8);
  expect(stderr).toMatch(/^runctl: the job summary couldn't be written \(EISDIR\)$/m);
});

test('elsewhere nothing of the kind is written', async () => {
  const { env } = await withEmulator({ credits: 0 });
  expect((await runProgram(['trigger', 'nightly'], { env })).stderr).not.toContain('::');
});
