import { InvalidArgumentError } from 'commander';
import { flawOfAutomation } from '../connection/arguments.ts';
import { parseDuration } from '../system/time-text.ts';

// These parsers throw commander's InvalidArgumentError for an invalid text. Its message says what
// to type instead.

/** Parses a duration into milliseconds. */
export function duration(text: string): number {
  refuseNegative(text);
  const ms = parseDuration(text);
  if (ms === undefined) throw new InvalidArgumentError(`say ${durationExamples(text)}`);
  return ms;
}

function refuseNegative(text: string): void {
  if (/^-\.?\d/.test(text)) throw new InvalidArgumentError("it can't be negative");
}

/** A bare number lacks its unit. */
const durationExamples = (text: string) =>
  /^0*[1-9]\d*$/.test(text) ? `${text}s, ${text}m or ${text}h` : '500ms, 30s, 5m, 1h30m or 2d';

/**
 * A time from the command line, as milliseconds since 1970. It is a function of the current time,
 * because `2d` counts from now.
 */
export type Moment = (nowMs: number) => number;

/**
 * Parses a time: a duration before now, a local day, or a timestamp, which is local unless it has
 * an offset.
 */
export function moment(text: string): Moment {
  refuseNegative(text);
  const agoMs = parseDuration(text);
  if (agoMs !== undefined) return (nowMs) => nowMs - agoMs;
  if (text === 'today' || text === 'yesterday') return (nowMs) => midnightOf(nowMs, daysAgo[text]);
  const [, day, time = '00:00', offset = ''] = timestamp.exec(text) ?? [];
  const atMs = Date.parse(`${day}T${time}${offset.replace(/(\d\d)(\d\d)$/, '$1:$2')}`);
  if (Number.isNaN(atMs) || !isDay(day))
    throw new InvalidArgumentError(
      `say ${dayExamples(text)}, a day such as today or 2026-11-21, or a time such as 2026-11-21T02:00`,
    );
  return () => atMs;
}

const timestamp =
  /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(Z|[+-]\d\d:?\d\d)?)?$/i;

/** V8 accepts November 31 and takes it for December 1. */
const isDay = (day = '') => new Date(`${day}T00:00Z`).toISOString().startsWith(day);

const daysAgo = { today: 0, yesterday: 1 };

const midnightOf = (nowMs: number, ago: number): number => {
  const day = new Date(nowMs);
  day.setDate(day.getDate() - ago);
  // The time is set last, because a day may have no midnight where clocks change at that hour.
  return day.setHours(0, 0, 0, 0);
};

const dayExamples = (text: string) =>
  /^\d+$/.test(text) ? `${text}h or ${text}d` : '2d for two days ago';

/** Parses a duration into milliseconds; `0` needs no unit. */
export const durationOrZero = (text: string) => (text === '0' ? 0 : duration(text));

/** Parses a duration above 0 into milliseconds. */
export function positiveDuration(text: string): number {
  const ms = duration(text);
  if (ms === 0) throw new InvalidArgumentError('it must be more than 0');
  return ms;
}

/** Returns a parser of whole numbers within these limits. */
export const whole = (least: number, most: number) => (text: string) => {
  refuseNegative(text);
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < least || number > most) {
    throw new InvalidArgumentError(`give a whole number from ${least} to ${most}`);
  }
  return number;
};

const largestFactor = 100_000;

/** Parses a number above 0: requests per second, or how much faster a clock runs. */
export function positive(text: string): number {
  refuseNegative(text);
  const number = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || number <= 0 || number > largestFactor) {
    throw new InvalidArgumentError(`give a number greater than 0, at most ${largestFactor}`);
  }
  return number;
}

/** Parses the paths of `--field`, which may be joined by commas, and adds them to earlier ones. */
export function fieldPath(text: string, earlier: string[] = []): string[] {
  const paths = text.split(',').map((path) => path.trim().replace(/^\./, ''));
  if (paths.some((path) => path.startsWith('-') || path.split('.').includes(''))) {
    throw new InvalidArgumentError('give a path like summary.failedSteps');
  }
  return [...earlier, ...paths];
}

/** The placeholder that stands for the project and the name in an idempotency key. */
export const automationPlaceholder = '{automation}';

/** Checks an idempotency key, which may contain `{automation}`. */
export function idempotencyKey(text: string): string {
  if (text === '') throw new InvalidArgumentError('is a variable unset?');
  if (/[<>{}$]/.test(text.replaceAll(automationPlaceholder, '')))
    throw new InvalidArgumentError(
      `leave out < > { } $, as the only placeholder is ${automationPlaceholder}`,
    );
  // The key is sent in a header.
  if (!/^[\x21-\x7e]{1,255}$/.test(text)) {
    throw new InvalidArgumentError('give 1 to 255 visible ASCII characters without spaces');
  }
  return text;
}

/** Checks the name of an automation. */
export function automation(text: string): string {
  const { flaw } = flawOfAutomation(text) ?? {};
  if (flaw !== undefined) throw new InvalidArgumentError(`it ${flaw}`);
  return text;
}

/** Statuses in any case of letters, as `A,B` or repeated. */
export const statusWords = (text: string, earlier: string[] = []): string[] => [
  ...earlier,
  ...text.split(',').map((word) => statusWord(word.trim().toUpperCase())),
];

function statusWord(word: string): string {
  if (word.startsWith('-')) throw new InvalidArgumentError('give a status such as FAILED');
  return nonEmpty(word);
}

/** Checks that a text is not empty. */
export function nonEmpty(text: string): string {
  if (text === '') throw new InvalidArgumentError("it can't be empty");
  return text;
}
