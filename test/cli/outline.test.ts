import { expect, test } from 'vitest';
import { outlineOf } from '../../src/cli/outline.ts';
import { parse } from '../../src/cli/parse.ts';
import { settingTable } from '../../src/config/setting-table.ts';
import { exitCodes } from '../../src/problems/exit-codes.ts';
import { program } from '../../src/program.ts';
import { runProgram } from '../helpers/run-program.ts';

interface Outline {
  commands: {
    name: string;
    arguments: { isRequired: boolean; choices: string[] }[];
    options: {
      name: string;
      short: string | null;
      type: string;
      choices: string[];
      default: string | null;
      needs: string | null;
    }[];
  }[];
  environment: { name: string }[];
  exitCodes: { code: number }[];
}

const outline: Outline = JSON.parse(JSON.stringify(outlineOf(program)));

/** A value of each type that an option may have. */
const samples: Readonly<Record<string, string>> = {
  address: '127.0.0.1',
  duration: '30s',
  factor: '2',
  integer: '1',
  number: '1',
  size: '1MiB',
  time: '2d',
  types: 'lease_lost',
};
const sampleOf = (type: string, [first]: readonly string[]) => first ?? samples[type] ?? 'x';

const wordsOf = ({ name, arguments: args }: Outline['commands'][number]) => [
  ...name.split(' '),
  ...args.flatMap(({ isRequired, choices }) => (isRequired ? [choices[0] ?? 'x'] : [])),
];

const lines = outline.commands.flatMap((command) => {
  const sampleValueOf = ({ type, choices }: (typeof command.options)[number]) =>
    type === 'boolean' ? [] : [sampleOf(type, choices)];
  return command.options.flatMap((option) => {
    const needed = command.options.filter(({ name }) => name === option.needs);
    return [option.name, ...(option.short === null ? [] : [option.short])].map((written) => [
      ...wordsOf(command),
      written,
      ...sampleValueOf(option),
      ...needed.flatMap((each) => [each.name, ...sampleValueOf(each)]),
    ]);
  });
});

test.each(lines.map((words) => [words.join(' '), words] as const))('the parser takes `runctl %s`', (_, words) => {
  expect(() => parse(words, program, { columns: 80, write() {} })).not.toThrow();
});

test('an option that takes a few words has them, and its default', () => {
  const trigger = outline.commands.find(({ name }) => name === 'trigger');
  const ifActive = trigger?.options.find(({ name }) => name === '--if-active');
  expect(ifActive).toMatchObject({ type: 'choice', choices: ['fail', 'skip', 'wait', 'attach'], default: 'fail' });
  expect(trigger?.options.find(({ name }) => name === '--timeout')).toMatchObject({
    type: 'duration',
    default: '3h15m',
  });
  expect(trigger?.options.find(({ name }) => name === '--json')).toMatchObject({ refuses: ['--field', '--events'] });
});

test('every variable of a setting and every exit code is there', () => {
  const names = outline.environment.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(Object.values(settingTable).flatMap(({ env }) => env)));
  expect(outline.exitCodes.map(({ code }) => code)).toEqual(exitCodes.map(({ code }) => code));
});

test('`runctl help --json` prints it as one document', async () => {
  const { code, stdout } = await runProgram(['help', '--json']);
  expect(code).toBe(0);
  expect(JSON.parse(stdout).runctl).toMatchObject({ command: 'help', outcome: 'ok', help: outline });
});
