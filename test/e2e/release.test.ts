import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { version } from '../../package.json';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const root = join(import.meta.dirname, '../..');
const { withAbsoluteLinks, withLinks } = await import(join(root, '.config/repository.mjs'));

interface Job {
  needs?: string;
  environment?: string;
  permissions: Record<string, string>;
  steps: { name?: string; uses?: string; run?: string }[];
}

const text = readFileSync(join(root, '.github/workflows/release.yml'), 'utf8');
const { permissions, jobs }: { permissions: Record<string, string>; jobs: Record<string, Job> } = parse(text);
const commandsOf = (job: string) => jobs[job]?.steps.flatMap(({ run }) => run ?? []) ?? [];

describe('the release workflow', () => {
  test('makes a draft, publishes to npm, and then the draft: if npm refuses, nothing is public', () => {
    expect(Object.entries(jobs).map(([name, { needs }]) => [name, needs])).toEqual([
      ['draft', undefined],
      ['npm', 'draft'],
      ['release', 'npm'],
    ]);
    expect(commandsOf('draft').at(-1)).toContain('gh release create "$GITHUB_REF_NAME" --draft ');
    expect(commandsOf('npm').at(-1)).toContain('npm publish ');
    expect(commandsOf('release')).toEqual([
      'gh release edit "$GITHUB_REF_NAME" --repo "$GITHUB_REPOSITORY" --draft=false',
    ]);
  });

  test('drafts only what has passed every check, and what a second build made, too', () => {
    const commands = commandsOf('draft');
    const places = ['check-release', '.ci/run', 'npm run pack', 'gh release create'].map((part) =>
      commands.findIndex((command) => command.includes(part)),
    );
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(places).not.toContain(-1);
    expect(commands.find((command) => command.includes('npm run pack'))).toMatch(
      /npm run pack.*npm run pack.*--check/s,
    );
    expect(commands.at(-1)).toContain('runctl-*.tgz runctl-*.tgz.sha256 runctl-*.cdx.json');
  });

  test('publishes the tarball of the draft with provenance and with no stored token', () => {
    const [command = ''] = commandsOf('npm');
    expect(command).toMatch(/gh release download.*sha256sum --check.*npm publish .*--provenance .*\.\/runctl-\*\.tgz/s);
    expect(text).not.toContain('secrets.');
    expect(jobs.npm?.environment).toBe('npm');
  });

  test('may not do more than each job needs, and runs actions by their commit alone', () => {
    expect([permissions, ...Object.values(jobs).map((job) => job.permissions)]).toEqual([
      { contents: 'read' },
      { contents: 'write' },
      { contents: 'write', 'id-token': 'write' },
      { contents: 'write' },
    ]);
    const actions = Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ uses }) => uses ?? []));
    expect(actions.length).toBeGreaterThan(0);
    expect(actions.filter((uses) => !/@[\da-f]{40}$/.test(uses))).toEqual([]);
  });
});

const home = 'https://github.com/somebody/runctl';

interface Sources {
  repository?: string | { type: string; url: string };
  changelog?: string;
}

/** A folder with what a release is checked by. */
function sources({ repository, changelog = '# Changelog\n\n## 1.2.3\n\nNew.\n' }: Sources = {}) {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'docs'));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'runctl', version: '1.2.3', repository }));
  writeFileSync(join(folder, 'docs/CHANGELOG.md'), changelog);
  return folder;
}

const runScript = (name: string, args: string[], cwd: string) =>
  spawnSync(process.execPath, [join(root, '.config', name), ...args], { cwd, encoding: 'utf8' });

describe('a release is checked before anything is done', () => {
  test.each<[string, Sources]>([
    ['the URL of this repository', { repository: home }],
    ['it as npm writes it', { repository: { type: 'git', url: `git+${home}.git` } }],
    ['a version with a date', { repository: home, changelog: '## 1.2.3 (2026-12-01)\n\nNew.\n' }],
  ])('and is let through with %s', (_, files) => {
    expect(runScript('check-release.mjs', ['v1.2.3', home], sources(files))).toMatchObject({ status: 0, stderr: '' });
  });

  test.each<[string, string, Sources, RegExp]>([
    ['the tag of another version', 'v9.9.9', { repository: home }, /v9\.9\.9.*1\.2\.3.*push v1\.2\.3/],
    [
      'no section in the changelog',
      'v1.2.3',
      { repository: home, changelog: '## 1.2.30\n\nNew.\n' },
      /Add "## 1\.2\.3"/,
    ],
    [
      'an empty section',
      'v1.2.3',
      { repository: home, changelog: '## 1.2.3\n\n## 1.2.2\n\nOld.\n' },
      /Add "## 1\.2\.3"/,
    ],
    ['no repository', 'v1.2.3', {}, new RegExp(`npm pkg set repository=${home}\n`)],
    [
      'the repository of another',
      'v1.2.3',
      { repository: 'https://github.com/other/runctl' },
      /other\/runctl, but this is/,
    ],
  ])('and is refused with %s', (_, tag, files, message) => {
    const { status, stderr } = runScript('check-release.mjs', [tag, home], sources(files));
    expect([status, stderr]).toEqual([1, expect.stringMatching(message)]);
    expect(stderr).toMatch(/Nothing was published/);
  });
});

describe('the notes of a release', () => {
  const changelog = `# Changelog

## 1.2.3 (2026-12-01)

### Triggering

- A [limit](reference.md#triggering), as [npm](https://npmjs.com) has.

## 1.2.2

- Old.
`;

  test('are what the changelog says of that version alone, with links that work on any page', () => {
    const { stdout } = runScript('release-notes.mjs', [], sources({ repository: home, changelog }));
    const link = `${home}/blob/v1.2.3/docs/reference.md#triggering`;
    expect(stdout).toBe(`### Triggering\n\n- A [limit](${link}), as [npm](https://npmjs.com) has.\n`);
  });

  test('have no link that leads nowhere where no repository is named', () => {
    const { stdout } = runScript('release-notes.mjs', [], sources({ changelog }));
    expect(stdout).toContain('- A limit, as [npm](https://npmjs.com) has.');
  });

  test('can be made for the version of this source', () => {
    expect(runScript('release-notes.mjs', [], root)).toMatchObject({ status: 0, stderr: '' });
  });
});

describe("the package's page", () => {
  const manifest = { name: 'runctl', version, repository: home };

  test('names the repository, its home page and where to report a bug, all from one line of package.json', () => {
    expect(withLinks(manifest)).toMatchObject({
      repository: { type: 'git', url: `git+${home}.git` },
      homepage: `${home}#readme`,
      bugs: `${home}/issues`,
    });
    expect(withLinks({ name: 'runctl', version })).toEqual({ name: 'runctl', version });
  });

  test('has no link and no picture that leads nowhere', () => {
    const page = withAbsoluteLinks(readFileSync(join(root, 'README.md'), 'utf8'), manifest);
    expect(page).toContain(`(${home}/raw/v${version}/docs/session.svg)`);
    expect(page).toContain(`(${home}/blob/v${version}/docs/reference.md#stability)`);
    expect([...page.matchAll(/\]\((?!https:\/\/)[^)]*\)/g)].map(([link]) => link)).toEqual([]);
  });
});
