import { expect, test } from 'vitest';
import { candidatesFor, type ValuesOf } from '../../src/commands/complete-words.ts';
import { program } from '../../src/program.ts';

const known: Record<string, string[]> = { automation: ['nightly', 'weekly'], run: ['@last'], profile: ['prod'] };
const valuesOf: ValuesOf = ({ name, choices }) =>
  name === 'api-key-file' ? 'files' : (choices ?? known[name] ?? []).map((value) => ({ value }));

function valuesFor(words: string[]): string[] | 'files' {
  const candidates = candidatesFor(words, program, valuesOf);
  return candidates === 'files' ? 'files' : candidates.map(({ value }) => value);
}

test('an empty line offers every command with what it does', () => {
  const candidates = candidatesFor([''], program, valuesOf);
  expect(candidates).toContainEqual({ value: 'status', about: "show a run's current status" });
  expect(candidates).toHaveLength(program.commands?.length ?? 0);
});

test.each<[string[], string[] | 'files']>([
  [['tri'], ['trigger']],
  [['agent', 't'], ['trigger']],
  [['agent', 'trigger', '--ti'], ['--title']],
  [
    ['completion', ''],
    ['bash', 'zsh', 'fish'],
  ],
  [['trigger', '--if'], ['--if-active']],
  [['trigger', '--if-active', 's'], ['skip']],
  [['trigger', '--if-active=s'], ['--if-active=skip']],
  [['trigger', '--json', 'n'], ['nightly']],
  [['trigger', 'nightly', 'w'], ['weekly']],
  [['trigger', '--watch', '--', 'w'], ['weekly']],
  [['trigger', '--', '--w'], []],
  [['status', ''], ['@last']],
  [['status', '@last', ''], []],
  [['status', '-p'], ['-p']],
  [['status', '--profile=p'], ['--profile=prod']],
  [['status', '--api-key-file', ''], 'files'],
  [['status', '--api-key-file=./k'], 'files'],
  [['status', '--timeout', 'sta'], []],
  [['nothing', ''], (program.commands ?? []).map(({ name }) => name)],
])('%j may go on as %j', (words, values) => {
  expect(valuesFor(words)).toEqual(values);
});
