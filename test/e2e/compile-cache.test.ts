import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runProgram, temporaryFolder } from '../helpers/program.ts';

const isKnown = 'enableCompileCache' in nodeModule;

test.skipIf(!isKnown)('what Node compiled is kept in the cache folder of the user', async () => {
  const home = temporaryFolder();
  mkdirSync(join(home, '.cache'));
  for (const _ of [1, 2])
    expect(await runProgram(['explain', '3'], { env: { HOME: home } })).toMatchObject({ code: 0 });
  expect(readdirSync(join(home, '.cache/runctl'), { recursive: true }).length).toBeGreaterThan(1);
});

test('nothing is kept where there is no such folder, nor where it cannot be written', async () => {
  const home = temporaryFolder();
  for (const env of [{ HOME: home }, { HOME: '/proc' }, { XDG_CACHE_HOME: '/proc' }, { XDG_CACHE_HOME: 'cache' }, {}]) {
    expect(await runProgram(['explain', '3'], { env })).toMatchObject({ code: 0, stderr: '' });
  }
  expect(existsSync(join(home, '.cache'))).toBe(false);
});
