import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { Scenario } from '../../src/emulator/scenario.ts';
import { systemClock } from '../../src/process.ts';
import { withEmulator } from '../helpers/emulator.ts';
import { jsonLines } from '../helpers/json-lines.ts';
import { runProgram } from '../helpers/run-program.ts';
import { projectId } from '../helpers/scripted-service.ts';
import { answer, startFaultyService } from '../helpers/server-faults.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const quick: Scenario = { automations: { '*': { duration: '1ms' } } };

/** A machine, and a hook that writes its variables and its input into files. */
async function machine(scenario: Scenario = quick) {
  const { env, emulator } = await withEmulator(scenario, { nowMs: Date.now });
  const folder = temporaryFolder();
  const at = (name: string) => join(folder, name);
  const hook = `env | grep ^RUNCTL_ >> '${at('env')}'; cat >> '${at('input')}'`;
  const read = (name: string) => {
    try {
      return readFileSync(at(name), 'utf8');
    } catch {
      return '';
    }
  };
  return {
    env,
    emulator,
    hook,
    run: (argv: string[], extra = {}) => runProgram(argv, { env: { ...env, ...extra } }),
    /** What the hook got; empty where it was not run. */
    received() {
      const variables = Object.fromEntries(
        read('env')
          .split('\n')
          .map((line) => line.split(/=(.*)/).slice(0, 2)),
      );
      return { variables: variables as Record<string, string>, input: read('input') };
    },
  };
}

const failing: Scenario = { automations: { '*': { duration: '1ms', outcome: 'FAILED' } } };
/** The first poll is after 3 s otherwise; a clock that leaps would end the hook at its limit. */
const watched = ['--watch', '--interval', '20ms'] as const;
const long: Scenario = { automations: { '*': { duration: '1h' } } };
const loseB: Scenario = { ...long, faults: [{ on: 'trigger', automation: 'b', do: 'loseAnswer' }] };
const brief = ['--give-up-after', '1ms'] as const;

test.each([
  ['a run that completed', quick, ['trigger', 'nightly', ...watched], '0', 'ok', 'yes', 'COMPLETED'],
  ['a run that failed', failing, ['trigger', 'nightly', ...watched], '1', 'run_failed', 'yes', 'FAILED'],
  ['a run that was only started', long, ['trigger', 'nightly'], '0', 'ok', 'yes', 'RUNNING'],
  ['no credits', { credits: 0 }, ['trigger', 'nightly', ...watched], '8', 'no_credits', 'no', ''],
  ['the timeout', long, ['trigger', 'nightly', ...watched, '--timeout', '200ms'], '124', 'timeout', 'yes', 'RUNNING'],
  ['a run that nobody knows', quick, ['watch', 'nightly'], '2', 'usage', 'no', ''],
  ['nothing to recover', quick, ['recover'], '0', 'ok', 'no', ''],
  ['several runs', failing, ['trigger', 'a', 'b', ...watched], '1', 'run_failed', 'yes', ''],
  ['a run and a lost response', loseB, ['trigger', 'a', 'b', ...brief], '12', 'outcome_unknown', 'unknown', ''],
] as const)(
  'after %s the hook gets how the command ended',
  async (_, scenario, argv, code, outcome, started, status) => {
    const { run, hook, received } = await machine(scenario);
    const ended = await run([...argv, '--on-exit', hook, '--json']);
    expect(ended.code).toBe(Number(code));
    const { variables, input } = received();
    expect(variables).toMatchObject({
      RUNCTL_EXIT_CODE: code,
      RUNCTL_OUTCOME: outcome,
      RUNCTL_STARTED: started,
      RUNCTL_STATUS: status,
      RUNCTL_COMMAND: argv[0],
      RUNCTL_IN_HOOK: '1',
    });
    expect(jsonLines(input)).toEqual(jsonLines(ended.stdout));
  },
);

test('a hook of a command that a hook runs gets its own variables', async () => {
  const { run, hook, received } = await machine(long);
  const outer = { RUNCTL_EXIT_CODE: '99', RUNCTL_STATUS: 'FAILED', RUNCTL_COMMAND: 'watch' };
  expect((await run(['trigger', 'nightly', '--on-exit', hook], outer)).code).toBe(0);
  expect(received().variables).toMatchObject({
    RUNCTL_EXIT_CODE: '0',
    RUNCTL_STATUS: 'RUNNING',
    RUNCTL_COMMAND: 'trigger',
  });
});

test('a hook gets the names that were asked for, whatever the answer names', async () => {
  const asked = '11111111-1111-4111-8111-111111111111';
  const document = { executionId: asked, projectId: 'x', automationName: '../outside/evil', status: 'COMPLETED' };
  const { env } = await startFaultyService(() => answer(200, JSON.stringify(document)));
  const folder = temporaryFolder();
  const file = '"$RUNCTL_AUTOMATION-$RUNCTL_STATUS-$RUNCTL_EXECUTION_ID.json"';
  const argv = ['watch', `${projectId}/nightly/${asked}`];
  for (const flag of ['--on-final', '--on-exit']) {
    const home = join(folder, flag);
    mkdirSync(home);
    await runProgram([...argv, flag, `cd '${home}' && cat > ${file}`], { env: { ...env, RUNCTL_API_KEY: 'test-key' } });
    expect(readdirSync(home)).toEqual([`nightly-COMPLETED-${asked}.json`]);
  }
});

test('the hook is run where a setting is missing, too', async () => {
  const { run, hook, received } = await machine();
  expect((await run(['trigger', 'nightly', '--on-exit', hook], { RUNCTL_API_KEY: '' })).code).toBe(2);
  expect(received().variables).toMatchObject({ RUNCTL_EXIT_CODE: '2', RUNCTL_OUTCOME: 'usage', RUNCTL_STARTED: 'no' });
});

test.each([
  ['the variable', {}, [], 'variable'],
  ['the profile', { RUNCTL_ON_EXIT: '' }, [], 'profile'],
  ['the flag', {}, ['--on-exit', 'echo flag >&2'], 'flag'],
  ['nothing, where the flag is empty', {}, ['--on-exit', ''], ''],
  ['nothing, within a hook', { RUNCTL_IN_HOOK: '1' }, [], ''],
  ['the flag, within a hook', { RUNCTL_IN_HOOK: '1' }, ['--on-exit', 'echo flag >&2'], 'flag'],
])('of flag, variable and profile %s counts', async (_, extra, flags, expected) => {
  const { run } = await machine();
  await run(['config', 'set', 'onExit', 'echo profile']);
  const { stderr } = await run(['trigger', 'nightly', '-q', ...flags], { RUNCTL_ON_EXIT: 'echo variable', ...extra });
  expect(stderr.trim()).toBe(expected);
});

test.each([['status'], ['list'], ['stats'], ['result', 'nightly']])('%s has no hook', async (...argv) => {
  const { run, hook, received } = await machine();
  await run(['trigger', 'nightly', ...watched]);
  await run([...argv], { RUNCTL_ON_EXIT: hook });
  expect(received().input).toBe('');
});

test('after a signal the hook is not run', async () => {
  const { env, hook, received } = await machine(long);
  const interrupt = new AbortController();
  const running = runProgram(['trigger', 'nightly', ...watched, '--on-exit', hook], { env, signal: interrupt.signal });
  await systemClock.sleep(500);
  interrupt.abort('SIGTERM');
  expect((await running).code).toBe(143);
  expect(received().input).toBe('');
});

test.each([
  ['--on-exit', ['trigger', 'nightly']],
  ['--on-final', ['trigger', 'nightly', '--watch', '--interval', '20ms']],
])('a signal while %s runs decides how the command ends', async (flag, argv) => {
  const { env } = await machine();
  const file = join(temporaryFolder(), 'running');
  const interrupt = new AbortController();
  const running = runProgram([...argv, flag, `: > '${file}'; sleep 60`], { env, signal: interrupt.signal });
  await vi.waitUntil(() => existsSync(file), { timeout: 10_000, interval: 5 });
  interrupt.abort('SIGTERM');
  const { code, stderr } = await running;
  expect(code).toBe(143);
  expect(stderr).toMatch(/command .*was interrupted\n/);
});

test('a hook that fails is reported, and changes no exit code', async () => {
  const { run } = await machine(failing);
  const hook = 'printf "on stdout"; printf "on stderr" >&2; exit 7';
  const { code, stderr } = await run(['trigger', 'nightly', ...watched, '--on-exit', hook]);
  expect(code).toBe(1);
  expect(stderr).toContain('the --on-exit command exited with 7; the exit code stays 1');
  // Why it failed is often its last line, which has no end.
  for (const said of ['on stdout\n', 'on stderr\n']) expect(stderr).toContain(said);
});

test('a stored hook stays as it was written, and can be taken away', async () => {
  const { run } = await machine();
  const command = `[ "$RUNCTL_EXIT_CODE" = 0 ] || logger "it's $RUNCTL_OUTCOME"`;
  await run(['config', 'set', 'onExit', command]);
  expect((await run(['config', 'get', 'onExit'])).stdout.trim()).toBe(command);
  await run(['config', 'unset', 'onExit']);
  expect((await run(['config', 'get', 'onExit'])).stdout.trim()).toBe('');
});
