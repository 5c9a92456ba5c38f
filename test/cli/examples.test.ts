import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { examples } from '../../src/cli/examples.ts';
import { createProgram } from '../../src/cli/program.ts';
import type { Context } from '../../src/context.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const lines = Object.values(examples).flatMap((rows) => rows.map(([command]) => command));

/** The command, as all the others are; but it does nothing. */
function idleProgram(): Command {
  const stdout = { columns: 80, write() {} };
  const program = createProgram({ done: async () => {}, context: { stdout } as unknown as Context });
  const silence = (command: Command) => {
    command.action(() => {});
    command.commands.forEach(silence);
  };
  program.commands.forEach(silence);
  return program;
}

/** The words that bash makes of the line for `runctl`. */
function wordsOf(line: string): string[] {
  const folder = temporaryFolder();
  const kept = join(folder, 'argv');
  const stub = `runctl() { printf '%s\\0' "$@" > ${kept}; }; cd ${folder}; touch key.txt; fish() { :; }`;
  execFileSync('bash', ['-c', `${stub}; ${line.replace(/\| (source|Out-String.*)$/, '| cat')}`]);
  return readFileSync(kept, 'utf8').split('\0').slice(0, -1);
}

test.each(lines)('the example %s is taken by bash and by runctl', async (line) => {
  const argv = wordsOf(line);
  expect(argv.length).toBeGreaterThan(0);
  await expect(idleProgram().parseAsync(argv, { from: 'user' })).resolves.toBeDefined();
});

test('every command but those without a choice has examples', () => {
  const names = idleProgram().commands.map((command) => command.name());
  expect(names.filter((name) => !(name in examples))).toEqual(['demo', 'agent']);
});
