/** For a word that is none of these: `did you mean list?`, or which ones there are. */
export function hintFor(word: string, candidates: readonly string[]): string {
  const near = nearWord(word, candidates);
  return near ? `did you mean ${near}?` : `use one of ${candidates.join(', ')}`;
}

/** The candidate that was probably meant: the nearest one, if about a third of it differs at most. */
export function nearWord(word: string, candidates: readonly string[]): string | undefined {
  const near = candidates.flatMap((candidate) => {
    const edits = editsBetween(word.toLowerCase(), candidate.toLowerCase());
    const maxEdits = Math.max(1, Math.floor(Math.max(word.length, candidate.length) / 3));
    return edits <= maxEdits ? [{ candidate, edits }] : [];
  });
  return near.sort((one, other) => one.edits - other.edits)[0]?.candidate;
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
