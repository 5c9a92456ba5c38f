/** The values of a text that has one JSON value a line, as `--json` prints them. */
// biome-ignore lint/suspicious/noExplicitAny: each test says what it expects.
export const jsonLines = (text: string): any[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
