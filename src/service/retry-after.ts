import { type Headers, valuesOf } from './exchange.ts';

const months = 'Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec';
const time = '\\d{2}:\\d{2}:\\d{2}';

/** Strict RFC 9110 §5.6.7, because `Date.parse` reads "5" as a day in 2001. */
const httpDates = [
  new RegExp(`^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \\d{2} (${months}) \\d{4} ${time} GMT$`),
  new RegExp(`^(Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, \\d{2}-(${months})-\\d{2} ${time} GMT$`),
  new RegExp(`^(Mon|Tue|Wed|Thu|Fri|Sat|Sun) (${months}) [ \\d]\\d ${time} \\d{4}$`),
];

/** Milliseconds since 1970. Undefined if it isn't a date. */
export function parseHttpDate(text: string): number | undefined {
  if (!httpDates.some((form) => form.test(text))) return undefined;
  // The last form is in GMT without saying so.
  const ms = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(ms) ? undefined : ms;
}

/** The `Date` header, in milliseconds since 1970. */
export function serviceTimeMs(headers: Headers): number | undefined {
  return valuesOf(headers, 'date')
    .map((value) => parseHttpDate(value.trim()))
    .find((ms) => ms !== undefined);
}

/**
 * The longest requested wait (RFC 9110 §10.2.3), by the service's clock. Undefined if there is
 * none.
 */
export function retryAfterMs(headers: Headers, nowMs: number): number | undefined {
  const waits = valuesOf(headers, 'retry-after')
    .flatMap(waitsIn)
    .map((wait) =>
      'ms' in wait ? wait.ms : Math.max(0, wait.untilMs - (serviceTimeMs(headers) ?? nowMs)),
    );
  return waits.length === 0 ? undefined : Math.max(...waits);
}

/** Repeated headers may be joined by commas (RFC 9110 §5.3), and a date contains a comma, too. */
function waitsIn(value: string): ({ ms: number } | { untilMs: number })[] {
  const untilMs = parseHttpDate(value.trim());
  if (untilMs !== undefined) return [{ untilMs }];
  const parts = value.split(',').map((part) => part.trim());
  if (!parts.every((part) => /^\d+$/.test(part))) return [];
  return parts.map((digits) => ({ ms: Math.min(Number(digits) * 1000, Number.MAX_SAFE_INTEGER) }));
}
