// A script in another language, which knows of the program only what `runctl explain --json` and its schema say.
import { renameSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Scenario } from '../fault-kit/scenario.ts';
import { withEmulator } from '../helpers/emulator.ts';
import { installProcess, installProgram } from '../helpers/install-program.ts';
import { needs } from '../helpers/needs.ts';
import { runCommand } from '../helpers/run-process.ts';
import { runProgram } from '../helpers/run-program.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { python } from '../recipes/bare-machine.ts';

const script = join(import.meta.dirname, '../../docs/samples/supervise.py');
const badGateway = { on: 'status', nth: 1, do: 'status', status: 502 } as const;
const lostAnswer = { on: 'trigger', nth: 1, do: 'loseAnswer' } as const;

interface Story {
  scenario?: Scenario;
  /** How long the trigger is retried, and how long it waits at once. */
  times?: [retry: string, wait: string];
  /** Is it running already? */
  isActive?: true;
  code: number;
  stdout: RegExp;
}

const stories: Record<string, Story> = {
  'watches a run over a 502': { scenario: { faults: [badGateway] }, code: 0, stdout: /^ok .+\n$/ },
  'waits in slices': {
    scenario: { automations: { '*': { duration: '1h' } } },
    times: ['2m', '1s'],
    code: 0,
    stdout: /^(wait\n)+ok .+\n$/,
  },
  'recovers a lost answer': {
    scenario: { faults: [lostAnswer, badGateway] },
    times: ['1ms', '9m'],
    code: 0,
    stdout: /^recover outcome_unknown\nok .+\n$/,
  },
  'recovers a run that fails then': {
    scenario: { faults: [lostAnswer], automations: { '*': { duration: '1s', outcome: 'FAILED' } } },
    times: ['1ms', '9m'],
    code: 1,
    stdout: /^recover outcome_unknown\nrun_failed .*runctl result/,
  },
  'stops where there are no credits': { scenario: { credits: 0 }, code: 8, stdout: /^no_credits .+\n$/ },
  'starts no second run of one that is running': {
    scenario: { automations: { '*': { duration: '1h' } } },
    isActive: true,
    code: 5,
    stdout: /^already_active .+\n$/,
  },
};

/** Run with the built program. */
const [firstStory] = Object.keys(stories);

/** Answers from files what is the same in every story, and what the first one asks the built program for. */
async function rememberFacts(bin: string): Promise<void> {
  const file = join(bin, 'exit-codes');
  writeFileSync(file, (await runProgram(['explain', '--json'])).stdout);
  const runctl = join(bin, 'runctl');
  renameSync(runctl, join(bin, 'real'));
  const script = `case "$*" in 'explain --json') exec cat '${file}' ;; esac\nexec '${join(bin, 'real')}' "$@"`;
  writeFileSync(runctl, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}

test.for(Object.entries(stories))('the script %s', async ([name, story], context) => {
  needs(context, 'python3');
  const { scenario, times = [], isActive, code, stdout } = story;
  const { emulator, env, clock, endRuns } = await withEmulator({
    automations: { '*': { duration: isActive ? '1m' : '1s' } },
    ...scenario,
  });
  if (isActive) await runProgram(['trigger', 'nightly'], { env });
  const bin = temporaryFolder();
  if (name === firstStory) installProcess(bin);
  else {
    onTestFinished(await installProgram(bin, { baseUrl: emulator.url, clock }));
    await rememberFacts(bin);
  }
  const PATH = [bin, process.env.PATH].join(delimiter);
  const ended = await runCommand([python, script, 'nightly', ...times], {
    env: { ...env, PATH, PYTHONUNBUFFERED: '1' },
    onOutput: (output) => output.startsWith('wait') && endRuns(),
  });
  expect(ended).toMatchObject({ code, stdout: expect.stringMatching(stdout) });
  expect(emulator.runs()).toHaveLength(code === 8 ? 0 : 1);
});
