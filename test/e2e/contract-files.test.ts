import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import packageLock from '../../package-lock.json' with { type: 'json' };
import { runProcess } from '../helpers/run-process.ts';

const root = join(import.meta.dirname, '../..');
const { version } = packageJson;

test('the version stands in package.json, and everything else follows it', () => {
  expect([packageLock.version, packageLock.packages[''].version]).toEqual([version, version]);
  expect(readFileSync(join(root, 'docs/CHANGELOG.md'), 'utf8')).toContain(`\n## ${version}\n`);
});

test.each(['programs', 'agents'])('`runctl help %s` prints the page for programs', async (topic) => {
  const page = readFileSync(join(root, 'docs/for-programs.md'), 'utf8');
  expect(await runProcess(['help', topic])).toMatchObject({ code: 0, stdout: page, stderr: '' });
});

test('`runctl help man` prints the manual page, which not every npm installs', async () => {
  const page = readFileSync(join(root, 'dist/runctl.1'), 'utf8');
  expect(page).toMatch(/^\.TH RUNCTL 1/);
  expect(await runProcess(['help', 'man'])).toMatchObject({ code: 0, stdout: page, stderr: '' });
});
