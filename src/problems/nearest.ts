/** The name that is most similar to what was typed. Undefined if none is similar. */
export function nearest(typed: string, names: Iterable<string>): string | undefined {
  const most = Math.max(1, Math.floor(typed.length / 3));
  let found: { name: string; distance: number } | undefined;
  for (const name of names) {
    const distance = distanceOf(typed.toLowerCase(), name.toLowerCase());
    if (distance <= most && distance < (found?.distance ?? Number.POSITIVE_INFINITY)) found = { name, distance };
  }
  return found?.name;
}

/** The only name that begins so, else the one that is most like what was typed. */
export function likely(typed: string, names: Iterable<string>): string | undefined {
  const longer = typed.length > 2 ? [...names].filter((name) => name.startsWith(typed)) : [];
  return longer.length === 1 ? longer[0] : nearest(typed, names);
}

/** How many characters must be inserted, removed, replaced or swapped with their neighbor. */
function distanceOf(one: string, other: string): number {
  const rows: number[][] = [Array.from({ length: other.length + 1 }, (_, j) => j)];
  const at = (i: number, j: number) => rows[i]?.[j] ?? Number.POSITIVE_INFINITY;
  for (let i = 1; i <= one.length; i++) {
    rows[i] = [i];
    for (let j = 1; j <= other.length; j++) {
      const isSame = one[i - 1] === other[j - 1];
      const isSwap = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      const costs = [at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + (isSame ? 0 : 1)];
      (rows[i] as number[])[j] = Math.min(...costs, isSwap ? at(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY);
    }
  }
  return at(one.length, other.length);
}
