import { attributions } from '../run/attribution.ts';
import type { LastConfirmed, Outcome } from '../run/outcome.ts';
import { durationMsOf } from '../run/run.ts';
import type { RunStatus } from '../run/service.ts';
import { endedWell } from '../run/statuses.ts';
import { sanitizeLine } from '../system/sanitize.ts';
import { formatAgo, formatDuration } from '../system/time-text.ts';
import type { Theme } from './theme.ts';

/** Stands for what is not known. */
const unknown = '–';

/** So many characters of an id are enough for the eye, and for a run argument. */
export const shortId = 8;

/** How much of each id tells the runs apart. */
export function lengthOfIds(ids: readonly string[]): number {
  const distinct = new Set(ids);
  let length = shortId;
  while (new Set(ids.map((id) => id.slice(0, length))).size < distinct.size) length += 1;
  return length;
}

/** A status, from the service or from the journal. */
export interface ShownStatus {
  status: string;
  isFinal: boolean;
}

export function colorOfStatus({ status, isFinal }: ShownStatus, theme: Theme): (text: string) => string {
  if (!isFinal) return theme.busy;
  return endedWell(status) ? theme.ok : theme.bad;
}

/** A status with its symbol, in its color. */
export const markedStatus = (shown: ShownStatus, theme: Theme): string =>
  colorOfStatus(shown, theme)(`${symbolOfStatus(shown, theme)} ${sanitizeLine(shown.status)}`);

export function symbolOfStatus({ status, isFinal }: ShownStatus, { symbols }: Theme): string {
  if (!isFinal) return symbols.running;
  return endedWell(status) ? symbols.ok : symbols.bad;
}

/** Shown in place of a status that isn't known. */
export function withoutStatus({ triggerInfo }: Outcome): string {
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

export function lastConfirmedText(lastConfirmed: LastConfirmed | undefined): string {
  if (!lastConfirmed) return 'not confirmed yet';
  return `last confirmed ${sanitizeLine(lastConfirmed.status.status)} ${formatAgo(lastConfirmed.ageMs)}`;
}

/** What a run has cost; `–` if it has finished and the service does not say. */
export function creditsOf({ isFinal, creditsCharged }: RunStatus): string | undefined {
  if (creditsCharged !== undefined) return String(creditsCharged);
  return isFinal ? unknown : undefined;
}

export function durationOf(run: Parameters<typeof durationMsOf>[0]): string | undefined {
  const tookMs = durationMsOf(run);
  return tookMs === undefined ? undefined : formatDuration(tookMs);
}
