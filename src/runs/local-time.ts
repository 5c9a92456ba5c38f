/** A local time with its offset from UTC, as git writes it: `2026-11-22 03:00:13 +0100`. */
export function localTime(time: string): string {
  const date = new Date(time);
  const aheadMinutes = -date.getTimezoneOffset();
  const local = new Date(date.getTime() + aheadMinutes * 60_000).toISOString().slice(0, 19).replace('T', ' ');
  const [hours, minutes] = [Math.floor(Math.abs(aheadMinutes) / 60), Math.abs(aheadMinutes) % 60];
  const sign = aheadMinutes < 0 ? '-' : '+';
  return `${local} ${sign}${[hours, minutes].map((part) => String(part).padStart(2, '0')).join('')}`;
}
