import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import packageLock from '../../package-lock.json' with { type: 'json' };
import { runProcess } from '../helpers/run-process.ts';
import { runProgram } from '../helpers/run-program.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const root = join(import.meta.dirname, '../..');
const { version } = packageJson;

test('the package holds what `runctl schema` prints, a file for each schema', async () => {
  const folder = join(root, 'dist/schema');
  const files = readdirSync(folder).map((file) => [
    file.replace('.json', ''),
    JSON.parse(readFileSync(join(folder, file), 'utf8')),
  ]);
  const { stdout } = await runProgram(['schema']);
  expect(Object.fromEntries(files)).toEqual(JSON.parse(stdout));
});

/** The lines in which the compiler finds fault with programs that have the package beside them. */
function compile(sources: Record<string, string>): string[] {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(root, join(folder, 'node_modules/runctl'));
  for (const [name, source] of Object.entries(sources)) writeFileSync(join(folder, name), source);
  // The compiler checks its own library too, of which that of the browser is the largest part; our types need only ES5.
  const flags = ['--strict', '--noEmit', '--module', 'nodenext', '--lib', 'es5', '--types', '', '--pretty', 'false'];
  const argv = [...flags, ...Object.keys(sources)];
  const env = { PATH: process.env.PATH, GOGC: 'off' }; // it is over before there is much garbage
  const { stdout } = spawnSync(join(root, 'node_modules/.bin/tsc'), argv, { cwd: folder, env, encoding: 'utf8' });
  return stdout.trim().split('\n');
}

const branching = (started: string) => `
import type { Document, Event } from 'runctl';
export function next({ runctl }: Document): string | null {
  if (runctl.trigger?.started === '${started}') return runctl.next;
  return runctl.problem?.message ?? runctl.outcome;
}
export const ended = (event: Event) => (event.event === 'done' ? event.exitCode : undefined);
`;

test('a program in TypeScript compiles with the types of the package, and one with a word that no document has does not', () => {
  const lines = compile({ 'good.ts': branching('unknown'), 'bad.ts': branching('perhaps') });
  expect(lines).toEqual([expect.stringMatching(/^bad\.ts\(.*no overlap/)]);
});

test('the version stands in package.json, and everything else follows it', () => {
  expect([packageLock.version, packageLock.packages[''].version]).toEqual([version, version]);
  expect(readFileSync(join(root, 'docs/changelog.md'), 'utf8')).toContain(`\n## ${version}\n`);
  const recipes = readFileSync(join(root, 'docs/recipes.md'), 'utf8');
  const named = [...recipes.matchAll(/runctl[-:](\d+\.\d+\.\d+)/g)].map(([, found]) => found);
  expect(new Set(named)).toEqual(new Set([version]));
});

test.each(['programs', 'agents'])('`runctl help %s` prints the page for programs', async (topic) => {
  const page = readFileSync(join(root, 'docs/for-programs.md'), 'utf8');
  expect(await runProcess(['help', topic])).toMatchObject({ code: 0, stdout: page, stderr: '' });
});
