import { type Command, Help, type Option } from 'commander';
import { renderMarkup, type Theme } from '../render/theme.ts';
import { wrap } from '../render/wrap.ts';
import { argument, type CommandDefinition, type Example, flag } from './define-command.ts';

/** The command `help` of a group (`config help`), which commander answers itself. */
export const groupHelp: CommandDefinition = {
  name: 'help',
  about: 'show the help of a command',
  arguments: { command: argument('[command]') },
};

export const helpTopics = ['settings', 'scenarios', 'programs', 'troubleshooting', 'man'] as const;
/** An agent looks for a page of its own, and there is a group of commands of that name. */
export const topicOf = (word: string | undefined) => (word === 'agents' ? 'programs' : word);

export const helpOption = flag('-h, --help', 'show this help');
export const versionOption = flag('-V, --version', 'show the version');

const readOn = [
  'More: `runctl explain`, `runctl help settings`, `runctl help scenarios`, `runctl help programs`, `runctl help troubleshooting`, `runctl help man`.',
  'Try it without an account: `runctl demo`.',
];

/** What is to be typed, in color instead of backquotes. */
export const colorCommands = (text: string, theme: Theme): string =>
  text.replace(/`([^`]+)`/g, (_, typed) => theme.command(typed));

export function addReadOn(root: Command, columns: () => number, theme: Theme): void {
  const lines = () => readOn.map((line) => renderMarkup(line, theme, { columns: columns() }));
  root.addHelpText('afterAll', () => `\n${lines().join('\n')}`);
}

/** An item and its meaning, below it on a narrow terminal, where commander would write past the edge. */
export function formatItem(term: string, width: number, about: string, help: Help): string {
  const { helpWidth: columns = 80, minWidthToWrap } = help;
  if (about === '' || columns - width - 4 >= minWidthToWrap)
    return Help.prototype.formatItem.call(help, term, width, about, help);
  return `  ${wrap(term.split(' '), { columns, indent: 4, taken: 2 })}\n      ${wrap(about.split(' '), { columns, indent: 6 })}`;
}

/** Groups options or commands. A command's own options come first, even if they are `--help` alone. */
export function ownFirst<T extends Command | Option>(all: T[], shown: T[], groupOf: (item: T) => string) {
  const own = shown.filter((item) => groupOf(item) === 'Options:');
  return Help.prototype.groupItems([...own, ...all], shown, groupOf);
}

export function examplesOf(examples: readonly Example[], columns: number, theme: Theme): string {
  const width = Math.max(...examples.map(([command]) => command.length));
  const fits = examples.every(([, about]) => 2 + width + 2 + about.length <= columns);
  const lines = examples.map(([command, about]) =>
    fits
      ? `  ${theme.busy(command)}${' '.repeat(width - command.length)}  ${about}`
      : `  ${theme.busy(command)}\n      ${wrap(about.split(' '), { columns, indent: 6 })}`,
  );
  return `\n${theme.strong('Examples:')}\n${lines.join('\n')}`;
}
