import fs, { writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createForeground } from '../../src/system/foreground.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

/** As on macOS and FreeBSD. */
function hideProc(): void {
  const { readFileSync } = fs;
  const spy = vi.spyOn(fs, 'readFileSync').mockImplementation((path, ...options) => {
    if (String(path).startsWith('/proc/')) throw new Error('ENOENT');
    return readFileSync(path, ...options);
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    spy.mockRestore();
    syncBuiltinESMExports();
  });
}

test('where there is no /proc, `ps` is asked at first and whenever the process was continued', () => {
  hideProc();
  const folder = temporaryFolder();
  vi.stubEnv('PATH', `${folder}:${process.env.PATH}`);
  const answerWith = (groups: string) =>
    writeFileSync(join(folder, 'ps'), `#!/bin/sh\necho "${groups}"\n`, { mode: 0o755 });
  let resumptions = 0;
  const isInForeground = createForeground(() => resumptions);
  answerWith(' 41  41');
  expect(isInForeground()).toBe(true);
  answerWith(' 41  7');
  expect(isInForeground()).toBe(true);
  resumptions += 1;
  expect(isInForeground()).toBe(false);
  vi.unstubAllEnvs();
});
