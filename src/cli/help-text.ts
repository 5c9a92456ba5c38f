import { type CommandUnknownOpts, Help, type HelpConfiguration, Option } from 'commander';
import { renderFields } from '../output/fields.ts';
import { renderMarkup, renderWord, type Theme } from '../output/theme.ts';
import { wrap } from '../output/wrap.ts';
import { type Details, detailsOf, type Example } from './command.ts';
import { common } from './options.ts';

export const helpTopics = ['flags', 'settings', 'programs', 'troubleshooting', 'man'] as const;
/**
 * A coding agent may ask for `help agents`. Its page is called `programs`, because `agent` is a
 * group of commands.
 */
export const topicOf = (word: string | undefined) =>
  helpTopics.find((topic) => topic === (word === 'agents' ? 'programs' : word));

export const helpOption = new Option('-h, --help', 'show this help').helpGroup('Options:');

const readOn = [
  'More: `runctl explain`, `runctl help flags`, `runctl help settings`, `runctl help programs`, `runctl help troubleshooting`, `runctl help man`.',
  'Try it without an account: `runctl emulator -- runctl trigger nightly --watch`.',
];
const moreFlags = ['Every command also takes the flags of `runctl help flags`.'];

/** The configuration with which commander writes help in the colors of the theme. */
export const helpIn = (theme: Theme): HelpConfiguration => ({
  subcommandTerm: nameAndArguments,
  formatItem,
  optionDescription: ({ description }) => description,
  argumentDescription: ({ description }) => description,
  styleTitle: theme.strong,
  styleSubcommandText: theme.busy,
  styleDescriptionText: (text) => renderWord(text, theme),
  visibleOptions: withoutCommon,
  formatHelp: (command, help) =>
    Help.prototype.formatHelp.call(help, command, help) +
    moreOf(command, help.helpWidth ?? 80, theme),
});

/** The flags that every command takes are only in `runctl help flags`. */
const withoutCommon = (command: CommandUnknownOpts) =>
  new Help().visibleOptions(command).filter(({ helpGroupHeading }) => helpGroupHeading !== common);

/**
 * The text below the options: what the terms of the command mean, where to read more, and examples.
 */
function moreOf(command: CommandUnknownOpts, columns: number, theme: Theme): string {
  const { terms, examples } = detailsOf(command);
  const sentences = command.parent ? moreFlags : readOn;
  const parts = [
    ...(terms ? [termsOf(terms, columns, theme)] : []),
    sentences.map((line) => renderMarkup(line, theme, { columns })).join('\n'),
    ...(examples ? [examplesOf(examples, columns, theme)] : []),
  ];
  return parts.map((part) => `\n${part}\n`).join('');
}

/**
 * One item of the help and its description. On a narrow terminal, the description is below the
 * item, because commander would write past the edge.
 */
function formatItem(term: string, width: number, description: string, help: Help): string {
  const { helpWidth: columns = 80, minWidthToWrap } = help;
  if (description === '' || columns - width - 4 >= minWidthToWrap)
    return Help.prototype.formatItem.call(help, term, width, description, help);
  const itemLines = wrap(term.split(' '), { columns, indent: 4, taken: 2 });
  return `  ${itemLines}\n      ${wrap(description.split(' '), { columns, indent: 6 })}`;
}

function nameAndArguments(command: CommandUnknownOpts): string {
  const words = command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? '…' : ''}`;
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  return [[command.name(), ...command.aliases()].join('|'), ...words].join(' ');
}

function termsOf(
  { title, rows }: NonNullable<Details['terms']>,
  columns: number,
  theme: Theme,
): string {
  const terms = renderFields(rows, theme, { columns, indent: 2 }).trimEnd();
  return `${theme.strong(`${title}:`)}\n${terms}`;
}

function examplesOf(examples: readonly Example[], columns: number, theme: Theme): string {
  const lengths = examples.map(([{ length }]) => length).filter((length) => length <= columns / 2);
  const width = Math.max(0, ...lengths);
  const lines = examples.map(([command, description]) => {
    const shown = `  ${theme.busy(command)}`;
    if (command.length <= width && 6 + width + description.length <= columns) {
      return `${shown}${' '.repeat(width - command.length)}  # ${description}`;
    }
    return `${shown}\n      # ${wrap(description.split(' '), { columns, indent: 8 })}`;
  });
  return `${theme.strong('Examples:')}\n${lines.join('\n')}`;
}
