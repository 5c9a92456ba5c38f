import { formatDuration } from '../runs/duration.ts';
import { endingOf, isFinal, type Target } from '../runs/run.ts';
import { cleanLine } from './sanitize.ts';
import type { Theme } from './theme.ts';

/** Good, bad or still going: how a state is coloured. */
export function colorOfState(target: Target, status: string, theme: Theme): (text: string) => string {
  if (!isFinal(target, status)) return theme.busy;
  return endingOf(status) === 'ok' ? theme.good : theme.bad;
}

export function symbolOfState(target: Target, status: string, { symbols }: Theme): string {
  if (!isFinal(target, status)) return symbols.running;
  return endingOf(status) === 'ok' ? symbols.good : symbols.bad;
}

/** The last confirmed state and how old that is. */
export function lastConfirmed({ status, ageMs }: { status?: string; ageMs?: number }): string {
  if (status === undefined) return 'not confirmed yet';
  return `last seen ${cleanLine(status)} ${formatDuration(ageMs ?? 0)} ago`;
}
