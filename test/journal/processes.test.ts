import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import type { Readable, Writable } from 'node:stream';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createProcesses, senderOf } from '../../src/journal/processes.ts';

/** What this process knows of itself and of others. */
function parts() {
  const { own, stateOf } = createProcesses();
  const [host, pid, start] = own.split(' ');
  return { own, stateOf, host, pid, start };
}

test.runIf(process.platform === 'linux')('a process is named by its host, boot, container, id and start', () => {
  const [, boot, container, itsPid, itsStart] =
    /^[^/ ]+\/([\da-f-]{36})\/pid:\[(\d+)\] (\d+) (\d+)$/.exec(createProcesses().own) ?? [];
  // The second field is the name in brackets, which may hold blanks and brackets, too.
  const [, started] = /^.*\)(?: \S+){19} (\d+) /s.exec(readFileSync('/proc/self/stat', 'utf8')) ?? [];
  expect([boot, Number(container) > 0, itsPid, itsStart]).toEqual([
    expect.anything(),
    true,
    String(process.pid),
    started,
  ]);
});

test('this process is running', () => {
  const { own, stateOf } = parts();
  expect([stateOf(own), createProcesses().stateOf(own)]).toEqual(['running', 'running']);
});

test('another process that has exited has ended', async () => {
  const { stateOf, host, start } = parts();
  const child = spawn(process.execPath, ['-e', '']);
  await once(child, 'exit');
  expect(stateOf(`${host} ${child.pid} ${start}`)).toBe('ended');
});

test.runIf(process.platform === 'linux')(
  'knows that a process whose parent does not wait for it has ended',
  async () => {
    const { stateOf, host } = parts();
    // The parent of `cat` becomes one that waits for nobody. Only then `cat` ends.
    const parent = spawn('sh', ['-c', 'cat <&3 & echo $!; exec sleep 60'], {
      stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
    });
    onTestFinished(() => void parent.kill());
    const [, stdout, , toCat] = parent.stdio;
    const [text] = (await once(stdout as Readable, 'data')) as [Buffer];
    const zombie = Number(text);
    await vi.waitFor(() => expect(readFileSync(`/proc/${parent.pid}/comm`, 'utf8')).toBe('sleep\n'));
    (toCat as Writable).end();
    const fields = () => readFileSync(`/proc/${zombie}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    await vi.waitFor(() => expect(fields()[0]).toBe('Z'));
    expect(stateOf(`${host} ${zombie} ${fields()[19]}`)).toBe('ended');
  },
);

test.runIf(process.platform === 'linux')('a process that has the id of an earlier one is not taken for it', () => {
  const { stateOf, host, pid } = parts();
  expect(stateOf(`${host} ${pid} 7`)).toBe('ended');
});

test.each([
  ['EPERM', 'running'],
  ['ESRCH', 'ended'],
])('after the error %s from a signal, the state of a process is %s', (code, state) => {
  const { own, stateOf } = parts();
  const kill = vi.spyOn(process, 'kill').mockImplementation(() => {
    throw Object.assign(new Error(code), { code });
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    kill.mockRestore();
    syncBuiltinESMExports();
  });
  expect(stateOf(own)).toBe(state);
});

test('the state of a process on another host is unknown', () => {
  const { stateOf, pid, start } = parts();
  expect(stateOf(`elsewhere ${pid} ${start}`)).toBe('unknown');
});

test.runIf(process.platform === 'linux').each([
  ['ended', {}],
  ['unknown', { ignoresKeys: true }],
])('the state of a process from before the last boot is %s if the setting is %j', (state, settings) => {
  const { own, stateOf } = createProcesses(settings);
  const boot = /(?<=^[^/]+\/)[^/]+/;
  expect(stateOf(own.replace(boot, 'another-boot'))).toBe(state);
  expect(stateOf(own.replace(boot, 'another-boot').replace(/pid:\S+/, 'pid:[7]')), 'in whatever container').toBe(state);
  expect(stateOf(own.replace(boot, '')), 'where nothing says when it booted').toBe('unknown');
  expect(stateOf(own.replace(/^[^/]+/, 'elsewhere').replace(boot, 'another-boot')), 'another host').toBe('unknown');
});

test('a process is known by its id alone if nothing says when it started', () => {
  const { stateOf, host } = parts();
  // 0 is the process group of this process, of which /proc knows nothing.
  expect(stateOf(`${host} 0 `)).toBe('running');
});

test.each([
  ['running', 86_400_000, true],
  ['unknown', 179_999, true],
  ['unknown', 180_000, false],
  ['unknown', -300_000, true],
  ['unknown', -300_001, false],
  ['ended', 0, false],
] as const)('a process that is %s, and began %d ms ago, may still send its trigger: %s', (state, agoMs, isSender) => {
  const nowMs = Date.UTC(2026, 10, 22);
  const senders = [{ process: 'host 1 1', at: new Date(nowMs - agoMs).toISOString() }];
  expect(senderOf({ senders }, { own: '', stateOf: () => state }, nowMs)).toBe(isSender ? 'host 1 1' : undefined);
});

test.each([
  [['ended', 'running'], 1],
  [['running', 'ended'], 0],
  [['ended', 'unknown', 'ended'], 1],
  [['ended', 'ended'], undefined],
] as const)('among processes that are %j, a trigger is left to the process at the index %s', (states, index) => {
  const senders = states.map((state) => ({ process: state, at: '2026-11-22T00:00:00Z' }));
  const stateOf = (name: string) => name as 'running' | 'ended' | 'unknown';
  const sender = senderOf({ senders }, { own: '', stateOf }, Date.UTC(2026, 10, 22));
  expect(sender).toBe(index === undefined ? undefined : states[index]);
});
