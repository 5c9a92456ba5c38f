// A reader of the output that leaves or never reads, and a disk that takes no more.
import { spawn } from 'node:child_process';
import { describe, expect, test, vi } from 'vitest';
import type { Scenario } from '../fault-kit/scenario.ts';
import { withEmulator } from '../helpers/emulator.ts';
import { longest } from '../helpers/interrupted.ts';
import { hasFullDisk } from '../helpers/needs.ts';
import { entry, runProcess } from '../helpers/run-process.ts';
import { runProgram } from '../helpers/run-program.ts';

const slow: Scenario = { automations: { '*': { duration: '1h' } } };

const trigger = async (env: Record<string, string>) =>
  (await runProgram(['trigger', 'nightly', '-q'], { env })).stdout.trim();

test.runIf(hasFullDisk).each([['trigger', 'weekly'], ['list', '--json'], ['status'], ['completion', 'bash']])(
  'a full disk under the output of `%s` is reported, and is no success',
  async (...argv) => {
    const { env } = await withEmulator(slow);
    await trigger(env);
    const { code, stderr } = await runProcess(argv, { env, shell: 'exec >/dev/full' });
    expect([code, stderr]).toEqual([74, expect.stringContaining("couldn't be written: ENOSPC")]);
  },
);

describe('a reader that', () => {
  test('has left is noticed at the latest when `--timeout` passes', async () => {
    const { env } = await withEmulator(slow);
    const id = await trigger(env);
    const { code } = await runProcess(['watch', id, '--json', '--timeout', '2s'], {
      env,
      onStart: (child) => child.stdout?.destroy(),
    });
    expect(code).toBe(141);
  });

  test.each([['list'], ['result'], ['--help'], ['explain']])('has left ends `%s` quietly', async (command) => {
    const { env } = await withEmulator({ automations: { '*': { output: 'x'.repeat(1_000_000), duration: '1ms' } } });
    await trigger(env);
    const { stderr, code } = await runProcess([command], { env, onStart: (child) => child.stdout?.destroy() });
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
  });

  test('never reads keeps the last word of a watch from being flushed, until a second Ctrl-C', async () => {
    const { env, emulator } = await withEmulator({
      automations: { '*': { duration: '1h', extra: { padding: 'x'.repeat(900_000) } } },
    });
    const id = await trigger(env);
    const args = [entry, 'watch', id, '--json', '--interval', '20ms'];
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'ignore'] });
    const ended = new Promise((resolve) => child.on('exit', (code, signal) => resolve(code ?? signal)));
    await vi.waitUntil(() => emulator.requests.length > 2, longest);
    child.kill('SIGINT');
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(child.exitCode).toBeNull();
    child.kill('SIGINT');
    expect(await ended).toBe(130);
    child.stdout.destroy();
  });

  test('never reads holds nothing that Ctrl-C does not end', async () => {
    const { env } = await withEmulator({ automations: { '*': { output: 'x'.repeat(1_000_000), duration: '1ms' } } });
    const id = await trigger(env);
    const child = spawn(process.execPath, [entry, 'result', id], { env, stdio: ['ignore', 'pipe', 'ignore'] });
    const ended = new Promise((resolve) => child.on('exit', (code, signal) => resolve(code ?? signal)));
    await new Promise((resolve) => child.stdout.once('readable', resolve));
    await new Promise((resolve) => setTimeout(resolve, 300));
    child.kill('SIGINT');
    expect(await ended).toBe(130);
    child.stdout.destroy();
  });
});
