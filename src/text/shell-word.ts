/** The text, quoted if need be, so that a POSIX shell reads it as one word. */
export const shellWord = (text: string): string =>
  /^[\w./@%+:,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
