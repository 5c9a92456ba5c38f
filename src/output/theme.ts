import type { ChalkInstance } from 'chalk';
import type { CommandContext, Sink } from '../context.ts';
import { typedIn, withTyped, wordsIn } from '../run/quote.ts';
import type { Env } from '../system/env.ts';
import { sanitize } from '../system/sanitize.ts';
import { type WrapOptions, wrap } from './wrap.ts';

/**
 * The styles of one stream: colors if it has them, and symbols that mean the same without color.
 */
export interface Theme {
  ok(text: string): string;
  bad(text: string): string;
  warn(text: string): string;
  busy(text: string): string;
  dim(text: string): string;
  strong(text: string): string;
  /** A command to type, with the flags that it needs. */
  command(text: string): string;
  symbols: Record<keyof typeof symbols, string>;
}

const plain = (text: string) => text;
const uncolored = { green: plain, red: plain, yellow: plain, cyan: plain, dim: plain, bold: plain };
const symbols = {
  ok: '✔',
  bad: '✖',
  warn: '⚠',
  running: '●',
  arrow: '→',
  dot: '·',
  ellipsis: '…',
};
const ascii = {
  ok: 'v',
  bad: 'x',
  warn: '!',
  running: '*',
  arrow: '--',
  dot: '-',
  ellipsis: '...',
};

interface ThemeOptions {
  colors: boolean;
  unicode: boolean;
  /** Adds to a command the flags that it needs. By default none. */
  withFlags?(command: string): string;
}

let chalk: ChalkInstance | undefined;

/** Loads chalk if one of these streams has colors. Themes that were created before have none. */
export async function loadColors(...streams: { colors: boolean }[]): Promise<void> {
  if (chalk || !streams.some(({ colors }) => colors)) return;
  const { Chalk } = await import('chalk');
  chalk = new Chalk({ level: 1 });
}

/** Uses the terminal's own sixteen colors, which its user has made readable on dark or light. */
export function createTheme({ colors, unicode, withFlags = plain }: ThemeOptions): Theme {
  const {
    green: ok,
    red: bad,
    yellow: warn,
    cyan: busy,
    dim,
    bold: strong,
  } = (colors && chalk) || uncolored;
  const command = (text: string) => busy(withFlags(text.replaceAll(/[\n\t]/g, ' ')));
  return { ok, bad, warn, busy, dim, strong, command, symbols: unicode ? symbols : ascii };
}

/** The theme of a stream in which commands get the flags of this command line. */
export const themeOf = ({ colors }: Sink, { unicode, withFlags }: CommandContext): Theme =>
  createTheme({ colors, unicode, withFlags });

/**
 * Renders a sentence for a terminal or a log. A text between backquotes is to be typed: it is
 * printed between single quotes and never broken. If it is the whole sentence, or ends it behind a
 * colon, it is printed on a line of its own without quotes, so that it can be pasted.
 */
export function renderMarkup(sentence: string, theme: Theme, lines: WrapOptions = {}): string {
  const words = wordsIn(sanitize(sentence));
  const command = commandAtEnd(words);
  if (command === undefined)
    return wrap(
      words.map((word) => renderWord(word, theme)),
      lines,
    );
  const before = words.slice(0, -1).map((word) => renderWord(word, theme));
  if (before.length === 0) return theme.command(command);
  return `${wrap(before, lines)}\n${' '.repeat((lines.indent ?? 2) + 2)}${theme.command(command)}`;
}

function commandAtEnd(words: readonly string[]): string | undefined {
  const [last = '', before = ':'] = words.toReversed();
  const [typed] = typedIn(last);
  return before.endsWith(':') && last === `\`${typed}\`` ? typed : undefined;
}

/** Renders one word, in which a text between backquotes is printed between single quotes. */
export const renderWord = (text: string, theme: Theme): string =>
  withTyped(text, (typed) => `'${theme.command(typed)}'`);

/**
 * Whether this stream may be colored. FORCE_COLOR decides, then NO_COLOR, then what the stream is:
 * the order that Node itself follows.
 */
export function hasColors(stream: { isTTY?: boolean }, env: Env): boolean {
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR !== '0' && env.FORCE_COLOR !== 'false';
  if (env.NO_COLOR) return false;
  return stream.isTTY === true && env.TERM !== 'dumb';
}

/**
 * Whether more than ASCII can be shown. The locale says so, as libc reads it; the Linux console and
 * `dumb` cannot.
 */
export function hasUnicode(env: Env): boolean {
  if (env.TERM === 'linux' || env.TERM === 'dumb') return false;
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || '';
  return /utf-?8/i.test(locale) || Boolean(env.WT_SESSION || env.TERM_PROGRAM);
}

/**
 * Erases the cursor's line and what is below it (ECMA-48). The cursor itself is never hidden, as a
 * stop would leave it so.
 */
export const eraseBelow = '\r\u001B[J';
