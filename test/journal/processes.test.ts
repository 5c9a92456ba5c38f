import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { createProcesses } from '../../src/journal/processes.ts';

const { own, stateOf } = createProcesses();
const [host, pid, start] = own.split(' ');

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
  expect([stateOf(own), createProcesses().stateOf(own)]).toEqual(['running', 'running']);
});

test('knows that another process has exited', async () => {
  const child = spawn(process.execPath, ['-e', '']);
  await once(child, 'exit');
  expect(stateOf(`${host} ${child.pid} ${start}`)).toBe('ended');
});

test.runIf(process.platform === 'linux')('does not take one that has the id of another for it', () => {
  expect(stateOf(`${host} ${pid} 7`)).toBe('ended');
});

test('knows nothing of another host', () => {
  expect(stateOf(`elsewhere ${pid} ${start}`)).toBe('unknown');
});
