import { renderMarkup, type Theme } from '../render/theme.ts';
import type { WrapOptions } from '../render/wrap.ts';
import { type Finding, labelOf } from './finding.ts';

const labelColumns = 20;
/** On a narrower terminal, a message is printed below its label. */
const leastColumns = 60;

export function findingLine(
  { name, result, message, advice }: Finding,
  theme: Theme,
  { columns }: WrapOptions,
): string {
  const { ok, warn, bad, dot, arrow } = theme.symbols;
  const marks = { ok: theme.ok(ok), warning: theme.warn(warn), failed: theme.bad(bad), skipped: theme.dim(dot) };
  const isNarrow = columns !== undefined && columns < leastColumns;
  const indent = isNarrow ? 4 : labelColumns + 4;
  const label = theme.strong(labelOf(name).padEnd(isNarrow ? 0 : labelColumns));
  const text = renderMarkup(message, theme, { columns, indent });
  const said = `${marks[result]} ${label}${isNarrow ? '\n    ' : '  '}${text}\n`;
  return advice ? `${said}  ${arrow} ${renderMarkup(advice, theme, { columns, indent: 4 })}\n` : said;
}
