import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

const root = join(import.meta.dirname, '../..');
const sources = [
  ...['src', '.config', 'package.json', 'package-lock.json'],
  ...['README.md', 'docs/for-programs.md', 'docs/troubleshooting.md'],
];

/** Builds `dist/` before the first test if a source or a part of the build is younger, and again before each repetition. */
export function setup(project: TestProject): void {
  buildWhenStale();
  project.onTestsRerun(buildWhenStale);
}

function buildWhenStale(): void {
  // The build writes all files at its end. A folder counts too: it changes when a file in it is removed.
  const builtMs = changedMs('dist/main.cjs');
  if (!(Math.max(...sources.flatMap(pathsIn).map(changedMs)) < builtMs)) {
    execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' });
  }
}

function pathsIn(path: string): string[] {
  if (!statSync(join(root, path)).isDirectory()) return [path];
  return [
    path,
    ...readdirSync(join(root, path), { recursive: true, encoding: 'utf8' }).map((name) => join(path, name)),
  ];
}

/** When a file was last changed, in milliseconds since 1970; never, if there is none. */
function changedMs(path: string): number {
  const file = join(root, path);
  return existsSync(file) ? statSync(file).mtimeMs : Number.NEGATIVE_INFINITY;
}
