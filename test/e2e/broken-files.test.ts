// Files that are broken, endless or no files at all, wherever one is expected: an exit code that is true, and no hang.
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
const pipe: Make = (path) => void execFileSync('mkfifo', [path]);
const device: Make = (path) => symlinkSync('/dev/zero', path);
const folder: Make = (path) => void mkdirSync(path);

test.each<[thing: string, place: string, code: number, Make, typeof runProcess | typeof runProgram]>([
  // As processes, because a mistake would hang that of the test.
  ['a named pipe that nobody writes to', 'journal.jsonl', 74, pipe, runProcess],
  ['a named pipe that nobody writes to', 'config.json', 2, pipe, runProcess],
  ['an endless device', 'journal.jsonl', 74, device, runProgram],
  ['an endless device', 'config.json', 2, device, runProgram],
  ['a folder', 'journal.jsonl', 74, folder, runProgram],
  ['a folder', 'config.json', 2, folder, runProgram],
])('%s in place of %s is refused with %i', async (_, name, code, make, run) => {
  const { env } = await withEmulator({});
  const place = temporaryFolder();
  make(join(place, name));
  const ended = await run(['list'], { env: { ...env, RUNCTL_STATE_DIR: place, RUNCTL_CONFIG_DIR: place } });
  expect(ended).toMatchObject({ code, stderr: expect.stringContaining(name) });
});

describe('a key file that is something else', () => {
  test.each<[string, Make]>([
    ['an endless device', device],
    ['an empty device', (path) => symlinkSync('/dev/null', path)],
    ['a folder', folder],
  ])('%s is refused with 2', async (_, make) => {
    const { RUNCTL_API_KEY: __, ...env } = (await withEmulator({})).env;
    const path = join(temporaryFolder(), 'key');
    make(path);
    const refused = { code: 2, stderr: expect.stringContaining('neither a file nor a pipe') };
    expect(await runProgram(['trigger', 'nightly', '--api-key-file', path], { env })).toMatchObject(refused);
    const named = { ...env, RUNCTL_API_KEY_FILE: path };
    expect(await runProgram(['trigger', 'nightly'], { env: named })).toMatchObject(refused);
  });
});

test.each([[['config', 'set', 'apiKey']], [['status', '@last', '--api-key-file', '-']]])(
  "standard input that can't be read ends `%j` with 2",
  async (argv) => {
    const { env } = await withEmulator({});
    const input = new PassThrough().destroy(Object.assign(new Error('bad file descriptor'), { code: 'EBADF' }));
    expect(await runProgram(argv, { env, input })).toMatchObject({ code: 2, stderr: expect.stringContaining('EBADF') });
  },
);

/** An emulator, and a journal that is made before the program runs. */
async function withJournal(make: Make) {
  const served = await withEmulator({});
  const { RUNCTL_STATE_DIR: state = '' } = served.env;
  mkdirSync(state, { mode: 0o700 });
  const file = join(state, 'journal.jsonl');
  writeFileSync(file, '');
  make(file);
  return served;
}

test.each<[string, Make]>([
  ['zeros that a crash left', (path) => truncateSync(path, 20_000_000)],
  ['one line without an end', (path) => writeFileSync(path, '{"schema":1,"idempotencyKey"'.repeat(750_000))],
])('a journal of 20 MB of %s is skipped without delay', async (_, make) => {
  const { emulator, env } = await withJournal(make);
  const { user } = process.cpuUsage();
  for (const argv of [['trigger', 'nightly'], ['list']])
    expect(await runProgram(argv, { env })).toMatchObject({ code: 0 });
  // It takes less than one, and many if each block of a line is joined to the ones before.
  expect((process.cpuUsage().user - user) / 1e6).toBeLessThan(5);
  expect(emulator.runs()).toHaveLength(1);
});

test('a journal file that is too large is reported, and the run is started', async () => {
  const { env } = await withJournal((path) => truncateSync(path, 3 * 2 ** 30));
  expect((await runProgram(['trigger', 'nightly'], { env })).code).toBe(0);
  expect(await runProgram(['list'], { env })).toMatchObject({ code: 74, stderr: expect.stringContaining('256 MiB') });
});
