import { flawOfPaste } from '../system/pasted-text.ts';

const assignment = /^\s*(?:export\s+|set\s+|setx\s+|\$env:)?(\w+)\s*=\s*/i;
const nameOfSecret = /api_?key|token|secret/i;
const quotes = /^(?:"(.*)"|'(.*)'|“(.*)”|‘(.*)’)$/s;

/**
 * What was copied together with the value of a setting, such as quotes, as the end of a sentence
 * that doesn't quote the value. Undefined for a value alone.
 */
export function flawOfWrapped(text: string): { flaw: string; hint: string } | undefined {
  // PowerShell and Windows editors write such files. The mark of UTF-16 isn't UTF-8, and each
  // letter has a zero byte.
  if (/^(?:\uFEFF|\uFFFD\uFFFD.\0)/s.test(text))
    return {
      flaw: 'has a byte order mark or is in UTF-16, as in a file that was written on Windows',
      hint: 'save that file as UTF-8 without a byte order mark',
    };
  if (isAssignment(text))
    return {
      flaw: 'is a whole line of an env file (NAME=value)',
      hint: 'give only what comes after the =',
    };
  const pasted = flawOfPaste(text);
  if (pasted) return pasted;
  // No value of a setting has quotes around it. The name of an automation may, so `flawOfPaste`,
  // which also checks names, doesn't look for them.
  return quotes.test(text.trim())
    ? { flaw: 'has quotes around it', hint: 'leave out the quotes' }
    : undefined;
}

/** The value without what was copied together with it. It is as secret as the whole text. */
export function bareValue(text: string): string {
  const value = (isAssignment(text) ? text.replace(assignment, '') : text).trim();
  const [, ...inner] = quotes.exec(value) ?? [];
  return inner.find((each) => each !== undefined) ?? value;
}

function isAssignment(text: string): boolean {
  const [start, name = ''] = assignment.exec(text) ?? [];
  if (start === undefined) return false;
  if (/^\s*(export|set|setx|\$env)\b/i.test(start) || /^RUNCTL_/.test(name)) return true;
  // Base64 may end in `=`.
  return nameOfSecret.test(name) && /[^=\s]/.test(text.slice(start.length));
}
