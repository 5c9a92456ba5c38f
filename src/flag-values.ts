import { InvalidArgumentError } from 'commander';
import { finalStatuses } from './core/run.ts';
import { dayMs } from './core/time.ts';
import { parseDuration } from './text/duration.ts';

// What the value of a flag may be. Each throws commander's error with what is allowed.

/** Statuses as `list --status` takes them. */
export const listedStatuses: string[] = [
  'RUNNING',
  ...Object.keys(finalStatuses),
  'UNKNOWN',
  'NOT_STARTED',
  'NOT_FOUND',
];

export function parseTime(text: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined) return ms;
  const isNumber = /^\d+$/.test(text);
  throw new InvalidArgumentError(
    isNumber
      ? `It needs a unit: ${text}s or ${text}m?`
      : 'Use a duration such as 500ms, 30s, 1h30m or 2d (24d at most).',
  );
}

export function parseInterval(text: string): number {
  const ms = parseTime(text);
  if (ms < 1000) throw new InvalidArgumentError('Use 1s or more.');
  return ms;
}

export function parseKey(text: string): string {
  if (/^[\x21-\x7e]{1,255}$/.test(text)) return text;
  throw new InvalidArgumentError('Use 1 to 255 visible ASCII characters.');
}

const wholeNumber = (min: number, max: number) => (text: string) => {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= min && value <= max) return value;
  throw new InvalidArgumentError(`Use a number from ${min} to ${max}.`);
};
export const parseCount = wholeNumber(1, 1_000_000);
export const parsePort = wholeNumber(0, 65_535);

export function parseSpeed(text: string): number {
  const value = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && value > 0 && value <= 100_000) return value;
  throw new InvalidArgumentError('Use a number above 0, such as 60.');
}

export function parseStatuses(text: string): string[] {
  const words = text.split(',').map((word) => word.trim().toUpperCase());
  const wrong = words.find((word) => !listedStatuses.includes(word));
  if (wrong === undefined) return words;
  throw new InvalidArgumentError(`Use ${listedStatuses.join(', ')}, separated by commas.`);
}

/** A duration, or a local date or time. */
export function parseSince(text: string): (nowMs: number) => number {
  const ms = parseDuration(text, { isUnlimited: true });
  if (ms !== undefined) return (nowMs) => nowMs - ms;
  const [, hours, minutes] = /^(\d|[01]\d|2[0-3]):([0-5]\d)$/.exec(text) ?? [];
  if (hours) {
    return (nowMs) => {
      const todayMs = new Date(nowMs).setHours(Number(hours), Number(minutes), 0, 0);
      return todayMs > nowMs ? todayMs - dayMs : todayMs;
    };
  }
  const [, day] = /^\d{4}-\d{2}-(\d{2})([T ]\d{2}:\d{2}(:\d{2})?)?$/.exec(text) ?? [];
  const date = new Date(text.length === 10 ? `${text}T00:00` : text);
  // 30 February would be 2 March.
  if (day && date.getDate() === Number(day)) return () => date.getTime();
  throw new InvalidArgumentError('Use a duration (2d), a date (2026-11-28) or a time (07:30).');
}
