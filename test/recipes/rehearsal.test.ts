import { existsSync, readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { withBareMachine } from './bare-machine.ts';

test('a rehearsal runs against the emulator, not the service of the settings, and leaves nothing behind, in the journal least of all', async () => {
  const { emulator, env, folder, run, settings } = await withBareMachine();
  const around = { ...settings, RUNCTL_API_KEY_FILE: '/nowhere/at-all', TMPDIR: folder };
  const script = 'runctl trigger nightly && runctl status --field status';
  const argv = ['runctl', 'emulator', '--quiet', '--', 'sh', '-c', script];
  expect(await run(argv, { env: around })).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^\S{36}\nRUNNING\n$/),
  });
  expect(emulator.requests).toEqual([]);
  expect(existsSync(env.RUNCTL_STATE_DIR ?? '')).toBe(false);
  expect(readdirSync(folder)).toEqual([]);
});

test('SIGTERM ends a rehearsal with its command', async () => {
  const { run } = await withBareMachine();
  const { code } = await run(['runctl', 'emulator', '--', 'sh', '-c', 'echo ready; exec sleep 60'], {
    onOutput: (stdout, _, child) => stdout === 'ready\n' && child.kill('SIGTERM'),
  });
  expect(code).toBe(143);
});
