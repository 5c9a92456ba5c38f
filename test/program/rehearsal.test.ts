// What `runctl emulator -- command` does around its command; the command writes to the streams of this process, so to none.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, test, vi } from 'vitest';
import { longest } from '../helpers/interrupted.ts';
import { runProgram } from '../helpers/run-program.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const env = { PATH: '/usr/bin:/bin', RUNCTL_API_KEY_FILE: '/nowhere/at-all' };
const rehearse = (script: string, flags: string[] = []) =>
  runProgram(['emulator', '--quiet', ...flags, '--', 'sh', '-c', script], { env });

test.each([
  ['exit 0', 0],
  ['exit 7', 7],
  ['kill -TERM $$', 143],
  ['no-such-command 2>/dev/null', 127],
])('a rehearsal of `%s` ends with %i', async (script, code) => {
  expect(await rehearse(script)).toMatchObject({ code, stdout: '', stderr: '' });
});

test.each([
  ['no-credits', 8],
  ['no-credits.json', 8],
  ['./own.json', 8],
  ['happy', 0],
])('the scenario %s is found', async (name, code) => {
  const folder = temporaryFolder();
  const [settings, done] = [join(folder, 'settings'), join(folder, 'done')];
  writeFileSync(join(folder, 'own.json'), '{"credits":0}');
  const place = name.startsWith('./') ? relative(process.cwd(), join(folder, name)) : name;
  const script = `env | grep ^RUNCTL_ > '${settings}.part'; mv '${settings}.part' '${settings}'; until [ -e '${done}' ]; do sleep 0.02; done`;
  const rehearsed = rehearse(script, ['--scenario', place]);
  await vi.waitUntil(() => existsSync(settings), longest);
  const lines = readFileSync(settings, 'utf8').trim().split('\n');
  const inside = Object.fromEntries(lines.map((line) => line.split(/=(.*)/)));
  const triggered = await runProgram(['trigger', 'nightly', '--quiet'], { env: inside });
  mkdirSync(done);
  expect([triggered.code, (await rehearsed).code]).toEqual([code, 0]);
});

test.each([
  ['./nothing-here', 127, 'runctl: the command ./nothing-here does not exist\n'],
  ['happy', 127, 'runctl: the command happy does not exist; did you mean `runctl emulator --scenario happy`?\n'],
  ['/', 2, "runctl: the command / can't be started: spawn / EACCES\n  -> try it in a shell\n"],
])("a command that can't be started is named: %s", async (command, code, message) => {
  expect(await runProgram(['emulator', '--', command], { env })).toMatchObject({ code, stderr: message });
});

test('a rehearsal without a place for temporary files is refused', async () => {
  vi.stubEnv('TMPDIR', '/nothing-here');
  const { code, stderr } = await rehearse('true').finally(() => vi.unstubAllEnvs());
  expect([code, stderr]).toEqual([2, expect.stringMatching(/^runctl: temporary files can't be written: .*TMPDIR/s)]);
});
