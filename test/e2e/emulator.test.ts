import { existsSync, readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { withBareMachine } from '../recipes/bare-machine.ts';

test('a command runs against the emulator, not the service of the settings, and leaves nothing behind, in the journal least of all', async () => {
  const { emulator, env, folder, run, settings } = await withBareMachine();
  const around = { ...settings, RUNCTL_API_KEY_FILE: '/nowhere/at-all', TMPDIR: folder };
  const script = 'runctl trigger nightly && runctl status --field status';
  expect(await run(['runctl', 'emulator', '--', 'sh', '-c', script], { env: around })).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^\S{36}\nRUNNING\n$/),
    stderr: expect.stringMatching(/\nemulator: 1 trigger, 1 run, 0 runs started twice, 0 results not read\n$/),
  });
  expect(emulator.requests).toEqual([]);
  expect(existsSync(env.RUNCTL_STATE_DIR ?? '')).toBe(false);
  expect(readdirSync(folder)).toEqual([]);
});

test('SIGTERM ends the emulator with its command', async () => {
  const { run } = await withBareMachine();
  const { code, stderr } = await run(['runctl', 'emulator', '--', 'sh', '-c', 'echo ready; exec sleep 60'], {
    onOutput: (_, stderr, child) => stderr === '' && child.kill('SIGTERM'),
  });
  expect([code, stderr]).toEqual([143, 'emulator: 0 triggers, 0 runs, 0 runs started twice, 0 results not read\n']);
});
