// Every command that is printed is one that runctl takes (`test/helpers/printed-commands.ts`). Here: that a shell takes it
// apart in the same way, and that it means the same service.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Scenario } from '../fault-kit/scenario.ts';
import { withEmulator } from '../helpers/emulator.ts';
import { jsonLines } from '../helpers/json-lines.ts';
import { printedCommands } from '../helpers/printed-commands.ts';
import { runProgram } from '../helpers/run-program.ts';
import { executionId, projectId } from '../helpers/scripted-service.ts';

/** As bash takes it apart. */
const wordsOf = (command: string) =>
  execFileSync('bash', ['--norc', '-c', `set -- ${command}; printf '%s\\0' "$@"`], { encoding: 'utf8' })
    .split('\0')
    .slice(1, -1);

const name = `it's "nightly" & (HOME)`;
const slow: Scenario = { automations: { '*': { duration: '1h' } } };
const failing: Scenario = { automations: { '*': { duration: '1s', outcome: 'FAILED' } } };
const lost: Scenario = { ...slow, order: 'activeFirst', faults: [{ on: 'trigger', to: 2, do: 'loseAnswer' }] };
const noJournal = { RUNCTL_STATE_DIR: '/dev/null' };

interface Situation {
  scenario?: Scenario;
  before?: string[][];
  argv: string[];
  env?: Record<string, string>;
  /** A command that is printed, but for its flags. */
  prints: RegExp;
}

const brief = ['--give-up-after', '1ms'];
const missing = `${projectId}/nightly/${executionId}`;

const noResult: Scenario = {
  automations: { '*': { duration: '1s' } },
  faults: [{ on: 'result', do: 'status', status: 502 }],
};
const lostOnce: Scenario = { ...lost, faults: [{ on: 'trigger', nth: 1, do: 'loseAnswer' }] };

const situations: Record<string, Situation> = {
  'a trigger': { scenario: slow, argv: ['trigger', name], prints: /^runctl watch [\da-f-]{36}$/ },
  'a trigger on a CI runner': {
    scenario: slow,
    argv: ['trigger', name],
    env: { CI: '1' },
    prints: /^runctl watch '[\da-f-]{36}\/it/,
  },
  'a conflict': {
    scenario: { ...slow, namesActiveRun: true },
    before: [['trigger', name]],
    argv: ['trigger', name],
    env: noJournal,
    prints: /^runctl watch '[\da-f-]{36}\/it/,
  },
  'a lost answer': { scenario: lost, argv: ['trigger', name, ...brief], prints: /^runctl recover$/ },
  'a lost answer without a journal': {
    scenario: lost,
    argv: ['trigger', name, ...brief],
    env: noJournal,
    prints: /^runctl trigger '.*' --idempotency-key/,
  },
  'a lost answer, then a conflict': {
    scenario: lostOnce,
    argv: ['trigger', name],
    prints: /^runctl recover '.*' --resend$/,
  },
  'several timeouts': {
    scenario: slow,
    argv: ['trigger', name, 'b', '--watch', '--timeout', '1m'],
    prints: /^runctl watch/,
  },
  'a run that failed': {
    scenario: failing,
    argv: ['trigger', name, '--watch'],
    prints: /^runctl trigger '.*' --watch$/,
  },
  'a run of another project that failed': {
    scenario: failing,
    argv: ['trigger', `${executionId}/nightly`, '--watch'],
    prints: new RegExp(`^runctl trigger ${executionId}/nightly --watch$`),
  },
  'a run that completed without a result': {
    scenario: noResult,
    argv: ['trigger', name, '--watch'],
    prints: /^runctl result/,
  },
  'an API key that is refused': {
    argv: ['trigger', name],
    env: { RUNCTL_API_KEY: 'wrong-key-123456' },
    prints: /^runctl config list$/,
  },
  'a run that is not there': { argv: ['status', missing], prints: /^runctl list$/ },
};

const withoutFlags = (command: string) => command.replace(' --profile staging', '');

test.each(Object.entries(situations))(
  'a command that is printed after %s can be pasted into a shell, and holds for the profile that was named',
  async (_, { scenario = {}, before = [], argv, env: own = {}, prints }) => {
    const { env: given, clock } = await withEmulator(scenario);
    const { RUNCTL_BASE_URL: baseUrl, RUNCTL_API_KEY: apiKey, RUNCTL_PROJECT: project, ...folders } = given;
    const { RUNCTL_CONFIG_DIR: folder = '' } = folders;
    mkdirSync(folder, { recursive: true });
    const other = { baseUrl: 'https://other.test', apiKey: 'other-key-123456' };
    const profiles = { default: other, staging: { baseUrl, apiKey, project } };
    writeFileSync(join(folder, 'config.json'), JSON.stringify({ profiles }), { mode: 0o600 });
    const run = (words: string[], env = {}) => runProgram(words, { env: { ...folders, ...env }, clock });

    for (const earlier of before) await run([...earlier, '--profile', 'staging']);
    const { stderr } = await run([...argv, '--profile', 'staging'], own);
    const commands = [...new Set(printedCommands(stderr))];
    expect(commands.map(withoutFlags)).toContainEqual(expect.stringMatching(prints));
    for (const command of commands) {
      expect(command).toContain(' --profile staging');
      const ended = await run(wordsOf(command));
      expect(ended.code, `${command}: ${ended.stderr}`).not.toBe(2);
    }
  },
);

test.each([
  ['a run that was started', 0],
  ['a refusal', 5],
])('the next command after %s repeats the service that was named by flags', async (_, exitCode) => {
  const { env, clock } = await withEmulator(slow);
  const flags = ['--base-url', env.RUNCTL_BASE_URL ?? '', '--project', projectId];
  const elsewhere = { ...env, RUNCTL_BASE_URL: 'https://other.test' };
  const run = (output: string[]) => runProgram(['trigger', 'nightly', ...output, ...flags], { env: elsewhere, clock });
  if (exitCode > 0) await run([]);
  const { code, stdout } = await run(['--json']);
  expect([code, jsonLines(stdout)[0].runctl.next]).toEqual([exitCode, expect.stringContaining(flags.join(' '))]);
  const { stderr } = await run([]);
  expect(printedCommands(stderr)).toEqual([expect.stringContaining(flags.join(' '))]);
});
