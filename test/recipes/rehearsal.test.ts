import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withBareMachine } from './bare-machine.ts';

/** `runctl emulator … -- sh -c <script>`, with settings of a real service around it. */
async function rehearse(script: string, flags: string[] = []) {
  const machine = await withBareMachine();
  const env = { ...machine.settings, RUNCTL_API_KEY_FILE: '/nowhere/at-all', TMPDIR: machine.folder };
  writeFileSync(join(machine.folder, 'own.json'), '{"credits":0}');
  const ended = await machine.run(['runctl', 'emulator', '--quiet', ...flags, '--', 'sh', '-c', script], { env });
  return { ...ended, machine };
}

test.each([
  ['exit 0', 0],
  ['exit 7', 7],
  ['kill -TERM $$', 143],
  ['no-such-command 2>/dev/null', 127],
])('a rehearsal of `%s` ends with %i', async (script, code) => {
  expect(await rehearse(script)).toMatchObject({ code, stdout: '', stderr: '' });
});

test('a rehearsal runs against the emulator, not against the service of the settings', async () => {
  const { stdout, machine } = await rehearse('runctl trigger nightly && runctl status --field status');
  expect(stdout).toMatch(/^\S{36}\nRUNNING\n$/);
  expect(machine.emulator.requests).toEqual([]);
});

test('a rehearsal leaves nothing behind, in the journal least of all', async () => {
  const { code, machine } = await rehearse('runctl trigger nightly');
  expect(code).toBe(0);
  expect(existsSync(machine.env.RUNCTL_STATE_DIR ?? '')).toBe(false);
  expect(readdirSync(machine.folder)).toEqual(['own.json']);
});

test.each([
  ['no-credits', 8],
  ['no-credits.json', 8],
  ['./own.json', 8],
  ['happy', 0],
])('the scenario %s is found', async (name, code) => {
  expect((await rehearse('runctl trigger nightly --quiet', ['--scenario', name])).code).toBe(code);
});

test.each([
  ['./nothing-here', 127, 'runctl: the command ./nothing-here does not exist\n'],
  ['happy', 127, 'runctl: the command happy does not exist; did you mean `runctl emulator --scenario happy`?\n'],
  ['/', 2, 'runctl: the command / cannot be started: spawn / EACCES\n'],
])('a command that cannot be started is named: %s', async (command, code, message) => {
  const { run } = await withBareMachine();
  expect(await run(['runctl', 'emulator', '--', command])).toMatchObject({ code, stderr: message });
});

test('a rehearsal without a place for temporary files is refused', async () => {
  const { run } = await withBareMachine();
  const { code, stderr } = await run(['runctl', 'emulator', '--', 'true'], { env: { TMPDIR: '/nothing-here' } });
  expect([code, stderr]).toEqual([
    2,
    expect.stringMatching(/^runctl: there is no place for temporary files: .*TMPDIR/s),
  ]);
});

test('SIGTERM ends a rehearsal with its command', async () => {
  const { run } = await withBareMachine();
  const { code } = await run(['runctl', 'emulator', '--', 'sh', '-c', 'echo ready; exec sleep 60'], {
    onOutput: (stdout, _, child) => stdout === 'ready\n' && child.kill('SIGTERM'),
  });
  expect(code).toBe(143);
});
