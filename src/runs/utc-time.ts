/** A time as people read it, with its zone: `2026-11-22 02:00:13 UTC`. */
export function utcTime(time: string | number): string {
  return `${new Date(time).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
