import type { Context, Sink } from '../context.ts';
import { clean, cleanLine, withoutRunnerCommands } from '../text/clean.ts';
import { wrap } from './width.ts';

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
