import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { createProcesses } from '../../src/journal/processes.ts';

/** What this process knows of itself and of others. */
function parts() {
  const { own, stateOf } = createProcesses();
  const [host, pid, start] = own.split(' ');
  return { own, stateOf, host, pid, start };
}

test.runIf(process.platform === 'linux')('names a process by its host, boot, container, id and start', () => {
  const [, boot, container, itsPid, itsStart] =
    /^[^/ ]+\/([\da-f-]{36})\/pid:\[(\d+)\] (\d+) (\d+)$/.exec(createProcesses().own) ?? [];
  expect([boot, Number(container) > 0, itsPid, Number(itsStart) > 0]).toEqual([
    expect.anything(),
    true,
    String(process.pid),
    true,
  ]);
});

test('knows that this process runs', () => {
  const { own, stateOf } = parts();
  expect([stateOf(own), createProcesses().stateOf(own)]).toEqual(['running', 'running']);
});

test('knows that another process has exited', async () => {
  const { stateOf, host, start } = parts();
  const child = spawn(process.execPath, ['-e', '']);
  await once(child, 'exit');
  expect(stateOf(`${host} ${child.pid} ${start}`)).toBe('ended');
});

test.runIf(process.platform === 'linux')('does not take one that has the id of another for it', () => {
  const { stateOf, host, pid } = parts();
  expect(stateOf(`${host} ${pid} 7`)).toBe('ended');
});

test.runIf(process.platform === 'linux' && process.geteuid?.() === 0)(
  'knows that a process of another user runs, to which no signal may be sent',
  () => {
    const { stateOf, host } = parts();
    const other = spawn('sleep', ['60'], { uid: 65_533 });
    onTestFinished(() => void other.kill());
    const pid = Number(other.pid);
    const start = readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ')[21];
    process.seteuid?.(65_534);
    try {
      expect(() => process.kill(pid, 0)).toThrow('EPERM');
      expect(stateOf(`${host} ${pid} ${start}`)).toBe('running');
    } finally {
      process.seteuid?.(0);
    }
  },
);

test('knows nothing of another host', () => {
  const { stateOf, pid, start } = parts();
  expect(stateOf(`elsewhere ${pid} ${start}`)).toBe('unknown');
});

test('knows a process by its id alone where nothing says when it started', () => {
  const { stateOf, host } = parts();
  // 0 is the process group of this process, of which /proc knows nothing.
  expect(stateOf(`${host} 0 `)).toBe('running');
});
