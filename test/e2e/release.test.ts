import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { version } from '../../package.json';

const root = join(import.meta.dirname, '../..');

interface Workflow {
  permissions: Record<string, string>;
  jobs: { publish: { permissions: Record<string, string>; steps: { name?: string; uses?: string; run?: string }[] } };
}

const { permissions, jobs }: Workflow = parse(readFileSync(join(root, '.github/workflows/release.yml'), 'utf8'));
const { steps } = jobs.publish;

test('a release is published with provenance, after every check, and with no stored token', () => {
  const commands = steps.flatMap(({ run }) => run ?? []);
  expect(commands.indexOf('.ci/run')).toBeGreaterThan(0);
  // With its scripts it would build anew, without the compiled code for the other Node.
  expect(commands.at(-1)).toBe('npm publish --ignore-scripts --provenance --access public');
  expect([permissions, jobs.publish.permissions]).toEqual([
    { contents: 'read' },
    { contents: 'read', 'id-token': 'write' },
  ]);
  expect(JSON.stringify(jobs)).not.toContain('secrets.');
});

test.each([
  [`v${version}`, 0],
  ['v9.9.9', 1],
])('the tag %s ends the check of the version with %i', (tag, status) => {
  const { run = '' } = steps.find(({ name }) => name?.startsWith('Check that the tag')) ?? {};
  const env = { PATH: process.env.PATH, GITHUB_REF_NAME: tag };
  expect(spawnSync('bash', ['-e', '-c', run], { cwd: root, env }).status).toBe(status);
});
