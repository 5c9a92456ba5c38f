import stringWidth from 'fast-string-width';
import { wrapAnsi } from 'fast-wrap-ansi';
import type { Context, Sink } from '../context.ts';
import { dayMs, minuteMs } from '../core/time.ts';
import { clean, cleanLine, withoutRunnerCommands } from '../text/clean.ts';

/** What a status means to somebody who looks for it. */
export type Tone = 'good' | 'bad' | 'active' | 'unknown' | 'attention';

/** How a stream shows things. */
export interface Style {
  /** A terminal that can be redrawn. Elsewhere a line stands alone, with its time. */
  isTerminal: boolean;
  /** The text in the color of what it means. */
  tint(tone: Tone, text: string): string;
  dim(text: string): string;
  bold(text: string): string;
  glyphs: Record<Tone | 'arrow' | 'ellipsis', string>;
  /** Foreign text on one line, harmless for this stream. */
  line(text: string): string;
  /** Foreign text with the lines that it has, harmless for this stream. */
  lines(text: string): string;
  /** On a terminal the text is broken between words, and all lines but the first are indented. */
  wrap(text: string, indent?: number): string;
  /** The local time: for a person as short as it can be, elsewhere complete. */
  time(ms: number, nowMs: number): string;
}

/** What texts about runs depend on. */
export interface View {
  style: Style;
  nowMs: number;
  /** Of the terminal. */
  columns: number;
  /** The project in force. Automations of others are named by their full path. */
  project?: string;
}

const unicode = {
  good: '✔',
  bad: '✖',
  active: '●',
  unknown: '?',
  attention: '!',
  arrow: '→',
  ellipsis: '…',
};
const ascii = { ...unicode, good: '+', bad: 'x', active: '*', arrow: '->', ellipsis: '...' };

export function plainStyle(sink: Sink, { terminalStyle }: Pick<Context, 'terminalStyle'>): Style {
  const isTerminal = sink.isTTY && terminalStyle.canRedraw;
  // A pipe may lead to a CI runner, which takes commands from it.
  const guard = sink.isTTY ? (text: string) => text : withoutRunnerCommands;
  return {
    isTerminal,
    tint: (_tone, text) => text,
    dim: (text) => text,
    bold: (text) => text,
    glyphs: terminalStyle.hasUnicode ? unicode : ascii,
    line: (text) => guard(cleanLine(text)),
    lines: (text) => guard(clean(text)),
    wrap: (text, indent = 2) => (isTerminal ? wrap(text, sink.columns(), indent) : text),
    time: isTerminal ? shortTime : logTime,
  };
}

/** Loads chalk only if the stream has colors. */
export async function loadStyle(sink: Sink, context: Pick<Context, 'terminalStyle'>) {
  const style = plainStyle(sink, context);
  if (!sink.hasColors) return style;
  const { Chalk } = await import('chalk');
  // The terminal's own sixteen colors, which its user has made readable on dark or light.
  const { green, red, cyan, yellow, dim, bold } = new Chalk({ level: 1 });
  const colors = { good: green, bad: red, active: cyan, unknown: yellow, attention: yellow };
  return { ...style, tint: (tone: Tone, text: string) => colors[tone](text), dim, bold };
}

/** The columns that a text takes on a terminal. Colors take none, ideographs two. */
export const widthOf = (text: string): number => stringWidth(text);

/** The blanks that fill a text up to this many columns. */
export const blanksAfter = (text: string, columns: number): string =>
  ' '.repeat(Math.max(0, columns - widthOf(text)));

const wrap = (text: string, columns: number, indent: number): string =>
  wrapAnsi(text, Math.max(columns - indent, 1)).replaceAll('\n', `\n${' '.repeat(indent)}`);

/** The text, cut with an ellipsis if it takes more columns. Its colors are kept. */
export function cut(text: string, columns: number, ellipsis: string): string {
  if (widthOf(text) <= columns) return text;
  let left = columns - ellipsis.length;
  if (left < 0) return ellipsis.slice(0, columns);
  let isCut = false;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a color begins with Escape
  return text.replace(/\u001B\[[\d;]*m|./gsu, (token) => {
    if (token.length > 2 && token.startsWith('\u001B')) return token;
    if (isCut) return '';
    left -= widthOf(token);
    isCut = left < 0;
    return isCut ? ellipsis : token;
  });
}

const twoDigits = (number: number) => String(Math.floor(number)).padStart(2, '0');

/** The local time for a log: `2026-11-28 02:00:01 +0100`. */
export function logTime(ms: number): string {
  // By hand, because the first `toLocaleString` takes 19 ms.
  const aheadMinutes = -new Date(ms).getTimezoneOffset();
  const local = new Date(ms + aheadMinutes * minuteMs).toISOString().slice(0, 19).replace('T', ' ');
  const offset = Math.abs(aheadMinutes);
  const sign = aheadMinutes < 0 ? '-' : '+';
  return `${local} ${sign}${twoDigits(offset / 60)}${twoDigits(offset % 60)}`;
}

const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

/** The local time for a person: `02:00` (today), `Fri 23:15`, `11-21 23:15`. */
function shortTime(ms: number, nowMs: number): string {
  const clock = logTime(ms).slice(11, 16);
  const midnightOf = (time: number) => new Date(time).setHours(0, 0, 0, 0);
  const days = Math.round((midnightOf(nowMs) - midnightOf(ms)) / dayMs);
  if (days === 0) return clock;
  const isThisWeek = days > 0 && days < 7;
  return `${isThisWeek ? weekdays[new Date(ms).getDay()] : logTime(ms).slice(5, 10)} ${clock}`;
}
