import { type Headers, valuesOf } from './http.ts';

const months = 'Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec';
const time = '\\d{2}:\\d{2}:\\d{2}';

/** The three forms of RFC 9110 §5.6.7, because `Date.parse` takes "5" for a day in 2001. */
const httpDates = [
  new RegExp(`^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \\d{2} (${months}) \\d{4} ${time} GMT$`),
  new RegExp(`^(Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, \\d{2}-(${months})-\\d{2} ${time} GMT$`),
  new RegExp(`^(Mon|Tue|Wed|Thu|Fri|Sat|Sun) (${months}) [ \\d]\\d ${time} \\d{4}$`),
];

function parseHttpDate(text: string): number | undefined {
  if (!httpDates.some((form) => form.test(text))) return undefined;
  // The last form doesn't say that it is in GMT.
  const ms = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(ms) ? undefined : ms;
}

/** The `Date` header, in milliseconds since 1970. */
export const serviceTimeMs = (headers: Headers): number | undefined =>
  parseHttpDate(valuesOf(headers, 'date')[0] ?? '');

/** The longest wait that the response asks for (RFC 9110 §10.2.3), by the service's clock. */
export function retryAfterMs(headers: Headers, nowMs: number): number | undefined {
  const sentMs = serviceTimeMs(headers) ?? nowMs;
  const waits = valuesOf(headers, 'retry-after').flatMap((value) => {
    const untilMs = parseHttpDate(value.trim());
    if (untilMs !== undefined) return [Math.max(0, untilMs - sentMs)];
    // Repeated headers may have been joined by commas (RFC 9110 §5.3).
    const parts = value.split(',').map((part) => part.trim());
    if (!parts.every((part) => /^\d+$/.test(part))) return [];
    return parts.map((seconds) => Math.min(Number(seconds) * 1000, Number.MAX_SAFE_INTEGER));
  });
  return waits.length > 0 ? Math.max(...waits) : undefined;
}
