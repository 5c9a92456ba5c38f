import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { createForeground } from '../../src/system/foreground.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

/** As on macOS and FreeBSD. */
vi.mock('node:fs', async (importOriginal) => {
  const fs = await importOriginal<typeof import('node:fs')>();
  const readFileSync = (path: string, ...options: []) => {
    if (path.startsWith('/proc/')) throw new Error('ENOENT');
    return fs.readFileSync(path, ...options);
  };
  return { ...fs, readFileSync };
});

test('where there is no /proc, `ps` is asked at first and whenever the process was continued', () => {
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
