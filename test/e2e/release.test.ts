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
  expect(commands.at(-2)).toBe('npm publish --ignore-scripts --provenance --access public ./runctl-*.tgz');
  expect([permissions, jobs.publish.permissions]).toEqual([
    { contents: 'read' },
    { contents: 'write', 'id-token': 'write' },
  ]);
  expect(JSON.stringify(jobs)).not.toContain('secrets.');
});

test('what is published is what the release holds, with its checksum, and a second build was the same', () => {
  const commands = steps.flatMap(({ run }) => run ?? []);
  expect(commands.at(-3)?.match(/npm run pack/g)).toHaveLength(2);
  expect(commands.at(-3)).toContain('sha256sum --check');
  expect(commands.at(-1)).toMatch(/^gh release create .* runctl-\*\.tgz runctl-\*\.tgz\.sha256$/);
});

test.each([
  [`v${version}`, 0],
  ['v9.9.9', 1],
])('the tag %s ends the check of the version with %i', (tag, status) => {
  const { run = '' } = steps.find(({ name }) => name?.startsWith('Check that the tag')) ?? {};
  const env = { PATH: process.env.PATH, GITHUB_REF_NAME: tag };
  expect(spawnSync('bash', ['-e', '-c', run], { cwd: root, env }).status).toBe(status);
});
