// Which run is meant: a script has to name it, and a person at a terminal is told which one was taken.
import { PassThrough } from 'node:stream';
import { Terminal } from '@xterm/headless';
import { expect, test } from 'vitest';
import { quick } from '../helpers/emulator.ts';
import { withMachine } from '../helpers/machine.ts';
import { ScreenStream } from '../helpers/screen-stream.ts';

const commands = ['status', 'result', 'watch'];

const terminal = (isInputTTY = true) => ({
  screen: new ScreenStream(new Terminal({ cols: 120, rows: 30, allowProposedApi: true })),
  input: Object.assign(new PassThrough(), { isTTY: isInputTTY }),
});

test.each(commands)('away from a terminal, `%s` without a run is refused, before anything is sent', async (command) => {
  const { run, emulator } = await withMachine(quick);
  await run('trigger nightly');
  const requests = emulator.requests.length;
  for (const line of [command, `${command} -q`, `${command} --json`, `${command} --field status`]) {
    const { code, stderr } = await run(line);
    expect([line, code, stderr]).toEqual([line, 2, expect.stringMatching(/name a run, or @last/)]);
  }
  expect(emulator.requests).toHaveLength(requests);
  expect((await run(`${command} @last`)).code).toBe(0);
});

test.each(commands)('at a terminal, `%s` takes the last run, and says which one', async (command) => {
  const { run, ids } = await withMachine(quick);
  await run('trigger first');
  await run('trigger nightly');
  const { code, stderr } = await run(command, terminal());
  expect([code, stderr]).toEqual([0, expect.stringContaining(`nightly ${ids()[1]}`)]);
});

test.each(['status -q', 'status --field status', 'status --exit-status', 'result -q', 'watch -q'])(
  'what asks for data or a code names the run, also at a terminal: `%s`',
  async (line) => {
    const { run } = await withMachine(quick);
    await run('trigger nightly');
    expect((await run(line, terminal())).code).toBe(2);
  },
);

test('the run is not read from a pipe, even if the output is a terminal', async () => {
  const { run } = await withMachine(quick);
  await run('trigger nightly');
  expect((await run('watch', terminal(false))).code).toBe(2);
});

test.each([
  ['status', ''],
  ['result', ''],
  ['watch', ''],
  ['watch', '--all', ''],
  ['watch', 'nightly', ''],
  ['list', ''],
  ['list', '--status', ''],
  ['list', '--since', ''],
  ['recover', ''],
  ['recover', '--dry-run', ''],
  ['trigger', ''],
  ['trigger', 'nightly', ''],
])('an empty argument is refused, because its variable is probably unset: %j %j %j', async (...argv) => {
  const { run, emulator } = await withMachine(quick);
  await run('trigger nightly');
  const requests = emulator.requests.length;
  expect((await run(argv)).code).toBe(2);
  expect(emulator.requests).toHaveLength(requests);
});
