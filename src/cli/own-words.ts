/** The words of a command line that are for runctl itself: a rehearsed command stands behind a `--` that is not the first. */
export function ownWordsOf(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--', 1);
  return end < 0 ? argv : argv.slice(0, end);
}
