import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Argument, Command } from 'commander';
import { define } from '../cli/command.ts';
import { helpTopics } from '../cli/help-text.ts';
import { commonOptions } from '../cli/options.ts';
import type { CommandResult } from '../output/command-result.ts';
import { type FieldRow, renderFields } from '../output/fields.ts';
import { renderMarkup, type Theme } from '../output/theme.ts';
import { type WrapOptions, widestPage, wrap } from '../output/wrap.ts';
import { plainSentence, withTyped, wordsIn } from '../run/quote.ts';
import { type Setting, settingTable } from '../settings/table.ts';

type Topic = (typeof helpTopics)[number];
type Page = (theme: Theme, lines: WrapOptions) => string;

const command = new Command('help')
  .description('show help for a command or a topic')
  .addArgument(new Argument('[topic]', 'command or topic').choices(helpTopics));

/** The parser answers `help` and `help <command>` itself, as `--help` and `<command> --help`. */
export const help = define(command, {
  ignoresUnknownVariables: true,
  examples: [
    ['runctl help flags', 'the flags that every command takes'],
    ['runctl help settings', 'every setting and how to set it'],
    ['runctl help troubleshooting', 'what to do when something is wrong'],
    ['runctl help programs', 'how scripts and coding agents drive runctl'],
    ['runctl help man | man -l -', 'the manual page'],
  ],
  async run([topic]): Promise<CommandResult> {
    if (!topic) return {};
    if (topic === 'programs' || topic === 'troubleshooting') {
      const { default: page } = await documents[topic]();
      const markdown = page.trimEnd();
      return {
        forPeople: {
          text(_, { columns }) {
            return `${columns === undefined ? markdown : wrapMarkdown(markdown, columns)}\n`;
          },
        },
      };
    }
    if (topic === 'man') return { script: await readManPage() };
    return {
      forPeople: {
        text(theme, { columns = widestPage }) {
          return pages[topic](theme, { columns: Math.min(columns, widestPage) });
        },
      },
    };
  },
});

/**
 * The build generates this page from the commands. npm 12 no longer installs it for `man`, so
 * runctl prints it.
 */
async function readManPage(): Promise<string> {
  const page = await readFile(join(import.meta.dirname, 'runctl.1'), 'utf8');
  return page.trimEnd();
}

/**
 * Fits Markdown to a terminal: paragraphs and list items are wrapped, blocks of code are indented,
 * links become text, and backquotes become single quotes. A shell would execute what is pasted with
 * backquotes.
 */
function wrapMarkdown(page: string, columns: number): string {
  // Every second part is a block of code, because the expression captures it.
  const parts = page.split(/^(```[\s\S]*?^```)$/m);
  return parts
    .map((part, index) => (index % 2 === 0 ? wrapProse(part, columns) : indentCode(part)))
    .join('');
}

/** A paragraph or a list item, but no heading and no row of a table. */
const paragraphForm = /^(?![|#]).+(?:\n(?![|#]|- |\d+\. ).+)*/gm;

function wrapProse(text: string, columns: number): string {
  return text.replace(paragraphForm, (paragraph) => {
    const [bullet = ''] = /^(?:- |\d+\. )/.exec(paragraph) ?? [];
    const words = wordsIn(withoutLinks(paragraph)).map((word) =>
      withTyped(word, (typed) => `'${typed}'`),
    );
    return wrap(words, { columns, indent: bullet.length, taken: 0 });
  });
}

/** Replaces each link by its text, with its file in brackets. */
const withoutLinks = (text: string) =>
  text.replace(/\[([^\]]*)\]\(([^)#]*)[^)]*\)/g, '$1 (docs/$2)');

const indentCode = (block: string) =>
  block
    .replace(/^```.*\n?/gm, '')
    .trimEnd()
    .replace(/^(?=.)/gm, '    ');

const documents = {
  programs: () => import('../../docs/for-programs.md'),
  troubleshooting: () => import('../../docs/troubleshooting.md'),
};

const pages: Record<Exclude<Topic, keyof typeof documents | 'man'>, Page> = {
  settings: (theme, lines) =>
    [
      paragraph(
        'Flags override environment variables, which override the profile in the config file, which overrides the defaults. An empty variable counts as unset. `runctl config list` shows each setting and where it comes from.',
        theme,
        lines,
      ),
      ...Object.entries<Setting>(settingTable).map(([key, setting]) =>
        settingBlock(key, setting, theme, lines),
      ),
    ].join('\n'),
  flags: (theme, lines) =>
    [
      paragraph(
        'Every command takes these flags. They can also come before the command.',
        theme,
        lines,
      ),
      renderFields(
        commonOptions.map(({ flags, description }) => [flags, description]),
        theme,
        { columns: lines.columns, indent: 2 },
      ),
      paragraph(
        '`runctl help settings` has the variables and config keys for the same settings.',
        theme,
        lines,
      ),
    ].join('\n'),
};

const paragraph = (text: string, theme: Theme, lines: WrapOptions) =>
  `${renderMarkup(text, theme, lines)}\n`;

function settingBlock(
  key: string,
  setting: Setting,
  theme: Theme,
  { columns }: WrapOptions,
): string {
  const { label, flag, env, isStored, default: defaultText, description } = setting;
  const rows: FieldRow[] = [
    ['flag', flag],
    ['environment', env.join(', ')],
    ['config key', isStored ? key : undefined],
    ['default', defaultText && plainSentence(defaultText)],
  ];
  const taken = label.length + 2;
  const text = renderMarkup(description, theme, { columns, indent: 2, taken });
  return `${theme.strong(label)}: ${text}\n${renderFields(rows, theme, { columns, indent: 2 })}`;
}
