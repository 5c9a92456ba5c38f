/** What must never be shown: the API key and proxy credentials, in every spelling they may come back in. */
export interface Secrets {
  protect(secret: string): void;
  /** The text with every protected secret replaced. */
  scrub(text: string): string;
}

const mask = '[secret]';
// Shorter ones would blot out ordinary words.
const shortest = 4;

export function createSecrets(): Secrets {
  const spellings = new Set<string>();
  let pattern: RegExp | undefined;
  return {
    protect(secret) {
      if (secret.length < shortest) return;
      for (const spelling of spellingsOf(secret)) spellings.add(spelling);
      // The longest first, so that no part of a longer spelling is left over.
      const longestFirst = [...spellings].sort((a, b) => b.length - a.length);
      pattern = new RegExp(longestFirst.map((text) => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')).join('|'), 'gi');
    },
    scrub: (text) => (pattern ? text.replace(pattern, mask) : text),
  };
}

function spellingsOf(secret: string): string[] {
  const bytes = Buffer.from(secret, 'utf8');
  const base64 = [0, 1, 2].flatMap((offset) => {
    // A secret inside a longer coded text starts at one of three places in a group; the characters at its edges
    // mix with its neighbours and are left out.
    const coded = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    const whole = coded.slice(offset === 0 ? 0 : offset + 1, (offset + bytes.length) % 3 === 0 ? undefined : -1);
    return [whole, whole.replace(/\+/g, '-').replace(/\//g, '_')];
  });
  const all = [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    bytes.toString('hex'),
    ...base64,
  ];
  return [...new Set(all)].filter((text) => text.length >= shortest);
}
