import { getBuiltinModule } from 'node:process';
import { usageProblem } from '../runs/problem.ts';

const shownCharacters = 4;

/** A key as it may be shown: its last four characters, or none of a key that is so short that they would give it away. */
export function mask(key: string): string {
  return `****${key.length < 2 * shownCharacters ? '' : key.slice(-shownCharacters)}`;
}

/** Tells keys apart without holding one: eight hexadecimal digits. */
export function accountOf(apiKey: string): string {
  // Loaded here: it takes a twentieth of the time of a `status`, which needs no account.
  const { createHash } = getBuiltinModule('node:crypto');
  return createHash('sha256').update(`runctl-account:${apiKey}`).digest('hex').slice(0, 8);
}

/** The key without the newline at its end. Throws a usage problem, which never holds the key. */
export function parseApiKey(text: string, source: string): string {
  const key = text.replace(/\r?\n$/, '');
  const flaw = flawOf(key);
  if (flaw) throw usageProblem(`the API key (${source}) ${flaw}`, 'copy it again, alone and whole');
  return key;
}

/** Fetch and undici would quote the header that they refuse, so it must not come that far. */
function flawOf(key: string): string | undefined {
  if (key === '') return 'is empty';
  if (/[\r\n]/.test(key)) return 'holds a line break';
  if (/\p{Cc}/u.test(key)) return 'holds a control character';
  if (/[^\0-\u00ff]/.test(key)) return 'holds a character that no header can carry';
  if (key !== key.trim()) return 'begins or ends with a blank';
  return undefined;
}
