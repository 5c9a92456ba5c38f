import { attributions } from '../run/attribution.ts';
import type { LastConfirmed, Outcome } from '../run/outcome.ts';
import { durationMsOf } from '../run/run.ts';
import type { RunSnapshot, RunStatus } from '../run/service.ts';
import { isSuccess } from '../run/statuses.ts';
import { sanitizeLine } from '../system/sanitize.ts';
import { formatAgo, formatDuration } from '../system/time-text.ts';
import type { Theme } from './theme.ts';

/** The text for a value that isn't known. */
const unknown = '–';

/**
 * The number of characters to which an id is shortened. They are enough to recognize a run, and to
 * name it on a command line.
 */
export const shortId = 8;

/** The number of characters that distinguish these ids, at least `shortId`. */
export function lengthOfIds(ids: readonly string[]): number {
  const distinct = new Set(ids);
  let length = shortId;
  while (new Set(ids.map((id) => id.slice(0, length))).size < distinct.size) length += 1;
  return length;
}

/** The style of a status: one color for a run that is active, one for success, one for failure. */
export function colorOfStatus(
  { status, isFinal }: RunStatus,
  theme: Theme,
): (text: string) => string {
  if (!isFinal) return theme.busy;
  return isSuccess(status) ? theme.ok : theme.bad;
}

/** A status with its symbol, in its color. */
export const markedStatus = (shown: RunStatus, theme: Theme): string =>
  colorOfStatus(shown, theme)(`${symbolOfStatus(shown, theme)} ${sanitizeLine(shown.status)}`);

/** The symbol of a status, which means the same as its color. */
export function symbolOfStatus({ status, isFinal }: RunStatus, { symbols }: Theme): string {
  if (!isFinal) return symbols.running;
  return isSuccess(status) ? symbols.ok : symbols.bad;
}

/** The text in place of a status for an outcome that has none. */
export function textWithoutStatus({ triggerInfo }: Outcome): string {
  switch (triggerInfo && attributions[triggerInfo.attribution].how) {
    case 'skipped':
      return 'skipped';
    case 'unknown':
      return 'in doubt';
    case 'not_started':
      return 'not started';
    default:
      return 'not polled';
  }
}

/** Such as `last confirmed RUNNING 5m ago`. */
export function lastConfirmedText(lastConfirmed: LastConfirmed | undefined): string {
  if (!lastConfirmed) return 'not confirmed yet';
  const { snapshot, ageMs } = lastConfirmed;
  return `last confirmed ${sanitizeLine(snapshot.status)} ${formatAgo(ageMs)}`;
}

/**
 * The credits that a run has cost. It is `–` if the run has finished and the service doesn't say.
 */
export function creditsOf({ isFinal, creditsCharged }: RunSnapshot): string | undefined {
  if (creditsCharged !== undefined) return String(creditsCharged);
  return isFinal ? unknown : undefined;
}

/** How long a run took, such as `4m 12s`. Undefined if its times are not known. */
export function durationOf(run: Parameters<typeof durationMsOf>[0]): string | undefined {
  const tookMs = durationMsOf(run);
  return tookMs === undefined ? undefined : formatDuration(tookMs);
}
