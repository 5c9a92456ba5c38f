/** Hides API keys in texts. */
export interface Secrets {
  /** From now on `scrub` hides it. Shorter ones than 4 characters are words that occur anywhere. */
  protect(secret: string): void;
  /** Hides each secret, also percent-encoded or escaped as in JSON, in part or as a whole. */
  scrub(text: string): string;
}

const mask = '[secret]';
const minLength = 4;

export function createSecrets(): Secrets {
  const patterns = new Map<string, RegExp>(); // by secret
  return {
    protect(secret) {
      if (secret.length >= minLength) patterns.set(secret, patternOf(secret));
    },
    scrub(text) {
      // The longest is replaced first, because another secret may be a part of it.
      const longestFirst = [...patterns].sort(([one], [other]) => other.length - one.length);
      return longestFirst.reduce((left, [, pattern]) => left.replace(pattern, mask), text);
    },
  };
}

/** Each character may be plain, or escaped as in URLs (`%2b`) or JSON (`\/`, `\u002b`). */
function patternOf(secret: string): RegExp {
  const forms = Array.from(secret, (character) => {
    const units = character.split('').map((unit) => hexOf(unit.charCodeAt(0), 4));
    const plain = units.map((unit) => `\\u${unit}`).join('');
    const inUrl = [...Buffer.from(character)].map((byte) => `%(?:25)?${hexOf(byte, 2)}`).join('');
    const inJson = units.map((unit) => `\\\\{1,3}u${unit}`).join('');
    return `(?:\\\\{0,3}${plain}|${inUrl}|${inJson})`;
  });
  return new RegExp(forms.join(''), 'gi');
}

const hexOf = (number: number, digits: number) => number.toString(16).padStart(digits, '0');
