// `runctl emulator`: where it listens, what a command that it runs gets, and how both end.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { detailsOf } from '../../src/cli/command.ts';
import { emulator } from '../../src/commands/emulator.ts';
import { createMemory, type Memory } from '../helpers/memory-context.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const path = { PATH: process.env.PATH };
const summary = 'emulator: 0 triggers, 0 runs, 0 runs started twice, 0 results not read\n';

type Options = Partial<ReturnType<typeof emulator.opts>>;
type Settings = Record<string, string | undefined>;

const run = (command: string[], options: Options, context: Memory) =>
  detailsOf(emulator).run?.([command], { ...options, color: true }, context);

/** Starts the emulator without a command, and waits until it has said where it is. */
async function started(options: Options = {}, env = {}) {
  const context = createMemory({ ...path, ...env });
  const running = run([], options, context);
  await vi.waitUntil(() => context.out().includes('RUNCTL_PROJECT'), { timeout: 10_000, interval: 2 });
  const lines = [...context.out().matchAll(/^export (\w+)=(.*)$/gm)];
  const settings: Settings = Object.fromEntries(lines.map(([, name, value]) => [name, value]));
  const end = () => {
    context.interrupt('SIGINT');
    return running;
  };
  return { context, settings, end };
}

const triggered = async ({ RUNCTL_BASE_URL: url, RUNCTL_API_KEY: key = '', RUNCTL_PROJECT: project }: Settings) => {
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  const path = `/v0/automation/${project}/nightly/trigger`;
  return (await fetch(`${url}${path}`, { method: 'POST', headers, body: '{}' })).status;
};

/** Runs a command with the emulator. */
async function running(command: string[], { env = {}, options = { quiet: true } as Options, isTTY = false } = {}) {
  const context = createMemory({ ...path, ...env });
  Object.assign(context.stderr, { isTTY });
  return { code: await run(command, options, context), stderr: context.err() };
}

test('the emulator prints and serves the settings for a shell, and exits with 0 after Ctrl-C', async () => {
  const { context, settings, end } = await started();
  expect([await triggered(settings), await end()]).toEqual([201, 0]);
  expect(context.err()).toMatch(
    /^ +runctl trigger nightly --watch\ntrigger nightly: 201 RUNNING \w{8}\nemulator: 1 trigger, 1 run, .*\n$/m,
  );
  await expect(fetch(settings.RUNCTL_BASE_URL ?? '')).rejects.toThrow();
});

test('the suggested trigger works in a scenario that has only some names', async () => {
  const { context, settings, end } = await started({ scenario: 'every-ending' });
  expect(context.err()).toContain(' runctl trigger completes --watch\n');
  expect(await triggered(settings)).toBe(404);
  await end();
});

test('with --quiet the emulator prints only the settings and the summary', async () => {
  const { context, settings, end } = await started({ quiet: true }, { HTTP_PROXY: 'http://proxy.example:3128' });
  expect(Object.keys(settings)).toEqual(['RUNCTL_BASE_URL', 'RUNCTL_API_KEY', 'RUNCTL_PROJECT']);
  expect([await end(), context.err()]).toEqual([0, summary]);
});

test.each([
  ['exit 0', 0],
  ['exit 7', 7],
  ['kill -TERM $$', 143],
  ['no-such-command 2>/dev/null', 127],
  ['test "$RUNCTL_API_KEY" = emulator-key', 0],
  ['test -z "$RUNCTL_API_KEY_FILE$RUNCTL_API_KEY_COMMAND$RUNCTL_PROFILE"', 0],
  ['test -d "$RUNCTL_STATE_DIR"', 0],
])('with the command `%s` the emulator exits with %i, after its summary', async (script, code) => {
  const env = { RUNCTL_API_KEY_FILE: '/nowhere', RUNCTL_API_KEY_COMMAND: 'nothing', RUNCTL_PROFILE: 'nobody' };
  expect(await running(['sh', '-c', script], { env })).toEqual({ code, stderr: summary });
});

test.each([
  // A command that gets Ctrl-C from the terminal ends as it likes.
  ['SIGINT', `trap 'exit 9' INT; : > "$0"; until [ -e "$0.done" ]; do sleep 0.02; done`, 0],
  ['SIGTERM', ': > "$0"; exec sleep 60', 143],
])('%s is passed on to the command unless the terminal sends it to both', async (signal, script, code) => {
  const context = createMemory(path);
  const ready = join(temporaryFolder(), 'ready');
  const ended = run(['sh', '-c', script, ready], { quiet: true }, context);
  await vi.waitUntil(() => existsSync(ready), { timeout: 10_000, interval: 2 });
  context.interrupt(signal);
  writeFileSync(`${ready}.done`, '');
  expect([await ended, context.err()]).toEqual([code, summary]);
});

test.each([
  ['/nothing/here', 127, /not found: \/nothing\/here\n$/],
  ['constructor', 127, /not found: constructor\n$/],
  ['bad-day', 127, /not found: bad-day .*'runctl emulator --scenario bad-day'\?\)\n$/],
])('the command %s is reported as not found, as in a shell', async (command, code, said) => {
  // A folder in PATH that the user may not read would make it EACCES.
  const { stderr, ...ended } = await running([command], { env: { PATH: '/usr/bin:/bin' } });
  expect([ended.code, stderr.replace(summary, '')]).toEqual([code, expect.stringMatching(said)]);
});

test.each([
  ['', /empty/],
  ['/', /EACCES/],
  ['x'.repeat(9_000), /x{80} .*ENAMETOOLONG/],
])('the command "%s", which can\'t be started, is refused', async (command, says) => {
  await expect(running([command])).rejects.toMatchObject({
    facts: { name: 'usage', message: expect.stringMatching(says) },
  });
});

test('a command without a place for temporary files is refused', async () => {
  vi.stubEnv('TMPDIR', '/nothing/here');
  onTestFinished(() => void vi.unstubAllEnvs());
  const hint = expect.stringContaining('TMPDIR');
  await expect(running(['true'])).rejects.toMatchObject({ facts: { name: 'usage', hint } });
});

test.each([true, false])('requests are printed unless the command may draw on the terminal (%s)', async (isTTY) => {
  const command = [process.execPath, '-e', 'fetch(process.env.RUNCTL_BASE_URL)'];
  const { code, stderr } = await running(command, { options: {}, isTTY });
  expect([code, stderr === summary]).toEqual([0, isTTY]);
});

test('after the command, nothing listens any more, and its journal is deleted', async () => {
  const file = join(temporaryFolder(), 'facts');
  await running(['sh', '-c', `printf '%s\\n' "$RUNCTL_BASE_URL" "$RUNCTL_STATE_DIR" > '${file}'`]);
  const [url = '', folder = ''] = readFileSync(file, 'utf8').split('\n');
  await expect(fetch(url)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
  expect(existsSync(folder)).toBe(false);
});
