// What only a process shows: that nothing keeps it after Ctrl-C. What is said of the run is in test/program/interrupts.test.ts.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Scenario } from '../fault-kit/scenario.ts';
import { withEmulator } from '../helpers/emulator.ts';
import { interrupted, interruptedCommand } from '../helpers/interrupted.ts';
import { hasNamespaces, isInstalled, needs } from '../helpers/needs.ts';
import { entry } from '../helpers/run-process.ts';
import { runProgram } from '../helpers/run-program.ts';
import { executionId, projectId } from '../helpers/scripted-service.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const slow: Scenario = { automations: { '*': { duration: '1h' } } };

/** The files that a process has open. */
function pathsOpenIn(pid: number | undefined): string[] {
  const folder = `/proc/${pid}/fd`;
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((fd) => {
    try {
      return readlinkSync(join(folder, fd));
    } catch {
      return [];
    }
  });
}

describe('Ctrl-C', () => {
  test('of a `trigger --watch` while a poll hangs names the run and the command that takes it up again', async () => {
    const { env, emulator } = await withEmulator({ ...slow, faults: [{ on: 'status', do: 'hang' }] });
    const args = ['trigger', 'nightly', '--watch', '--interval', '20ms'];
    const ended = await interrupted(args, { env, emulator, requests: 2 });
    expect(ended).toMatchObject({ code: 130 });
    expect(ended.lastedMs).toBeLessThan(ended.atOnceMs);
    expect(ended.stderr).toMatch(new RegExp(`runctl watch ${emulator.runs()[0]?.executionId}`));
    expect(emulator.runs()).toHaveLength(1);
  });

  test('during --on-final ends it and its command', async () => {
    const { env, emulator } = await withEmulator({ automations: { '*': { duration: '1ms' } } });
    const onFinal = ['--on-final', 'echo begun >&2; sleep 60'];
    const args = ['trigger', 'nightly', '--watch', '--interval', '20ms', ...onFinal];
    const ended = await interrupted(args, { env: { ...env, PATH: process.env.PATH ?? '' }, emulator, words: /begun/ });
    expect(ended).toMatchObject({
      code: 130,
      stderr: expect.stringMatching(/--on-final command for run \S+ of nightly was interrupted/),
    });
    expect(ended.lastedMs).toBeLessThan(ended.atOnceMs);
  });

  test('while a key is read from a pipe that nobody writes to ends the program', async () => {
    const { env, emulator } = await withEmulator(slow);
    const fifo = join(env.RUNCTL_STATE_DIR ?? '', '..', 'key');
    await new Promise((resolve) => spawn('mkfifo', [fifo]).on('close', resolve));
    const isReady = (pid?: number) => pathsOpenIn(pid).includes(fifo);
    const ended = await interrupted(['status', '--api-key-file', fifo], { env, isReady });
    expect(ended).toMatchObject({ code: 130, stderr: 'runctl: interrupted\n' });
    expect(ended.lastedMs).toBeLessThan(ended.atOnceMs);
    expect(emulator.requests).toEqual([]);
  });

  test('is not needed where a config file is a pipe: it is refused by name', async () => {
    const folder = temporaryFolder();
    await new Promise((resolve) => spawn('mkfifo', [join(folder, 'config.json')]).on('close', resolve));
    const ended = await runProgram(['config', 'list'], { env: { RUNCTL_CONFIG_DIR: folder } });
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining('config.json is not a regular file') });
  });

  test('while the resolution of a name hangs ends the program', async (context) => {
    needs(context, 'unshare and ip', hasNamespaces && isInstalled('ip'));
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'resolv.conf'), 'nameserver 127.0.0.1\noptions timeout:30\n');
    // In a network of its own, with a name server that never answers.
    const [bound, asked] = [join(folder, 'bound'), join(folder, 'asked')];
    const silent = `const mark = (file) => () => require('fs').writeFileSync(file, '');
      const server = require('dgram').createSocket('udp4').on('message', mark('${asked}'));
      server.bind(53, mark('${bound}')); setTimeout(() => process.exit(), 30_000)`;
    const script = `ip link set lo up; mount --bind '${folder}/resolv.conf' /etc/resolv.conf
      "$1" -e "${silent}" >/dev/null 2>&1 & until [ -e '${bound}' ]; do sleep 0.02; done; exec "$@"`;
    const status = [process.execPath, entry, 'status', `${projectId}/nightly/${executionId}`];
    const ended = await interruptedCommand(['unshare', '-rmn', 'bash', '--norc', '-c', script, 'bash', ...status], {
      env: { RUNCTL_BASE_URL: 'https://api.test', RUNCTL_API_KEY: 'a-key', PATH: process.env.PATH ?? '' },
      isReady: () => existsSync(asked),
    });
    // Node itself would wait for the look-up; for a shell this is 130 too.
    expect(ended).toMatchObject({ code: 'SIGINT', stderr: expect.stringMatching(/interrupted|stopped watching/) });
    expect(ended.lastedMs).toBeLessThan(ended.atOnceMs);
  });
});
