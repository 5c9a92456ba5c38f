import { type Command, Help, type Option } from 'commander';
import { wrap } from '../render/wrap.ts';
import { argument, type CommandDefinition, type Example, flag } from './define-command.ts';

/** `config help [command]` and its like, which commander itself answers. */
export const groupHelp: CommandDefinition = {
  name: 'help',
  about: 'show the help of a command',
  arguments: { command: argument('[command]') },
};

export const helpTopics = ['exit-codes', 'settings', 'scenarios'] as const;

export const helpOption = flag('-h, --help', 'show this help');
export const versionOption = flag('-V, --version', 'show the version');

const readOn = [
  'More: `runctl help exit-codes`, `runctl help settings`, `runctl help scenarios`.',
  'Try it without an account: `runctl demo`.',
];

export function addReadOn(root: Command, columns: () => number): void {
  // What is to be typed is not broken.
  const lines = () => readOn.map((line) => wrap(line.match(/`[^`]+`\S*|\S+/g) ?? [], { columns: columns() }));
  root.addHelpText('afterAll', () => `\n${lines().join('\n')}`);
}

/** An item and what it means: below it where there is no room beside it, which commander would run over the edge. */
export function formatItem(term: string, width: number, about: string, help: Help): string {
  const { helpWidth: columns = 80, minWidthToWrap } = help;
  if (about === '' || columns - width - 4 >= minWidthToWrap)
    return Help.prototype.formatItem.call(help, term, width, about, help);
  return `  ${wrap(term.split(' '), { columns, indent: 4, taken: 2 })}\n      ${wrap(about.split(' '), { columns, indent: 6 })}`;
}

/** Groups of options or commands: a command's own options stand first, also where they are `--help` alone. */
export function ownFirst<T extends Command | Option>(all: T[], shown: T[], groupOf: (item: T) => string) {
  const own = shown.filter((item) => groupOf(item) === 'Options:');
  return Help.prototype.groupItems([...own, ...all], shown, groupOf);
}

export function examplesOf(examples: readonly Example[], columns: number): string {
  const width = Math.max(...examples.map(([command]) => command.length));
  const fits = examples.every(([, about]) => 2 + width + 2 + about.length <= columns);
  const lines = examples.map(([command, about]) =>
    fits
      ? `  ${command.padEnd(width)}  ${about}`
      : `  ${command}\n      ${wrap(about.split(' '), { columns, indent: 6 })}`,
  );
  return `\nExamples:\n${lines.join('\n')}`;
}
