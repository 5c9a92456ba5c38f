export const dayMs = 86_400_000;

const unitsMs = { d: dayMs, h: 3_600_000, m: 60_000, s: 1000, ms: 1 } as const;

const number = String.raw`\d+(?:\.\d+)?`;
const grammar = new RegExp(
  `^(?!$)(?:(?<d>${number})d)?(?:(?<h>${number})h)?(?:(?<m>${number})m)?(?:(?<s>${number})s)?(?:(?<ms>${number})ms)?$`,
);

/**
 * The milliseconds of `500ms`, `30s` or `1h30m`, largest unit first; undefined for anything else.
 */
export function parseDuration(text: string): number | undefined {
  const parts = grammar.exec(text)?.groups;
  if (!parts) return undefined;
  let ms = 0;
  for (const [unit, unitMs] of Object.entries(unitsMs)) ms += Number(parts[unit] ?? 0) * unitMs;
  const wholeMs = Math.round(ms);
  return Number.isSafeInteger(wholeMs) ? wholeMs : undefined;
}

/** The one or two largest units, rounded down: `1h 30m`, `4m 12s`, `45s`, `3.2s`, `450ms`. */
export function formatDuration(ms: number): string {
  const wholeMs = ms > 0 ? Math.floor(ms) : 0;
  if (wholeMs === 0) return '0s';
  if (wholeMs < unitsMs.s) return `${wholeMs}ms`;
  if (wholeMs < 10 * unitsMs.s) return `${Math.floor(wholeMs / 100) / 10}s`;
  if (wholeMs < unitsMs.m) return inUnits(wholeMs, 's');
  if (wholeMs < unitsMs.h) return inUnits(wholeMs, 'm', 's');
  if (wholeMs < unitsMs.d) return inUnits(wholeMs, 'h', 'm');
  return inUnits(wholeMs, 'd', 'h');
}

function inUnits(ms: number, large: keyof typeof unitsMs, small?: keyof typeof unitsMs): string {
  const many = Math.floor(ms / unitsMs[large]);
  const few = small ? Math.floor((ms % unitsMs[large]) / unitsMs[small]) : 0;
  return few > 0 ? `${many}${large} ${few}${small}` : `${many}${large}`;
}

/** A duration in whole seconds. */
export const formatAge = (ms: number): string =>
  formatDuration(Math.floor(ms / unitsMs.s) * unitsMs.s);

/** An age with its largest unit alone, such as `5m ago`. */
export const formatAgo = (ms: number): string =>
  ms < unitsMs.s ? 'just now' : `${formatAge(ms).replace(/ .*/, '')} ago`;

/**
 * A time as people read it: local, with its offset from UTC, as git writes it:
 * `2026-11-22 03:00:13 +0100`.
 */
export function localTime(time: string | number): string {
  const date = new Date(time);
  const aheadMinutes = -date.getTimezoneOffset();
  const local = new Date(date.getTime() + aheadMinutes * 60_000)
    .toISOString()
    .slice(0, 19)
    .replace('T', ' ');
  const [hours, minutes] = [Math.floor(Math.abs(aheadMinutes) / 60), Math.abs(aheadMinutes) % 60];
  const sign = aheadMinutes < 0 ? '-' : '+';
  return `${local} ${sign}${[hours, minutes].map((part) => String(part).padStart(2, '0')).join('')}`;
}
