import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { runProcess } from '../helpers/run-process.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

test('code that Node compiles is kept in no folder of the user and in no temporary one', async () => {
  const home = temporaryFolder();
  const env = { HOME: home, XDG_CACHE_HOME: home, TMPDIR: home };
  expect(await runProcess(['explain', '3'], { env })).toMatchObject({ code: 0, stderr: '' });
  expect(readdirSync(home)).toEqual([]);
});
