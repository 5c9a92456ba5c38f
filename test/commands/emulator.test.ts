import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { emulator } from '../../src/commands/emulator.ts';
import { createMemory, type Memory } from '../helpers/memory-context.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const path = { PATH: process.env.PATH };

/** Starts the emulator without a command, and waits until it has said where it is. */
async function started(options: Parameters<typeof emulator.run>[1] = {}, env = {}) {
  const context = createMemory({ ...path, ...env });
  const running = Promise.resolve(emulator.run({ command: [] }, options, context));
  await vi.waitUntil(() => context.out().includes('RUNCTL_PROJECT'), { timeout: 10_000, interval: 2 });
  const lines = context.out().matchAll(/^export (\w+)=(.*)$/gm);
  const settings: Record<string, string | undefined> = Object.fromEntries(
    [...lines].map(([, name, value]) => [name, value]),
  );
  const end = async (context: Memory) => {
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

test('the emulator prints the settings that point a shell at it, serves them, and ends with 0 at Ctrl-C', async () => {
  const { context, settings, end } = await started();
  expect(await statusOf(settings)).toBe(201);
  expect(await end(context)).toBe(0);
  expect(context.err()).toContain('trigger nightly: 201 RUNNING');
  await expect(fetch(settings.RUNCTL_BASE_URL ?? '')).rejects.toThrow();
});

test.each([
  ['{}', 'any name works: runctl trigger nightly --watch'],
  ['{"automations":{"load":{},"*":{}}}', 'any name works: runctl trigger load --watch'],
  ['{"automations":{"load":{}}}', 'for example: runctl trigger load --watch'],
  ['{"automations":{"lo\\u202Ead":{}}}', 'for example: runctl trigger load --watch'],
])('of the scenario %s it names a trigger that works', async (text, line) => {
  const file = join(temporaryFolder(), 'scenario.json');
  writeFileSync(file, text);
  const { context, end } = await started({ scenario: file });
  expect(context.err()).toContain(line);
  await end(context);
});

test('a quiet emulator prints the settings alone, and needs no word about proxies', async () => {
  const { context, settings, end } = await started({ quiet: true }, { HTTP_PROXY: 'http://proxy.example:3128' });
  expect(settings.NO_PROXY).toBeUndefined();
  expect(await end(context)).toBe(0);
  expect(context.err()).toBe('');
});

test("a scenario is a built-in one or a file, and a file of one's own comes first", async () => {
  const file = join(temporaryFolder(), 'no-credits');
  writeFileSync(file, '{"automations":{}}');
  for (const [scenario, status] of [
    ['no-credits', 402],
    [file, 404],
  ] as const) {
    const { context, settings, end } = await started({ scenario, quiet: true });
    expect(await statusOf(settings)).toBe(status);
    await end(context);
  }
});

test.each([
  ['exit 0', 0],
  ['exit 7', 7],
  ['kill -TERM $$', 143],
  ['test "$RUNCTL_API_KEY" = emulator-key', 0],
  ['test -z "$RUNCTL_API_KEY_FILE$RUNCTL_PROFILE"', 0],
  ['test -d "$RUNCTL_STATE_DIR"', 0],
])('a rehearsal of `%s` ends with %i', async (script, code) => {
  const context = createMemory({ ...path, RUNCTL_API_KEY_FILE: '/nowhere', RUNCTL_PROFILE: 'nobody' });
  expect(await emulator.run({ command: ['sh', '-c', script] }, { quiet: true }, context)).toBe(code);
});

test('a rehearsal passes SIGTERM on to its command, and ends with it', async () => {
  const context = createMemory(path);
  const folder = temporaryFolder();
  const ready = join(folder, 'ready');
  const command = ['sh', '-c', `: > '${ready}'; exec sleep 60`];
  const running = emulator.run({ command }, { quiet: true }, context);
  await vi.waitUntil(() => existsSync(ready), { timeout: 10_000, interval: 2 });
  context.interrupt('SIGTERM');
  expect(await running).toBe(143);
});

test.each([['/', "the command / can't be started: spawn / EACCES"]])(
  "a command that can't be started is named: %s",
  async (file, message) => {
    const running = emulator.run({ command: [file] }, { quiet: true }, createMemory(path));
    await expect(running).rejects.toMatchObject({ exitCode: 2, message });
  },
);

test.each([true, false])(
  'what a command sends is not told where the command may draw on the terminal: %s',
  async (isTTY) => {
    const context = createMemory(path);
    Object.assign(context.stderr, { isTTY });
    const command = [process.execPath, '-e', 'fetch(process.env.RUNCTL_BASE_URL)'];
    expect(await emulator.run({ command }, {}, context)).toBe(0);
    expect(context.err() === '').toBe(isTTY);
  },
);

test('after a rehearsal nothing listens any longer', async () => {
  const file = join(temporaryFolder(), 'url');
  const command = ['sh', '-c', `printf %s "$RUNCTL_BASE_URL" > '${file}'`];
  expect(await emulator.run({ command }, {}, createMemory(path))).toBe(0);
  await expect(fetch(readFileSync(file, 'utf8'))).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
});

test('a command that does not exist is named, and ends with 127, as in a shell', async () => {
  const context = createMemory(path);
  expect(await emulator.run({ command: ['/nothing/here'] }, { quiet: true }, context)).toBe(127);
  expect(context.err()).toBe('runctl: the command /nothing/here does not exist\n');
});

test('a rehearsal without a place for temporary files is refused', async () => {
  vi.stubEnv('TMPDIR', '/nothing/here');
  onTestFinished(() => void vi.unstubAllEnvs());
  const running = emulator.run({ command: ['true'] }, { quiet: true }, createMemory(path));
  await expect(running).rejects.toMatchObject({ exitCode: 2, facts: { hint: expect.stringContaining('TMPDIR') } });
});

test('a report goes to a file as JSON, or to stderr in words, when the command ends or at Ctrl-C', async () => {
  const report = join(temporaryFolder(), 'report.json');
  const context = createMemory(path);
  const command = ['sh', '-c', 'exit 7'];
  expect(await emulator.run({ command }, { report, quiet: true }, context)).toBe(7);
  expect(JSON.parse(readFileSync(report, 'utf8'))).toEqual({ exitCode: 7, requests: 0, automations: [] });

  const { context: listening, settings, end } = await started({ report: '-', quiet: true });
  await statusOf(settings);
  expect(await end(listening)).toBe(0);
  expect(listening.err()).toContain('nightly: 1 trigger without a key, 1 run started, 1 RUNNING');
});

test("a report that can't be written is refused before the command runs, and 74 only in place of 0", async () => {
  const runs = (report: string, code: number) =>
    emulator.run({ command: ['sh', '-c', `exit ${code}`] }, { report, quiet: true }, createMemory(path));
  await expect(runs('/nothing/here', 0)).rejects.toMatchObject({ exitCode: 2 });
  expect([await runs('/dev/full', 0), await runs('/dev/full', 3)]).toEqual([74, 3]);
});
