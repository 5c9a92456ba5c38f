/** Hides API keys in texts. */
export interface Secrets {
  /** From now on `scrub` hides it. Shorter ones than 4 characters are words that occur anywhere. */
  protect(secret: string): void;
  /** Hides each secret: plain, percent-encoded, or escaped as in JSON. */
  scrub(text: string): string;
}

const mask = '[secret]';
const minLength = 4;

export function createSecrets(): Secrets {
  const spellings = new Set<string>();
  return {
    protect(secret) {
      if (secret.length < minLength) return;
      spellings
        .add(secret)
        .add(encodeURIComponent(secret))
        .add(JSON.stringify(secret).slice(1, -1));
    },
    scrub(text) {
      // The longest is replaced first, because another secret may be a part of it.
      const longestFirst = [...spellings].sort((one, other) => other.length - one.length);
      return longestFirst.reduce((left, spelling) => left.replaceAll(spelling, mask), text);
    },
  };
}
