// Files that are broken, endless or no files at all, wherever one is expected: an exit code that is true, and no hang. As a
// process where a mistake would hang the process of the test.
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { withEmulator } from '../helpers/emulator.ts';
import { runProcess } from '../helpers/run-process.ts';
import { runProgram } from '../helpers/run-program.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

type Make = (path: string) => void;
type Run = typeof runProcess | typeof runProgram;
const pipe: Make = (path) => void execFileSync('mkfifo', [path]);
const linkTo =
  (target: string): Make =>
  (path) =>
    symlinkSync(target, path);

const things: [string, Make, Run][] = [
  ['a named pipe that nobody writes to', pipe, runProcess],
  ['an endless device', linkTo('/dev/zero'), runProcess],
  ['an empty device', linkTo('/dev/null'), runProgram],
  ['a folder', (path) => mkdirSync(path), runProgram],
];

describe.each([
  ['the journal', 'journal.jsonl', 74],
  ['the config file', 'config.json', 2],
])('in place of %s', (_, name, code) => {
  test.each(things)(`%s is refused with ${code}`, async (__, make, run) => {
    const { env } = await withEmulator({});
    const folder = temporaryFolder();
    make(join(folder, name));
    const folders = { RUNCTL_STATE_DIR: folder, RUNCTL_CONFIG_DIR: folder };
    const ended = await run(['list'], { env: { ...env, ...folders } });
    expect(ended.code).toBe(code);
    expect(ended.stderr).toContain(name);
  });
});

describe('in place of the key file', () => {
  test.each(things.slice(1))('%s is refused with 2', async (_, make, run) => {
    const { env } = await withEmulator({});
    const { RUNCTL_API_KEY: __, ...keyless } = env;
    const path = join(temporaryFolder(), 'key');
    make(path);
    for (const [argv, variables] of [
      [['--api-key-file', path], {}],
      [[], { RUNCTL_API_KEY_FILE: path }],
    ] as const) {
      const ended = await run(['trigger', 'nightly', ...argv], { env: { ...keyless, ...variables } });
      expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining('is neither a file nor a pipe') });
    }
  });
});

test.each([[['config', 'set', 'apiKey']], [['status', '--api-key-file', '-']]])(
  "standard input that can't be read ends `%j` with 2",
  async (argv) => {
    const { env } = await withEmulator({});
    const input = new PassThrough().destroy(Object.assign(new Error('bad file descriptor'), { code: 'EBADF' }));
    const ended = await runProgram(argv, { env, input });
    const why = "the API key on standard input can't be read (EBADF)";
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining(why) });
  },
);

test.each<[string, Make]>([
  ['zeros that a crash left', (path) => truncateSync(path, 40_000_000)],
  ['one line without an end', (path) => writeFileSync(path, '{"schema":1,"idempotencyKey"'.repeat(1_500_000))],
])('a journal of 40 MB of %s is passed over in a moment', async (_, fill) => {
  const { emulator, env } = await withEmulator({});
  const file = join(env.RUNCTL_STATE_DIR ?? '', 'journal.jsonl');
  mkdirSync(env.RUNCTL_STATE_DIR ?? '', { recursive: true });
  writeFileSync(file, '');
  fill(file);
  const started = await runProgram(['trigger', 'nightly'], { env });
  expect(started).toMatchObject({ code: 0, stdout: `${emulator.runs()[0]?.executionId}\n` });
  for (const argv of [['list'], ['recover'], ['__complete', 'bash', 'runctl', 'status', '']]) {
    // Seconds of CPU time; it takes one, and half a minute where each block of a line is joined to the ones before.
    expect(await runProcess(argv, { env, shell: 'ulimit -t 10' })).toMatchObject({ code: 0 });
  }
});

test('a journal too large to be one is reported, and the run is started', async () => {
  const { env } = await withEmulator({});
  mkdirSync(env.RUNCTL_STATE_DIR ?? '', { recursive: true });
  const file = join(env.RUNCTL_STATE_DIR ?? '', 'journal.jsonl');
  writeFileSync(file, '');
  truncateSync(file, 3 * 2 ** 30);
  expect((await runProgram(['trigger', 'nightly'], { env })).code).toBe(0);
  const listed = await runProgram(['list'], { env });
  expect(listed).toMatchObject({ code: 74, stderr: expect.stringContaining('is larger than 256 MiB') });
});

test('half a character of UTF-16 in the journal ends nothing with 70', async () => {
  const { emulator, env } = await withEmulator({});
  mkdirSync(env.RUNCTL_STATE_DIR ?? '', { recursive: true });
  const record = {
    schema: 1,
    at: new Date().toISOString(),
    type: 'status',
    baseUrl: emulator.url,
    target: `automation/${emulator.projectId}/night-\ud800`,
    executionId: `${crypto.randomUUID()}\udfff`,
    status: 'RUNNING',
    first: true,
  };
  writeFileSync(join(env.RUNCTL_STATE_DIR ?? '', 'journal.jsonl'), `${JSON.stringify(record)}\n`);
  for (const argv of [['status'], ['watch', '--all', '--give-up-after', '100ms'], ['result', '--json'], ['list']]) {
    const { code, stderr } = await runProgram(argv, { env });
    expect(code, stderr).not.toBe(70);
  }
});
