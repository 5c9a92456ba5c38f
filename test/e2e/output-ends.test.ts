// What becomes of the exit code where the answer can't be written, nobody reads it, or the program is not whole.
import { cpSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withEmulator } from '../helpers/emulator.ts';
import { hasFullDisk } from '../helpers/needs.ts';
import { entry, runCommand } from '../helpers/run-process.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

/** A shell line in which `runctl` is the built program. */
const inShell = (line: string, env: Record<string, string | undefined> = {}) =>
  runCommand(['/bin/bash', '--norc', '-c', `runctl() { '${process.execPath}' '${entry}' "$@"; }; ${line}`], { env });

const watching = 'runctl trigger nightly --watch --interval 20ms';
const ofFirst = 'exit $PIPESTATUS';
const notWritten = /^runctl: the output couldn't be written: .*ENOSPC/m;

test.runIf(hasFullDisk).each([
  ['the version', 'runctl --version > /dev/full', 74],
  ['a run that outlasts the timeout', `${watching} --timeout 100ms --json > /dev/full`, 74],
  ['a run that failed', `${watching} > /dev/full`, 1],
])('on a full disk the answer to %s ends with its code: %s', async (what, line, exitCode) => {
  const outcome = what.includes('failed') ? 'FAILED' : 'COMPLETED';
  const duration = what.includes('outlasts') ? '1h' : '20ms';
  const { env } = await withEmulator({ automations: { '*': { outcome, duration } } });
  const { code, stderr } = await inShell(line, env);
  expect(code).toBe(exitCode);
  expect(stderr).toMatch(notWritten);
});

test.runIf(hasFullDisk)("a version that can't be written, nor why, ends with 74", async () => {
  expect((await inShell('runctl --version > /dev/full 2> /dev/full')).code).toBe(74);
});

test.each([
  ['COMPLETED', 0],
  ['FAILED', 1],
] as const)(
  'a watch whose reader left ends with the code of its run once that has finished %s',
  async (outcome, exitCode) => {
    const { env } = await withEmulator({ automations: { '*': { outcome, duration: '20ms' } } });
    const { code } = await inShell(`${watching} --json | true; ${ofFirst}`, env);
    expect(code).toBe(exitCode);
  },
);

test('the id of a run that could not be printed is on stderr', async () => {
  const { env, emulator } = await withEmulator({});
  const { code, stderr } = await inShell(`runctl trigger nightly -q | true; ${ofFirst}`, env);
  expect(code).toBe(0);
  expect(stderr).toBe(`runctl: nightly: run ${emulator.runs()[0]?.executionId}\n`);
});

test.each([
  ['the program', (dist: string) => rmSync(dist, { recursive: true })],
  ['all but the entry of the program', (dist: string) => keepOnly('main.cjs', dist)],
])('where %s is missing, the command ends with 70 and one line', async (_, remove) => {
  const folder = temporaryFolder();
  const dist = join(folder, 'dist');
  mkdirSync(join(folder, 'bin'));
  cpSync(entry, join(folder, 'bin/runctl.js'));
  cpSync(join(entry, '../../dist'), dist, { recursive: true });
  symlinkSync(join(entry, '../../package.json'), join(folder, 'package.json'));
  remove(dist);
  const { code, stdout, stderr } = await runCommand([process.execPath, join(folder, 'bin/runctl.js'), 'status']);
  expect([code, stdout]).toEqual([70, '']);
  expect(stderr).toMatch(/^runctl: the installation is broken: .*\n$/);
});

function keepOnly(file: string, folder: string): void {
  for (const name of readdirSync(folder)) if (name !== file) rmSync(join(folder, name), { recursive: true });
}

test('an output of a megabyte that the disk has no room for ends with 74', async () => {
  const { env } = await withEmulator({ automations: { '*': { duration: '1ms', output: 'x'.repeat(2 ** 20) } } });
  await inShell('runctl trigger nightly -q', env);
  for (const line of ['runctl result -q', 'runctl result --json']) {
    const { code, stderr } = await inShell(`${line} > /dev/full`, env);
    expect(code).toBe(74);
    expect(stderr).toMatch(notWritten);
  }
});

test('a megabyte on stderr arrives whole, however slowly it is read', async () => {
  const { env } = await withEmulator({});
  const { RUNCTL_API_KEY: apiKey, ...others } = env;
  const command = `seq -f 'a line of its own, with its number: %.0f' 25000 >&2; echo ${apiKey}`;
  const { stdout } = await inShell(`runctl trigger nightly 2>&1 > /dev/null | (sleep 0.5; grep -c 'its number')`, {
    ...others,
    PATH: process.env.PATH,
    RUNCTL_API_KEY_COMMAND: command,
  });
  expect(stdout).toBe('25000\n');
});
