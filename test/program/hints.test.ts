// Every command that is printed is one that runctl takes (`test/helpers/printed-commands.ts`). Here: that a shell takes it
// apart in the same way, and that it means the same service.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loseResponse, type Scenario } from '../fault-kit/scenario.ts';
import { failing, going, withEmulator } from '../helpers/emulator.ts';
import { jsonLines } from '../helpers/json-lines.ts';
import { printedCommands } from '../helpers/printed-commands.ts';
import { runProgram } from '../helpers/run-program.ts';
import { executionId, projectId } from '../helpers/scripted-service.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

/** As bash takes it apart. */
const wordsOf = (command: string) =>
  execFileSync('bash', ['--norc', '-c', `set -- ${command}; printf '%s\\0' "$@"`], { encoding: 'utf8' })
    .split('\0')
    .slice(1, -1);

const name = `it's "nightly" & (HOME)`;
const lost: Scenario = { ...going, order: 'activeFirst', faults: [loseResponse({ to: 2 })] };
const noJournal = { RUNCTL_STATE_DIR: '/dev/null' };

const lostOnce: Scenario = { ...lost, faults: [loseResponse({ nth: 1 })] };
const longWait: Scenario = {
  faults: [{ on: 'trigger', do: 'status', status: 503, headers: { 'retry-after': '7200' } }],
};
const trigger = ['trigger', name];
const elsewhere = `${executionId}/nightly`;
const withoutFlags = (command: string) => command.replace(' --profile staging', '');

test.each<[string, Scenario, string[], Record<string, string>, prints: RegExp]>([
  ['a trigger on a CI runner', going, trigger, { CI: '1' }, /^runctl watch '[\da-f-]{36}\/it/],
  ['a conflict', { ...going, namesActiveRun: true }, trigger, noJournal, /^runctl watch '[\da-f-]{36}\/it/],
  [
    'a lost answer without a journal',
    lost,
    [...trigger, '--give-up-after', '1ms'],
    noJournal,
    /^runctl trigger '.*' --idempotency-key/,
  ],
  ['a lost answer, then a conflict', lostOnce, trigger, {}, /^runctl recover '.*' --resend$/],
  ['a wait of two hours that the service asks for', longWait, trigger, {}, /^runctl recover '.*' --resend$/],
  ['a run that failed', failing, [...trigger, '--watch'], {}, /^runctl trigger '.*' --watch$/],
  [
    'a failed run of another project',
    failing,
    ['trigger', elsewhere, '--watch'],
    {},
    / trigger [\da-f]{8}-.*\/nightly/,
  ],
])(
  'a command that is printed after %s can be pasted into a shell, and uses the profile that was named',
  async (_, scenario, argv, own, prints) => {
    const { env: given, clock } = await withEmulator(scenario);
    const { RUNCTL_BASE_URL: baseUrl, RUNCTL_API_KEY: apiKey, RUNCTL_PROJECT: project, ...folders } = given;
    const { RUNCTL_CONFIG_DIR: folder = '' } = folders;
    mkdirSync(folder, { recursive: true });
    const other = { baseUrl: 'https://other.test', apiKey: 'other-key-123456' };
    const profiles = { default: other, staging: { baseUrl, apiKey, project } };
    writeFileSync(join(folder, 'config.json'), JSON.stringify({ profiles }), { mode: 0o600 });
    const run = (words: string[], env = {}) => runProgram(words, { env: { ...folders, ...env }, clock });

    if (scenario.namesActiveRun) await run([...argv, '--profile', 'staging']);
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
])('the next command after %s uses the service that was named by flags', async (_, exitCode) => {
  const { env, clock } = await withEmulator(going);
  const flags = ['--base-url', env.RUNCTL_BASE_URL ?? '', '--project', projectId];
  const elsewhere = { ...env, RUNCTL_BASE_URL: 'https://other.test' };
  const run = (output: string[]) => runProgram(['trigger', 'nightly', ...output, ...flags], { env: elsewhere, clock });
  if (exitCode > 0) await run([]);
  const { code, stdout } = await run(['--json']);
  expect([code, jsonLines(stdout)[0].runctl.next]).toEqual([exitCode, expect.stringContaining(flags.join(' '))]);
  const { stderr } = await run([]);
  expect(printedCommands(stderr)).toEqual([expect.stringContaining(flags.join(' '))]);
});

test('a printed line that is pasted whole, with or without its arrow, runs runctl only if the command stands alone', () => {
  const folder = temporaryFolder();
  const said = readFileSync(join(import.meta.dirname, '../words.txt'), 'utf8').split('\n');
  const lines = said.filter((line) => line !== '' && !/^[$#]/.test(line));
  expect(lines.filter((line) => line.includes('`'))).toEqual([]);
  const pasted = [...new Set([...lines, ...lines.map((line) => line.replace(/^ *(?:→|--|->) /, ''))])];
  // No other command is found, whatever a sentence begins with.
  // All at once, as on a busy machine each of them waits for its turn.
  const paste = 'while IFS= read -r line; do (eval "$line" >/dev/null 2>&1) & done; wait; true';
  const script = `PATH=; runctl() { printf '%s\\n' "$line" >&3; }; exec 3>&1; ${paste}`;
  const run = { encoding: 'utf8', cwd: folder, input: `${pasted.join('\n')}\n` } as const;
  const executed = execFileSync('/bin/bash', ['--norc', '-c', script], run).split('\n').filter(Boolean);
  expect(executed.filter((line) => !/^ *runctl [^.;:]+(?: # .*)?$/.test(line))).toEqual([]);
  expect(executed).toContain('runctl watch --all');
  // An arrow of ASCII must not be read as a redirection.
  expect(readdirSync(folder)).toEqual([]);
});
