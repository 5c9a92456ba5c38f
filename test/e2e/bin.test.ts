import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
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
  return spawnSync(process.execPath, ['-r', preload, entry, ...argv], { encoding: 'utf8', env: {} });
}

/** What the file that is started does on a Node of that version: what it writes, ends with and loads. */
function startOn(version: string) {
  let stderr = '';
  let code: number | undefined;
  const loaded: string[] = [];
  const process = {
    versions: { node: version },
    stderr: { write: (text: string) => (stderr += text) },
    exit(status: number) {
      code = status;
      throw new Error('exit');
    },
  };
  try {
    runInNewContext(readFileSync(entry, 'utf8'), { process, require: (path: string) => loaded.push(path) });
  } catch (error) {
    if (code === undefined) throw error;
  }
  return { stderr, code, loaded };
}

const refusal = (version: string) => `runctl: needs Node 20.19 or newer, this is ${version}\n`;

test.each(['0.12.18', '6.17.1', '18.20.8', '20.18.3'])('Node %s is refused in one line, with 70', (version) => {
  expect(startOn(version)).toEqual({ stderr: refusal(version), code: 70, loaded: [] });
});

test.each(['20.19.0', '22.0.0', '26.3.1'])('Node %s is accepted', (version) => {
  expect(startOn(version)).toEqual({ stderr: '', code: undefined, loaded: ['../dist/main.cjs'] });
});

test('an old Node exits with 70 and one line, and a new Node runs the command', () => {
  expect(runOn('20.18.3', 'status')).toMatchObject({ status: 70, stdout: '', stderr: refusal('20.18.3') });
  expect(runOn('20.19.0', '--version')).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/^\d+\.\d+\.\d+(-rc\.\d+)?\n$/),
  });
});
