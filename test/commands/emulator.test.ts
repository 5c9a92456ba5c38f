import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { emulator } from '../../src/commands/emulator.ts';
import { createMemory } from '../helpers/memory-context.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const path = { PATH: process.env.PATH };
const summary = 'emulator: 0 triggers, 0 runs, 0 runs started twice, 0 results not read\n';

type Options = Parameters<typeof emulator.run>[1];

/** Starts the emulator without a command, and waits until it has said where it is. */
async function started(options: Options = {}, env = {}) {
  const context = createMemory({ ...path, ...env });
  const running = emulator.run({ command: [] }, options, context);
  await vi.waitUntil(() => context.out().includes('RUNCTL_PROJECT'), { timeout: 10_000, interval: 2 });
  const lines = context.out().matchAll(/^export (\w+)=(.*)$/gm);
  const settings: Record<string, string | undefined> = Object.fromEntries(
    [...lines].map(([, name, value]) => [name, value]),
  );
  const end = () => {
    context.interrupt('SIGINT');
    return running;
  };
  return { context, settings, end };
}

const statusOf = ({
  RUNCTL_BASE_URL: url,
  RUNCTL_API_KEY: key,
  RUNCTL_PROJECT: project,
}: Record<string, string | undefined>) =>
  fetch(`${url}/v0/automation/${project}/nightly/trigger`, {
    method: 'POST',
    headers: { 'x-api-key': key ?? '', 'content-type': 'application/json' },
    body: '{}',
  }).then(({ status }) => status);

/** Runs a command with the emulator. */
async function running(command: string[], { env = {}, options = { quiet: true } as Options, isTTY = false } = {}) {
  const context = createMemory({ ...path, ...env });
  Object.assign(context.stderr, { isTTY });
  return { code: await emulator.run({ command }, options, context), stderr: context.err() };
}

test('the emulator prints the settings that point a shell at it, serves them, and ends with 0 at Ctrl-C', async () => {
  const { context, settings, end } = await started();
  expect(await statusOf(settings)).toBe(201);
  expect(await end()).toBe(0);
  expect(context.err()).toMatch(
    /any name works: `runctl trigger nightly --watch`.*\ntrigger nightly: 201 RUNNING \w{8}\n/,
  );
  expect(context.err()).toMatch(/\nemulator: 1 trigger, 1 run, 0 runs started twice, 0 results not read\n$/);
  await expect(fetch(settings.RUNCTL_BASE_URL ?? '')).rejects.toThrow();
});

test('of a scenario without a name for all it names a trigger that works', async () => {
  const { context, settings, end } = await started({ scenario: 'every-ending' });
  expect(context.err()).toContain('for example: `runctl trigger completes --watch`');
  expect(await statusOf(settings)).toBe(404);
  await end();
});

test('a quiet emulator prints the settings and the summary alone, and needs no word about proxies', async () => {
  const { context, settings, end } = await started({ quiet: true }, { HTTP_PROXY: 'http://proxy.example:3128' });
  expect(Object.keys(settings)).toEqual(['RUNCTL_BASE_URL', 'RUNCTL_API_KEY', 'RUNCTL_PROJECT']);
  expect(await end()).toBe(0);
  expect(context.err()).toBe(summary);
});

test.each([
  ['exit 0', 0],
  ['exit 7', 7],
  ['kill -TERM $$', 143],
  ['no-such-command 2>/dev/null', 127],
  ['test "$RUNCTL_API_KEY" = emulator-key', 0],
  ['test -z "$RUNCTL_API_KEY_FILE$RUNCTL_API_KEY_COMMAND$RUNCTL_PROFILE"', 0],
  ['test -d "$RUNCTL_STATE_DIR"', 0],
])('with the command `%s` it exits with %i, after its summary', async (script, code) => {
  const env = { RUNCTL_API_KEY_FILE: '/nowhere', RUNCTL_API_KEY_COMMAND: 'nothing', RUNCTL_PROFILE: 'nobody' };
  expect(await running(['sh', '-c', script], { env })).toEqual({ code, stderr: summary });
});

test('SIGTERM is passed on to the command, with which it ends', async () => {
  const context = createMemory(path);
  const ready = join(temporaryFolder(), 'ready');
  const command = ['sh', '-c', `: > '${ready}'; exec sleep 60`];
  const ended = emulator.run({ command }, { quiet: true }, context);
  await vi.waitUntil(() => existsSync(ready), { timeout: 10_000, interval: 2 });
  context.interrupt('SIGTERM');
  expect([await ended, context.err()]).toEqual([143, summary]);
});

test('Ctrl-C is left to the command, which gets it from the terminal', async () => {
  const context = createMemory(path);
  const folder = temporaryFolder();
  const [ready, done] = [join(folder, 'ready'), join(folder, 'done')];
  const script = `trap 'exit 9' INT; : > '${ready}'; until [ -e '${done}' ]; do sleep 0.02; done`;
  const ended = emulator.run({ command: ['sh', '-c', script] }, { quiet: true }, context);
  await vi.waitUntil(() => existsSync(ready), { timeout: 10_000, interval: 2 });
  context.interrupt('SIGINT');
  writeFileSync(done, '');
  expect(await ended).toBe(0);
});

test.each([
  ['/nothing/here', 'runctl: the command /nothing/here does not exist\n'],
  ['constructor', 'runctl: the command constructor does not exist\n'],
  ['bad-day', 'runctl: the command bad-day does not exist; did you mean `runctl emulator --scenario bad-day`?\n'],
])('the command %s, which does not exist, is named, and ends with 127, as in a shell', async (command, message) => {
  expect(await running([command])).toEqual({ code: 127, stderr: message + summary });
});

test.each([
  ['', 'the command is empty'],
  ['/', "the command / can't be started: spawn / EACCES"],
  ['x'.repeat(9_000), `the command ${'x'.repeat(80)} can't be started: spawn ENAMETOOLONG`],
])('the command "%s", which can\'t be started, is refused', async (command, message) => {
  await expect(running([command])).rejects.toMatchObject({ exitCode: 2, message });
});

test('a command without a place for temporary files is refused', async () => {
  vi.stubEnv('TMPDIR', '/nothing/here');
  onTestFinished(() => void vi.unstubAllEnvs());
  await expect(running(['true'])).rejects.toMatchObject({
    exitCode: 2,
    facts: { hint: expect.stringContaining('TMPDIR') },
  });
});

test.each([true, false])('where the command may draw on the terminal (%s), no request is told', async (isTTY) => {
  const command = [process.execPath, '-e', 'fetch(process.env.RUNCTL_BASE_URL)'];
  const { code, stderr } = await running(command, { options: {}, isTTY });
  expect([code, stderr === summary]).toEqual([0, isTTY]);
});

test('after the command nothing listens any longer, and its journal is gone', async () => {
  const file = join(temporaryFolder(), 'facts');
  await running(['sh', '-c', `printf '%s\\n' "$RUNCTL_BASE_URL" "$RUNCTL_STATE_DIR" > '${file}'`]);
  const [url = '', folder = ''] = readFileSync(file, 'utf8').split('\n');
  await expect(fetch(url)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
  expect(existsSync(folder)).toBe(false);
});
