/** Hides API keys and the passwords of proxies in texts. */
export interface Secrets {
  /** From now on `scrub` hides it. Shorter ones than 4 characters are words that occur anywhere. */
  protect(secret: string): void;
  /** Hides each secret, plain, percent-encoded, escaped in JSON, or as a complete Base64 text. */
  scrub(text: string): string;
}

const mask = '[secret]';
const minLength = 4;

export function createSecrets(): Secrets {
  const secrets = new Set<string>();
  let spellings: (string | RegExp)[] = [];
  return {
    protect(secret) {
      if (secret.length < minLength || secrets.has(secret)) return;
      secrets.add(secret);
      // The longest is replaced first, because another secret may be a part of it.
      const longestFirst = [...secrets].sort((one, other) => other.length - one.length);
      spellings = longestFirst.flatMap(spellingsOf);
    },
    scrub: (text) => spellings.reduce<string>((left, one) => left.replaceAll(one, mask), text),
  };
}

function spellingsOf(secret: string): (string | RegExp)[] {
  const bytes = Buffer.from(secret);
  const base64 = bytes.toString('base64').replace(/=+$/, '');
  const escaped = new RegExp([...secret].map(escapedPattern).join(''), 'gi');
  return [secret, base64, bytes.toString('base64url'), escaped];
}

/** Encoders differ in which characters they escape, but none escapes those of RFC 3986 §2.3. */
function escapedPattern(character: string): string {
  const literal = character.replace(/[$()*+.?[\\\]^{|}]/, '\\$&');
  if (/[\w.~-]/.test(character)) return literal;
  // JSON always escapes a backslash, so that several of them can be read in only one way.
  const escapedShort = character === '\\' ? '\\\\\\\\' : `\\\\?${literal}`;
  const escapedUnits = character.split('').map(unicodeEscape).join('');
  const percentEncoded = Buffer.from(character).toString('hex').replace(/../g, '%$&');
  return `(?:${escapedShort}|${escapedUnits}|${percentEncoded})`;
}

const unicodeEscape = (unit: string) => `\\\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
