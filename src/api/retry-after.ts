const months = 'Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec';
const time = '\\d{2}:\\d{2}:\\d{2}';

/** The three forms of RFC 9110 §5.6.7, to the letter: `Date.parse` alone takes "5" for a day in 2001. */
const httpDates = [
  new RegExp(`^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \\d{2} (${months}) \\d{4} ${time} GMT$`),
  new RegExp(`^(Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, \\d{2}-(${months})-\\d{2} ${time} GMT$`),
  new RegExp(`^(Mon|Tue|Wed|Thu|Fri|Sat|Sun) (${months}) [ \\d]\\d ${time} \\d{4}$`),
];

/** Milliseconds since 1970, or undefined for anything that RFC 9110 does not call a date. */
export function parseHttpDate(text: string): number | undefined {
  if (!httpDates.some((form) => form.test(text))) return undefined;
  // The asctime form is in GMT without saying so.
  const ms = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(ms) ? undefined : ms;
}

/**
 * The wait that `Retry-After` asks for (RFC 9110 §10.2.3): seconds, or a date by the service's own clock,
 * which its `Date` header shows. Undefined where the header is missing or malformed.
 */
export function retryAfterMs(headers: Record<string, string>, nowMs: number): number | undefined {
  const value = headers['retry-after']?.trim();
  if (value === undefined) return undefined;
  // However many digits: a wait past counting is still no leave to come back early.
  if (/^\d+$/.test(value)) return Math.min(Number(value) * 1000, Number.MAX_SAFE_INTEGER);
  const until = parseHttpDate(value);
  if (until === undefined) return undefined;
  const serviceNowMs = parseHttpDate(headers.date?.trim() ?? '') ?? nowMs;
  return Math.max(0, until - serviceNowMs);
}
