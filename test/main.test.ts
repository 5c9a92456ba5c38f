import { afterEach, expect, test, vi } from 'vitest';
import { version } from '../package.json';

const runProcess = vi.fn();
const written: string[] = [];

/** Loads the entry of the program anew, with these words on its command line. */
async function load(argv: string[], write = (text: string) => written.push(text)) {
  vi.resetModules();
  vi.doMock('../src/process.ts', () => ({ runProcess }));
  vi.doMock('node:fs', async (original) => ({
    ...(await original()),
    writeSync: (_: number, text: string) => write(text),
  }));
  vi.spyOn(process, 'argv', 'get').mockReturnValue(['node', 'runctl', ...argv]);
  await import('../src/main.ts');
  await vi.dynamicImportSettled();
}

afterEach(() => {
  vi.doUnmock('../src/process.ts');
  vi.doUnmock('node:fs');
  vi.restoreAllMocks();
  vi.resetModules();
  runProcess.mockReset();
  // It belongs to the process, in which other tests run, too.
  process.exitCode = undefined;
  written.length = 0;
});

test.each([['--version'], ['-V']])('`runctl %s` is answered without loading the program', async (flag) => {
  await load([flag]);
  expect(written).toEqual([`${version}\n`]);
  expect(runProcess).not.toHaveBeenCalled();
});

test.each([
  ['nobody can read any more is no error', 'EPIPE', undefined],
  ['finds no room on the disk is one', 'ENOSPC', 74],
])('a version that %s', async (_, code, exitCode) => {
  const write = () => {
    throw Object.assign(new Error(code), { code });
  };
  await load(['--version'], write);
  expect(process.exitCode).toBe(exitCode);
});

test.each([[['status']], [['--version', '--json']], [[]]])('`runctl %j` loads and runs the program', async (argv) => {
  await load(argv);
  expect(runProcess).toHaveBeenCalledOnce();
  expect(written).toEqual([]);
});
