/**
 * A third of the rows of a long table, another each day, where somebody develops; all of them where `CI` is set. The thirds
 * run through the table as diagonals, so that each has rows of every group, also where a group is three rows long.
 */
export function rotating<T>(rows: readonly T[], offset = 0): T[] {
  if (process.env.CI) return [...rows];
  const day = Math.floor(Date.now() / 86_400_000);
  return rows.filter((_, at) => (at + Math.floor(at / 3) + offset + day) % 3 === 0);
}

/** The first row where somebody develops, all of them where `CI` is set: for rows that take seconds each. */
export const firstOf = <T>(rows: readonly T[]): T[] => (process.env.CI ? [...rows] : rows.slice(0, 1));
