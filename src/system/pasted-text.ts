/**
 * What was copied together with a value from a file or another program, and isn't removed by a
 * shell: `flaw` is the end of a sentence, and `hint` says what to do. Neither quotes the text,
 * which may be an API key.
 */
export function flawOfPaste(text: string): { flaw: string; hint: string } | undefined {
  if (text.includes('\r'))
    return {
      flaw: 'contains a carriage return, as in a file that was edited on Windows',
      hint: 'convert that file to Unix line ends, for example with dos2unix',
    };
  if (/^(["']).*\1$/s.test(text) && text.length > 1)
    return {
      flaw: 'has quotes around it',
      hint: 'leave out the quotes (with jq, use -r; env files need none)',
    };
  return undefined;
}
