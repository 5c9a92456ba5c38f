import type { Theme } from './theme.ts';

export type Row = readonly [label: string, value: string | undefined];

/** Labelled lines in two columns; rows without a value are left out. Ends with a newline unless it is empty. */
export function block(rows: readonly Row[], theme: Theme, indent = ''): string {
  const shown = rows.filter(([, value]) => value !== undefined && value !== '');
  const width = Math.max(0, ...shown.map(([label]) => label.length));
  return shown.map(([label, value]) => `${indent}${theme.dim(label.padEnd(width))}  ${value}\n`).join('');
}
