/** The candidate that was probably meant: the nearest one, if about a third of it differs at most. */
export function nearWord(word: string, candidates: readonly string[]): string | undefined {
  let best: string | undefined;
  let bestEdits = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const edits = editsBetween(word.toLowerCase(), candidate.toLowerCase());
    const maxEdits = Math.max(1, Math.floor(Math.max(word.length, candidate.length) / 3));
    if (edits > maxEdits || edits >= bestEdits) continue;
    best = candidate;
    bestEdits = edits;
  }
  return best;
}

/** How many characters have to be inserted, deleted or replaced (Levenshtein). */
function editsBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (const [index, character] of [...one].entries()) {
    const next = [index + 1];
    for (let column = 0; column < other.length; column++) {
      const isSame = character === other[column];
      const replaced = (row[column] ?? 0) + (isSame ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
