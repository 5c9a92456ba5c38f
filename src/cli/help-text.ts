import { type Command, Help, type Option } from 'commander';
import { fields } from '../output/fields.ts';
import { renderMarkup, type Theme } from '../output/theme.ts';
import { wrap } from '../output/wrap.ts';
import {
  argument,
  type CommandDefinition,
  common,
  type Example,
  flag,
  type OptionDefinition,
} from './define-command.ts';

/** The command `help` of a group (`config help`), which commander answers itself. */
export const groupHelp: CommandDefinition = {
  name: 'help',
  about: 'show the help of a command',
  arguments: { command: argument('[command]') },
};

export const helpTopics = ['flags', 'settings', 'programs', 'troubleshooting', 'man'] as const;
/** An agent looks for a page of its own, and there is a group of commands of that name. */
export const topicOf = (word: string | undefined) => (word === 'agents' ? 'programs' : word);

export const helpOption = flag('-h, --help', 'show this help');
export const versionOption = flag('-V, --version', 'show the version');

const readOn = [
  'More: `runctl explain`, `runctl help flags`, `runctl help settings`, `runctl help programs`, `runctl help troubleshooting`, `runctl help man`.',
  'Try it without an account: `runctl emulator -- runctl trigger nightly --watch`.',
];

/** What is to be typed, in color instead of backquotes. */
export const colorCommands = (text: string, theme: Theme): string =>
  text.replace(/`([^`]+)`/g, (_, typed) => theme.command(typed));

export function addReadOn(root: Command, columns: () => number, theme: Theme): void {
  const lines = () => readOn.map((line) => renderMarkup(line, theme, { columns: columns() }));
  root.addHelpText('after', () => `\n${lines().join('\n')}`);
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

/** The flags that most commands have stand once, in `runctl help flags`. */
export const withoutCommon = (options: Option[]) => options.filter((option) => option.helpGroupHeading !== common);

export function termsOf(
  { title, rows }: NonNullable<CommandDefinition['terms']>,
  columns: number,
  theme: Theme,
): string {
  return `\n${theme.strong(`${title}:`)}\n${fields(rows, theme, { columns, indent: 2 }).trimEnd()}`;
}

export function commonFlagsOf(options: readonly OptionDefinition[], columns: number, theme: Theme): string {
  const names = options.filter(({ heading }) => heading === common).map(({ flags }) => flags.split(/,? /)[0]);
  const sentence = `Common flags: ${names.join(', ')} (see \`runctl help flags\`)`;
  return names.length > 1 ? `\n${renderMarkup(sentence, theme, { columns })}` : '';
}

export function examplesOf(examples: readonly Example[], columns: number, theme: Theme): string {
  const width = Math.max(0, ...examples.map(([{ length }]) => length).filter((length) => length <= columns / 2));
  const lines = examples.map(([command, about]) =>
    command.length <= width && 4 + width + about.length <= columns
      ? `  ${theme.busy(command)}${' '.repeat(width - command.length)}  ${about}`
      : `  ${theme.busy(command)}\n      ${wrap(about.split(' '), { columns, indent: 6 })}`,
  );
  return `\n${theme.strong('Examples:')}\n${lines.join('\n')}`;
}
