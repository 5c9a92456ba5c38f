import type { SettingFlags, Settings } from '../config/settings.ts';
import type { Invocation } from '../context.ts';
import type { ExitName } from '../problems/exit-codes.ts';
import type { Problem } from '../problems/problem.ts';
import { renderMarkup, type Theme } from '../render/theme.ts';
import type { WrapOptions } from '../render/wrap.ts';

export interface Finding {
  name: string;
  result: 'ok' | 'warning' | 'failed' | 'skipped';
  message: string;
  advice?: string;
  /** The name of the exit code for a failed check. */
  exitName?: ExitName;
}

/** What the checks examine. Nothing here writes, and what it reads stays on this machine. */
export interface Machine {
  flags: SettingFlags & { offline?: boolean; debug?: boolean };
  /** Its reporter is silent, because every message is a finding. */
  context: Invocation;
  settings?: Settings;
}

export const ok = (name: string, message: string): Finding => ({ name, result: 'ok', message });

export const skipped = (name: string, message: string): Finding => ({ name, result: 'skipped', message });

export const warning = (name: string, message: string, advice?: string): Finding => ({
  name,
  result: 'warning',
  message,
  advice,
});

export const failed = (name: string, { facts }: Problem): Finding => ({
  name,
  result: 'failed',
  message: facts.message,
  advice: facts.hint,
  exitName: facts.name,
});

export const labelOf = (name: string) =>
  name.replaceAll('_', ' ').replace(/\b(api|url|http)\b/g, (word) => word.toUpperCase());

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
