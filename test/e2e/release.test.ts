import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { version } from '../../package.json';
import packageLock from '../../package-lock.json' with { type: 'json' };
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const { withAbsoluteLinks, withLinks } = await import(join(root, '.config/repository.mjs'));

test('the version in package.json is the version everywhere else', () => {
  expect([packageLock.version, packageLock.packages[''].version]).toEqual([version, version]);
  expect(read('docs/CHANGELOG.md')).toContain(`\n## ${version}\n`);
});

test('a release is a draft that passed every check, then on npm, then public; it stores no token and may write only what it publishes', () => {
  const text = read('.github/workflows/release.yml');
  const { jobs } = parse(text);
  expect([jobs.draft.needs, jobs.npm.needs, jobs.release.needs]).toEqual([undefined, 'draft', 'npm']);
  const commands = (job: string) => jobs[job].steps.map(({ run }: { run?: string }) => run).join('\n');
  const inOrder =
    /GITHUB_REF_NAME[\s\S]*\.ci\/run\n[\s\S]*npm run pack && npm publish --dry-run[\s\S]*gh release create .*--draft/;
  expect(commands('draft')).toMatch(inOrder);
  expect(commands('npm')).toMatch(/sha256sum --check[\s\S]*npm publish .*--provenance .*\.\/runctl-\*\.tgz/);
  expect(commands('release')).toContain('--draft=false');
  expect([jobs.draft, jobs.npm, jobs.release].map(({ permissions }) => permissions)).toEqual([
    { contents: 'write' },
    { contents: 'write', 'id-token': 'write' },
    { contents: 'write' },
  ]);
  expect(text).not.toContain('secrets.');
  expect(text.match(/uses: \S+@(?![\da-f]{40} )/g)).toBeNull();
});

const home = 'https://github.com/somebody/runctl';

test("a release's notes are its section of the changelog, with links that work on any page; without one there is no release", () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'docs'));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'runctl', version: '1.2.3', repository: home }));
  const notesOf = (changelog: string) => {
    writeFileSync(join(folder, 'docs/CHANGELOG.md'), changelog);
    return spawnSync(process.execPath, [join(root, '.config/release-notes.mjs')], { cwd: folder, encoding: 'utf8' });
  };
  const { stdout } = notesOf('# Changelog\n\n## 1.2.3 (2026-12-01)\n\n- A [limit](a.md#b).\n\n## 1.2.2\n\n- Old.\n');
  expect(stdout).toBe(`- A [limit](${home}/blob/v1.2.3/docs/a.md#b).\n`);
  expect(notesOf('## 1.2.30\n\nNew.\n')).toMatchObject({ status: 1, stderr: expect.stringContaining('1.2.3') });
});

test("every link and picture of the package's page leads somewhere", () => {
  const manifest = { name: 'runctl', version, repository: home };
  expect(withLinks(manifest)).toMatchObject({ homepage: `${home}#readme`, bugs: `${home}/issues` });
  const page = withAbsoluteLinks(read('README.md'), manifest);
  expect(page).toContain(`(${home}/blob/v${version}/docs/reference.md#stability)`);
  expect(page.match(/\]\((?!https:\/\/)[^)]*\)/g)).toBeNull();
});
