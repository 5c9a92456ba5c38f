import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCommand } from '../helpers/run-process.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const tools = ['vitest', 'biome', 'tsc'];

test.each([...tools, 'none'])('`npm test` fails if a part of it does, and names it: %s', async (failing) => {
  const folder = join(temporaryFolder(), 'bin');
  mkdirSync(folder);
  for (const tool of tools) {
    const script = `#!/bin/sh\necho "$0 found a fault"; exit ${tool === failing ? 1 : 0}\n`;
    writeFileSync(join(folder, tool), script, { mode: 0o755 });
  }
  const main = join(import.meta.dirname, '../../.config/test.mjs');
  const { code, stdout, stderr } = await runCommand([process.execPath, main], { env: { PATH: folder } });
  const isFailure = failing !== 'none';
  expect([code, stderr.includes(`Failed: ${failing} `)]).toEqual([isFailure ? 1 : 0, isFailure]);
  // What a part writes is shown if it failed, and of the tests also otherwise.
  const shown = tools.filter((tool) => (stdout + stderr).includes(`${tool} found a fault`));
  expect(shown).toEqual(['vitest', ...tools.slice(1).filter((tool) => tool === failing)]);
});
