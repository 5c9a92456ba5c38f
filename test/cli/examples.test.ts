import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { CommandDefinition, Example } from '../../src/cli/define-command.ts';
import { parse } from '../../src/cli/parse.ts';
import { program } from '../../src/program.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const examplesOf = ({ examples = [], commands = [] }: CommandDefinition): Example[] => [
  ...examples,
  ...commands.flatMap(examplesOf),
];

/** The words that bash makes of the line for `runctl`. */
function wordsOf(line: string): string[] {
  const folder = temporaryFolder();
  const kept = join(folder, 'argv');
  const stub = `runctl() { printf '%s\\0' "$@" > ${kept}; }; cd ${folder}; touch key.txt; fish() { :; }`;
  execFileSync('bash', ['-c', `${stub}; ${line.replace(/\| (source|Out-String.*)$/, '| cat')}`]);
  return readFileSync(kept, 'utf8').split('\0').slice(0, -1);
}

test.each(examplesOf(program))('the example %s is taken by bash and by runctl', (line) => {
  const argv = wordsOf(line);
  expect(argv).toContain(parse(argv, program, { columns: 80, write() {} })?.command.name);
});

test('every command but those without a choice has examples', () => {
  const names = program.commands?.filter(({ examples }) => !examples).map(({ name }) => name);
  expect(names).toEqual(['demo', 'version', 'agent']);
});
