import { dayMs } from '../run/time.ts';

const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const twoDigits = (number: number) => String(Math.floor(number)).padStart(2, '0');

/** The local time for a log: `2026-11-28 02:00:01 +0100`. */
export function logTime(ms: number): string {
  // By hand, because the first `toLocaleString` takes 19 ms.
  const aheadMinutes = -new Date(ms).getTimezoneOffset();
  const local = new Date(ms + aheadMinutes * 60_000).toISOString().slice(0, 19).replace('T', ' ');
  const offset = Math.abs(aheadMinutes);
  const sign = aheadMinutes < 0 ? '-' : '+';
  return `${local} ${sign}${twoDigits(offset / 60)}${twoDigits(offset % 60)}`;
}

/** The local time for a person: `02:00` (today), `Fri 23:15`, `11-21 23:15`. */
export function shortTime(ms: number, nowMs: number): string {
  const clock = logTime(ms).slice(11, 16);
  const days = daysBefore(ms, nowMs);
  if (days === 0) return clock;
  const isThisWeek = days > 0 && days < 7;
  return `${isThisWeek ? weekdays[new Date(ms).getDay()] : logTime(ms).slice(5, 10)} ${clock}`;
}

/** The local day for a person: `today`, `yesterday`, `11-21`. */
export const dayName = (ms: number, nowMs: number): string =>
  ['today', 'yesterday'][daysBefore(ms, nowMs)] ?? logTime(ms).slice(5, 10);

/** How many local days lie between; 0 is the same day. */
function daysBefore(ms: number, nowMs: number): number {
  const midnightOf = (time: number) => new Date(time).setHours(0, 0, 0, 0);
  return Math.round((midnightOf(nowMs) - midnightOf(ms)) / dayMs);
}
