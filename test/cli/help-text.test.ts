import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { parse } from '../../src/cli/parse-command-line.ts';
import { runCli } from '../../src/cli/run-cli.ts';
import { loadColors } from '../../src/output/theme.ts';
import { program } from '../../src/program.ts';
import { createMemory } from '../helpers/memory-context.ts';

const pages = [
  ...program.commands.map((command) => [command.name(), '--help']),
  // The others are documents, printed as they are.
  ['help', 'settings'],
  ['explain'],
  ['explain', '12'],
];

test.each(pages.map((argv) => [argv.join(' '), argv] as const))(
  'in a pipe, no line of `runctl %s` is longer than 100 characters',
  async (_, argv) => {
    const context = createMemory();
    expect(await runCli(argv, program, context)).toBe(0);
    for (const line of context.out().split('\n')) expect(line.length, line).toBeLessThanOrEqual(100);
  },
);

test.each([['help', 'settings'], ['help', 'flags'], ['explain'], ['explain', '12']])(
  'on a wide terminal, no line of `runctl %s %s` is longer',
  async (...argv) => {
    const context = createMemory();
    Object.assign(context.stdout, { isTTY: true, columns: () => 300 });
    expect(await runCli(argv, program, context)).toBe(0);
    const lengths = context
      .out()
      .split('\n')
      .map(({ length }) => length);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(100);
  },
);

test.each([
  ...pages.map(([...argv]) => argv),
  ['help', 'flags'],
  ['help', 'troubleshooting'],
  ['help', 'programs'],
  ['completion', 'zsh'],
])('on a terminal, `runctl %s %s` has no backquote, which a shell would execute', async (...argv) => {
  const context = createMemory();
  Object.assign(context.stdout, { isTTY: true });
  expect(await runCli(argv, program, context)).toBe(0);
  expect(context.out()).not.toContain('`');
});

const helpOf = (argv: string[], colors: boolean) => {
  const written: string[] = [];
  parse(argv, program, { columns: () => 80, colors, write: (text) => written.push(text) });
  return written.join('');
};

test('with colors, headings are bold and commands have a color', async () => {
  await loadColors({ colors: true });
  const help = helpOf(['--help'], true);
  for (const heading of ['Usage:', 'Options:', 'Examples:']) expect(help).toContain(`\u001B[1m${heading}`);
  expect(help).toContain('\u001B[36mtrigger\u001B[39m');
  expect(help).toContain('\u001B[36mrunctl emulator -- runctl trigger nightly --watch\u001B[39m');
  expect(help).not.toContain('`');
  expect(stripVTControlCharacters(help).split('\n')).toHaveLength(helpOf(['--help'], false).split('\n').length);
});
