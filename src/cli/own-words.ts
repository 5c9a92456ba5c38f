/** The words of a command line that are for runctl itself: a rehearsed command stands behind `--`. */
export function ownWordsOf(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--');
  return end < 0 ? argv : argv.slice(0, end);
}
