import { existsSync, renameSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withLock } from '../../src/config/write-config.ts';
import { withFailingClose } from '../helpers/failing-close.ts';
import { atOnceMs } from '../helpers/real-time.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const minuteAgo = () => Date.now() / 1000 - 60;

test('the lock of a process that was killed is taken over, and removed afterwards', () => {
  const lock = join(temporaryFolder(), 'lock');
  writeFileSync(lock, '');
  utimesSync(lock, minuteAgo(), minuteAgo());
  let changes = 0;
  withLock(lock, () => changes++);
  expect([changes, existsSync(lock)]).toEqual([1, false]);
});

test('a change whose lock was taken over meanwhile is made again, since the other may have undone it', () => {
  const lock = join(temporaryFolder(), 'lock');
  let changes = 0;
  withLock(lock, () => {
    if (++changes > 1) return;
    const other = `${lock}-of-another`;
    writeFileSync(other, '');
    utimesSync(other, minuteAgo(), minuteAgo());
    renameSync(other, lock);
  });
  expect([changes, existsSync(lock)]).toEqual([2, false]);
});

test('a change that fails leaves no lock', () => {
  const lock = join(temporaryFolder(), 'lock');
  expect(() =>
    withLock(lock, () => {
      throw new Error('no');
    }),
  ).toThrow('no');
  expect(existsSync(lock)).toBe(false);
});

test('a change stays made where its lock cannot be closed, as on a network file system', () => {
  const lock = join(temporaryFolder(), 'lock');
  let changes = 0;
  withFailingClose(() => withLock(lock, () => changes++));
  expect([changes, existsSync(lock)]).toEqual([1, false]);
});

test('a folder in the place of the lock, which no process makes, is refused at once', () => {
  const lock = temporaryFolder();
  const now = Date.now();
  expect(() => withLock(lock, () => {})).toThrow(`${lock} is a folder`);
  expect(Date.now() - now).toBeLessThan(atOnceMs);
});
