import { formatDuration } from '../runs/duration.ts';

/** How long something took from one timestamp to the other; undefined where they do not tell. */
export function tookOf({ startedAt = '', completedAt = '' }: { startedAt?: string; completedAt?: string }) {
  const tookMs = Date.parse(completedAt) - Date.parse(startedAt);
  return tookMs >= 0 ? formatDuration(tookMs) : undefined;
}
