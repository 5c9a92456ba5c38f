/**
 * How many edits a typo may have. In a short word it is one, because two would turn it into almost
 * any other word.
 */
const maxShortWord = 5;
const maxShown = 3;

/** The names that are nearest to a mistyped one. Empty if none is near enough. */
export function nearWords(typed: string, names: Iterable<string>): string[] {
  let near: string[] = [];
  let fewest = Number.POSITIVE_INFINITY;
  for (const word of new Set(names)) {
    if (word === typed) continue;
    const maxEdits = Math.min(typed.length, word.length) > maxShortWord ? 2 : 1;
    const edits = editsBetween(folded(typed), folded(word));
    if (edits > maxEdits || edits > fewest || isOpposite(typed, word)) continue;
    near = edits < fewest ? [word] : [...near, word];
    fewest = edits;
  }
  return near.slice(0, maxShown);
}

/** `did you mean a or b?`, as a hint; undefined if no known word is near. */
export function didYouMean(typed: string, names: Iterable<string>): string | undefined {
  const near = nearWords(typed, names);
  return near.length > 0 ? `did you mean ${near.join(' or ')}?` : undefined;
}

/** macOS gives the names of files as letters and separate accents, which look the same. */
const folded = (word: string) => word.normalize().toLowerCase();

/** A word with `no-` before it means the opposite, so neither is suggested for the other. */
const isOpposite = (one: string, other: string) => one === `no-${other}` || other === `no-${one}`;

/**
 * How many characters have to be inserted, removed, replaced, or swapped with the next one (optimal
 * string alignment).
 */
function editsBetween(one: string, other: string): number {
  // Distances above 2 are all the same to the caller, so counting stops there.
  if (Math.abs(one.length - other.length) > 2) return 3;
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row++) {
    const current = [row];
    for (let column = 1; column <= other.length; column++) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwapped =
        row > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      current[column] = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (beforeLast[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    beforeLast = last;
    last = current;
  }
  return last[other.length] ?? 0;
}
