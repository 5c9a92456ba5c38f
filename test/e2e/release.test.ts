import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { version } from '../../package.json';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const root = join(import.meta.dirname, '../..');
const { withAbsoluteLinks, withLinks } = await import(join(root, '.config/repository.mjs'));

interface Job {
  needs?: string;
  environment?: string;
  permissions: Record<string, string>;
  steps: { uses?: string; run?: string }[];
}

const text = readFileSync(join(root, '.github/workflows/release.yml'), 'utf8');
const { jobs }: { jobs: Record<string, Job> } = parse(text);
const commandsOf = (job: string) => jobs[job]?.steps.flatMap(({ run }) => run ?? []) ?? [];

test('a release is a draft that passed every check, then on npm, then public: if npm refuses, nothing is', () => {
  expect(Object.entries(jobs).map(([name, { needs }]) => [name, needs])).toEqual([
    ['draft', undefined],
    ['npm', 'draft'],
    ['release', 'npm'],
  ]);
  const drafting = ['GITHUB_REF_NAME', '.ci/run', 'npm run pack && npm publish --dry-run', 'gh release create'];
  const places = drafting.map((part) => commandsOf('draft').findIndex((command) => command.includes(part)));
  expect(places).toEqual([...places].sort((a, b) => a - b));
  expect(places).not.toContain(-1);
  expect(commandsOf('npm').at(-1)).toMatch(/sha256sum --check.*npm publish .*--provenance .*\.\/runctl-\*\.tgz/s);
  expect(commandsOf('release').at(-1)).toContain('--draft=false');
});

test('a release stores no token, may write to what it publishes alone, and runs actions by their commit', () => {
  expect(text).not.toContain('secrets.');
  expect(Object.values(jobs).map(({ permissions }) => permissions)).toEqual([
    { contents: 'write' },
    { contents: 'write', 'id-token': 'write' },
    { contents: 'write' },
  ]);
  const actions = Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ uses }) => uses ?? []));
  expect(actions.filter((uses) => !/@[\da-f]{40}$/.test(uses))).toEqual([]);
});

const home = 'https://github.com/somebody/runctl';

/** The notes of version 1.2.3 by a changelog. */
function notesOf(changelog: string) {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'docs'));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'runctl', version: '1.2.3', repository: home }));
  writeFileSync(join(folder, 'docs/CHANGELOG.md'), changelog);
  return spawnSync(process.execPath, [join(root, '.config/release-notes.mjs')], { cwd: folder, encoding: 'utf8' });
}

test("a release's notes are its section of the changelog, with links that work on any page; without one there is no release", () => {
  const { stdout } = notesOf('# Changelog\n\n## 1.2.3 (2026-12-01)\n\n- A [limit](a.md#b).\n\n## 1.2.2\n\n- Old.\n');
  expect(stdout).toBe(`- A [limit](${home}/blob/v1.2.3/docs/a.md#b).\n`);
  expect(notesOf('## 1.2.30\n\nNew.\n')).toMatchObject({ status: 1, stderr: expect.stringContaining('1.2.3') });
});

test("no link and no picture of the package's page leads nowhere", () => {
  const manifest = { name: 'runctl', version, repository: home };
  expect(withLinks(manifest)).toMatchObject({ homepage: `${home}#readme`, bugs: `${home}/issues` });
  const page = withAbsoluteLinks(readFileSync(join(root, 'README.md'), 'utf8'), manifest);
  expect(page).toContain(`(${home}/blob/v${version}/docs/reference.md#stability)`);
  expect([...page.matchAll(/\]\((?!https:\/\/)[^)]*\)/g)].map(([link]) => link)).toEqual([]);
});
