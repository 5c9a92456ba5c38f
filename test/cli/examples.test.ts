import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CommandUnknownOpts } from 'commander';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { detailsOf, type Example } from '../../src/cli/command.ts';
import { parse } from '../../src/cli/parse-command-line.ts';
import { program } from '../../src/program.ts';

const examplesOf = (command: CommandUnknownOpts): readonly Example[] => [
  ...(detailsOf(command).examples ?? []),
  ...command.commands.flatMap(examplesOf),
];

const examples = examplesOf(program).map(([line]) => line);
const folder = mkdtempSync(join(tmpdir(), 'runctl-examples-'));
afterAll(() => rmSync(folder, { recursive: true }));

// One bash for all of them. A line that it does not take leaves no file.
beforeAll(() => {
  const stub = `cd '${folder}' || exit 1; touch key.txt; fish() { :; }; runctl() { printf '%s\\0' "$@" > "$n"; }`;
  const each = 'n=0; for line; do (eval "$line") || rm -f "$n"; n=$((n + 1)); done';
  const lines = examples.map((line) => line.replace(/\| (source|Out-String.*)$/, '| cat'));
  execFileSync('bash', ['--norc', '-c', `${stub}; ${each}`, 'bash', ...lines]);
});

/** The words that bash makes of the line for `runctl`. */
const wordsOf = (line: string) =>
  readFileSync(join(folder, String(examples.indexOf(line))), 'utf8')
    .split('\0')
    .slice(0, -1);

test.each(examples)('the example %s is taken by bash and by runctl', (line) => {
  const argv = wordsOf(line);
  expect(argv).toContain(parse(argv, program, { columns: () => 80, write() {} })?.command.name());
});

test('every command that has a choice has examples', () => {
  const names = program.commands.filter((command) => !detailsOf(command).examples).map((command) => command.name());
  expect(names).toEqual(['version', 'agent']);
});
