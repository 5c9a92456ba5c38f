import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { expect, onTestFinished, test, vi } from 'vitest';
import { appendLine } from '../../src/journal/append-line.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const sync = { file() {}, folder() {} };

function append(folder: string, { fileBytes = 1000, line = 'one' } = {}) {
  return appendLine(line, { folder, fileBytes, durable: true, sync });
}

test.each([
  ['as large as it may be is written to', 5, false],
  ['larger than that is followed by the next one', 4, true],
])('a file that is %s', (_, fileBytes, isNext) => {
  const folder = temporaryFolder();
  expect(append(folder)).toBe(true);
  expect(append(folder, { fileBytes })).toBe(isNext);
  expect(fs.readdirSync(folder)).toHaveLength(isNext ? 2 : 1);
});

test('no file and no folder is left open', () => {
  const folder = temporaryFolder();
  const nextDescriptor = () => {
    const fd = fs.openSync(folder, 'r');
    fs.closeSync(fd);
    return fd;
  };
  const before = nextDescriptor();
  append(folder);
  expect(nextDescriptor()).toBe(before);
});

test('a line of which the disk takes only a part is an error', () => {
  const { writeSync } = fs;
  const full = vi.spyOn(fs, 'writeSync').mockImplementation((fd) => writeSync(fd, '\non'));
  syncBuiltinESMExports();
  onTestFinished(() => {
    full.mockRestore();
    syncBuiltinESMExports();
  });
  expect(() => append(temporaryFolder())).toThrow('only 3 of 5 bytes were written');
});
