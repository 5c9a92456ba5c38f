import { formatAgo, formatDuration } from '../runs/duration.ts';
import { isCompleted, isFinal, type Target } from '../runs/run.ts';
import type { Execution } from '../runs/service.ts';
import { cleanLine } from './sanitize.ts';
import type { Theme } from './theme.ts';

/** How a status is coloured: ok, bad or still running. */
export function colorOfStatus(target: Target, status: string, theme: Theme): (text: string) => string {
  if (!isFinal(target, status)) return theme.busy;
  return isCompleted(status) ? theme.ok : theme.bad;
}

export function symbolOfStatus(target: Target, status: string, { symbols }: Theme): string {
  if (!isFinal(target, status)) return symbols.running;
  return isCompleted(status) ? symbols.ok : symbols.bad;
}

/** The last confirmed status and how old it is. */
export function lastConfirmed({ execution, ageMs = 0 }: { execution?: Execution; ageMs?: number }): string {
  if (!execution) return 'not confirmed yet';
  return `last confirmed ${cleanLine(execution.status)} ${formatAgo(ageMs)}`;
}

/** The time from one timestamp to the other; undefined where one is missing. */
export function durationOf({ startedAt = '', completedAt = '' }: { startedAt?: string; completedAt?: string }) {
  const tookMs = Date.parse(completedAt) - Date.parse(startedAt);
  return tookMs >= 0 ? formatDuration(tookMs) : undefined;
}
