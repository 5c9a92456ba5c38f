import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { entry } from '../helpers/run-process.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

/** The program as a Node of another version would run it. */
function runOn(version: string, ...argv: string[]) {
  const preload = join(temporaryFolder(), 'preload.cjs');
  const versions = JSON.stringify({ ...process.versions, node: version });
  writeFileSync(
    preload,
    `for (const [key, value] of [['versions', ${versions}], ['version', 'v${version}']]) Object.defineProperty(process, key, { value });`,
  );
  return spawnSync(process.execPath, ['-r', preload, entry, ...argv], { encoding: 'utf8' });
}

test.each(['0.12.18', '6.17.1', '18.20.8', '20.18.3'])('Node %s is refused in one line, with 70', (version) => {
  const { status, stdout, stderr } = runOn(version, 'status');
  expect(stdout).toBe('');
  expect(stderr).toMatch(/^runctl: needs Node 20\.19 or newer, .*\n$/);
  expect(stderr).toContain(version);
  expect(status).toBe(70);
});

test.each(['20.19.0', '22.0.0', '26.3.1'])('Node %s is taken', (version) => {
  const { status, stdout } = runOn(version, '--version');
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect(status).toBe(0);
});
