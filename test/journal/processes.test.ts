import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
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

test.runIf(process.platform === 'linux')('knows that a process of another user runs', () => {
  const isRoot = process.geteuid?.() === 0;
  const other = isRoot ? spawn('sleep', ['60'], { uid: 65_533 }) : undefined;
  onTestFinished(() => void other?.kill());
  const itsPid = other?.pid ?? 1;
  const itsStart = readFileSync(`/proc/${itsPid}/stat`, 'utf8').split(' ')[21];
  if (isRoot) process.seteuid?.(65_534);
  try {
    expect(() => process.kill(itsPid, 0)).toThrow('EPERM');
    expect(stateOf(`${host} ${itsPid} ${itsStart}`)).toBe('running');
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
});

test('knows nothing of another host', () => {
  expect(stateOf(`elsewhere ${pid} ${start}`)).toBe('unknown');
});
