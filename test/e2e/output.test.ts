// What becomes of the exit code if the output can't be written, if nobody reads it, or if the program isn't whole.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Scenario } from '../fault-kit/scenario.ts';
import { going, withEmulator } from '../helpers/emulator.ts';
import { longest } from '../helpers/interrupted.ts';
import { hasFullDisk, needs } from '../helpers/needs.ts';
import { entry, runCommand, runProcess } from '../helpers/run-process.ts';
import { runProgram } from '../helpers/run-program.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const ending = (finalStatus: 'COMPLETED' | 'FAILED'): Scenario => ({
  automations: { '*': { duration: '1ms', finalStatus } },
});
const megabyte: Scenario = { automations: { '*': { duration: '1ms', output: 'x'.repeat(1_000_000) } } };
const watching = ['trigger', 'weekly', '--watch', '--interval', '20ms', '--json'];

/** An emulator whose automation `nightly` has been triggered. */
async function withRun(scenario: Scenario) {
  const served = await withEmulator(scenario);
  await runProgram(['trigger', 'nightly'], { env: served.env });
  return served;
}

describe('a full disk', () => {
  test.for<[argv: string[], Scenario, code: number]>([
    [['--version'], {}, 74],
    [['trigger', 'weekly'], going, 74],
    [['result', '@last', '--json'], megabyte, 74],
    [[...watching, '--timeout', '100ms'], going, 74],
    [watching, ending('FAILED'), 1],
  ])('is reported and is no success if the output of %j goes there', async ([argv, scenario, code], context) => {
    needs(context, '/dev/full', hasFullDisk);
    const { env } = await withRun(scenario);
    const ended = await runProcess(argv, { env, shell: 'exec > /dev/full' });
    expect(ended).toMatchObject({ code, stderr: expect.stringMatching(/couldn't be written: .*ENOSPC/) });
  });

  test('is shown by the exit code alone if stderr goes there, too', async (context) => {
    needs(context, '/dev/full', hasFullDisk);
    expect(await runProcess(['--version'], { shell: 'exec > /dev/full 2>&1' })).toMatchObject({ code: 74 });
  });
});

describe('a reader that leaves', () => {
  const onStart = (child: ChildProcess) => child.stdout?.destroy();

  test.each<[string, code: number, string[], Scenario]>([
    ['a result of a megabyte', 0, ['result', '@last'], megabyte],
    ['a watch whose run completes', 0, watching, ending('COMPLETED')],
    ['a watch whose run fails', 1, watching, ending('FAILED')],
    ['a watch that times out', 141, ['watch', '@last', '--json', '--timeout', '1s'], going],
  ])('makes %s exit with %i, without a message', async (_, code, argv, scenario) => {
    const { env } = await withRun(scenario);
    const { code: exit, stderr } = await runProcess(argv, { env, onStart });
    const isExplained = argv.includes('--json');
    expect([exit, stderr.includes('EPIPE'), stderr !== '']).toEqual([code, false, isExplained]);
  });

  test('gets the id of the run on stderr', async () => {
    const { env, emulator } = await withEmulator(going);
    const line = `'${process.execPath}' '${entry}' trigger nightly -q | true; exit $PIPESTATUS`;
    const { code, stderr } = await runCommand(['/bin/bash', '--norc', '-c', line], { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: `runctl: nightly: run ${emulator.runs()[0]?.executionId}\n` });
  });

  test.each(['trigger weekly --watch', 'watch nightly', 'watch --all'])(
    'ends `%s` at once, and the run continues',
    async (line) => {
      const { env, emulator, clock } = await withRun(going);
      const reader = new AbortController();
      const polls = () => emulator.requests.filter(({ method }) => method === 'GET').length;
      const sleep: typeof clock.sleep = (ms, signal) => {
        if (polls() > 1) reader.abort('SIGPIPE');
        return clock.sleep(ms, signal);
      };
      const options = { env, clock: { ...clock, sleep }, reader: reader.signal };
      const { code } = await runProgram([...line.split(' '), '--json'], options);
      const statuses = new Set(emulator.runs().map(({ status }) => status));
      expect([code, polls(), statuses]).toEqual([141, 2, new Set(['RUNNING'])]);
    },
  );
});

describe('a reader that never reads', () => {
  const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  const padded: Scenario = { automations: { '*': { duration: '1h', extra: { padding: 'x'.repeat(900_000) } } } };

  test.each<[string, string[], Scenario, requests: number, presses: number]>([
    ['the last document of a watch', ['watch', '@last', '--json', '--interval', '20ms'], padded, 3, 2],
    ['a result', ['result', '@last'], megabyte, 2, 1],
  ])('does not keep %s from exiting after Ctrl-C', async (_, argv, scenario, requests, presses) => {
    const { env, emulator } = await withRun(scenario);
    const child = spawn(process.execPath, [entry, ...argv], { env, stdio: ['ignore', 'pipe', 'ignore'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    const exited = once(child, 'exit');
    const before = emulator.requests.length;
    await vi.waitUntil(() => emulator.requests.length >= before + requests, longest);
    for (let press = 1; press <= presses; press++) {
      await sleep(500);
      expect(child.exitCode).toBeNull();
      child.kill('SIGINT');
    }
    expect(await exited).toEqual([130, null]);
    child.stdout.destroy();
  });
});

test.each([
  ['the program', () => true],
  ['all but the entry of the program', (file: string) => file !== 'main.cjs'],
])('if %s is missing, the command exits with 70 and one line', async (_, isMissing) => {
  const folder = temporaryFolder();
  const at = (path: string) => join(folder, path);
  for (const part of ['bin', 'dist', 'package.json']) cpSync(join(entry, '../..', part), at(part), { recursive: true });
  for (const file of readdirSync(at('dist')).filter(isMissing)) rmSync(join(at('dist'), file));
  const { code, stdout, stderr } = await runCommand([process.execPath, at('bin/runctl.js'), 'status', '@last']);
  expect([code, stdout]).toEqual([70, '']);
  expect(stderr).toMatch(/^runctl: .*\n$/);
});

test('a megabyte on stderr arrives whole, however slowly it is read', async () => {
  const { env } = await withEmulator({});
  const { RUNCTL_API_KEY: apiKey, ...others } = env;
  const command = `seq -f 'a line of its own, with its number: %.0f' 25000 >&2; echo ${apiKey}`;
  const line = `'${process.execPath}' '${entry}' trigger nightly 2>&1 > /dev/null | (sleep 0.5; grep -c 'its number')`;
  const around = { ...others, PATH: process.env.PATH, RUNCTL_API_KEY_COMMAND: command };
  expect(await runCommand(['/bin/bash', '--norc', '-c', line], { env: around })).toMatchObject({ stdout: '25000\n' });
});
