import { formatDuration } from '../runs/duration.ts';
import { isCompleted, isFinal, type Target } from '../runs/run.ts';
import type { Execution } from '../runs/service.ts';
import { cleanLine } from './sanitize.ts';
import type { Theme } from './theme.ts';

/** Good, bad or still going: how a state is coloured. */
export function colorOfState(target: Target, status: string, theme: Theme): (text: string) => string {
  if (!isFinal(target, status)) return theme.busy;
  return isCompleted(status) ? theme.good : theme.bad;
}

export function symbolOfState(target: Target, status: string, { symbols }: Theme): string {
  if (!isFinal(target, status)) return symbols.running;
  return isCompleted(status) ? symbols.good : symbols.bad;
}

/** The last confirmed state and how old that is. */
export function lastConfirmed({ execution, ageMs = 0 }: { execution?: Execution; ageMs?: number }): string {
  if (!execution) return 'not confirmed yet';
  return `last seen ${cleanLine(execution.status)} ${formatDuration(ageMs)} ago`;
}
