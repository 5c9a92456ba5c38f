import { renderMarkup, type Theme } from '../output/theme.ts';
import type { WrapOptions } from '../output/wrap.ts';
import type { ExitName } from '../run/exit-codes.ts';
import type { Problem } from '../run/problem.ts';
import { plainSentence } from '../run/quote.ts';

/** What a check has shown, and what to do about it. */
export interface CheckResult {
  result: 'ok' | 'warning' | 'failed' | 'skipped';
  message: string;
  advice?: string;
  /** The exit name of `doctor` if this check failed first. */
  exitName?: ExitName;
}

/** A result with the name of its check. */
export interface Finding extends CheckResult {
  name: string;
}

export const ok = (message: string): CheckResult => ({ result: 'ok', message });
export const skipped = (message: string): CheckResult => ({ result: 'skipped', message });
export const warning = (message: string, advice?: string): CheckResult => ({
  result: 'warning',
  message,
  advice,
});
export const failed = ({ facts }: Problem): CheckResult => ({
  result: 'failed',
  message: facts.message,
  advice: facts.hint,
  exitName: facts.name,
});

/** The findings as `--json` has them. */
export const reportOf = (findings: readonly Finding[]) =>
  findings.map(({ name, result, message, advice }) => ({
    name,
    result,
    message: plainSentence(message),
    advice: advice === undefined ? null : plainSentence(advice),
  }));

/** The label of a check in the list: `base_url` becomes `base URL`. */
export const labelOf = (name: string) =>
  name.replaceAll('_', ' ').replace(/\b(api|url)\b/g, (word) => word.toUpperCase());

/** On a narrower terminal, a message is printed below its label. */
const minColumns = 60;

/** A line for each finding, and one for its advice. */
export function renderFindings(
  findings: readonly Finding[],
  theme: Theme,
  { columns }: WrapOptions,
): string {
  const { ok, warn, bad, dot, arrow } = theme.symbols;
  const marks = {
    ok: theme.ok(ok),
    warning: theme.warn(warn),
    failed: theme.bad(bad),
    skipped: theme.dim(dot),
  };
  const isNarrow = columns !== undefined && columns < minColumns;
  const labelColumns = isNarrow ? 0 : Math.max(0, ...findings.map(({ name }) => name.length));
  const indent = isNarrow ? 4 : labelColumns + 4;
  const gap = isNarrow ? '\n    ' : '  ';
  const lines = findings.map(({ name, result, message, advice }) => {
    const label = theme.strong(labelOf(name).padEnd(labelColumns));
    const text = renderMarkup(message, theme, { columns, indent });
    const line = `${marks[result]} ${label}${gap}${text}\n`;
    return advice
      ? `${line}  ${arrow} ${renderMarkup(advice, theme, { columns, indent: 4 })}\n`
      : line;
  });
  return lines.join('');
}
