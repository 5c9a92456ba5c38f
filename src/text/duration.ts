import readDuration from 'parse-duration';
import prettyMilliseconds from 'pretty-ms';

/** With a delay over 24.8 days, Node's timers fire at once. */
const maxMs = 24 * 86_400_000;

/**
 * The milliseconds of `0`, `500ms`, `30s`, `1h30m` or `2d`. Undefined for anything else, and for
 * more than 24 days unless `isUnlimited`.
 */
export function parseDuration(text: string, { isUnlimited = false } = {}): number | undefined {
  if (text === '0') return 0;
  // The package alone also reads `5`, `5 parsecs` and `1h, or 2`.
  if (!/^(\d+(\.\d+)?(d|h|m|s|ms))+$/.test(text)) return undefined;
  const ms = Math.round(readDuration(text) ?? Number.NaN);
  return ms <= (isUnlimited ? Number.MAX_SAFE_INTEGER : maxMs) ? ms : undefined;
}

/** In whole seconds, the two largest units: `1h 31m`, `5m 2s`, `40s`, `0s`. */
export const formatDuration = (ms: number): string =>
  ms < 1000 ? '0s' : prettyMilliseconds(ms, { unitCount: 2, secondsDecimalDigits: 0 });
