/** What must never be shown: the API key and proxy credentials, in every spelling in which a server may send them back. */
export interface Secrets {
  /** From now on `scrub` hides this text. One of fewer than four characters is ignored. */
  protect(secret: string): void;
  /** The text with `[secret]` in place of every protected text. */
  scrub(text: string): string;
}

const mask = '[secret]';
// Shorter ones would hide parts of ordinary words.
const shortest = 4;

type Span = [start: number, end: number];
type Finder = (lower: string) => Span[];

export function createSecrets(): Secrets {
  const known = new Set<string>();
  const finders: Finder[] = [];
  return {
    protect(secret) {
      if (secret.length < shortest || known.has(secret)) return;
      known.add(secret);
      finders.push(...findersOf(secret));
    },
    scrub(text) {
      const lower = lowerCase(text);
      const spans = finders.flatMap((find) => find(lower));
      let scrubbed = '';
      let shownTo = 0;
      for (const [start, end] of spans.sort(([a], [b]) => a - b)) {
        // One that begins inside another is hidden with it.
        if (start >= shownTo) scrubbed += text.slice(shownTo, start) + mask;
        shownTo = Math.max(shownTo, end);
      }
      return scrubbed + text.slice(shownTo);
    },
  };
}

// Nothing here is a regular expression: one of a secret's spellings takes longer to compile than a command has.
function findersOf(secret: string): Finder[] {
  // Headers are written as Latin-1 and bodies read as UTF-8, and some do it the other way round.
  const [utf8, latin1] = [Buffer.from(secret, 'utf8'), Buffer.from(secret, 'latin1')];
  const readings = new Set([secret, latin1.toString('utf8'), utf8.toString('latin1')]);
  const coded = [utf8, latin1].flatMap((bytes) => [bytes.toString('hex'), ...base64Of(bytes)]);
  const wholes = new Set([...readings, ...coded.filter((text) => text.length >= shortest)].map(lowerCase));
  return [...[...wholes].map(findWhole), ...[...readings].map(findSpelled)];
}

function findWhole(whole: string): Finder {
  return (lower) => {
    const spans: Span[] = [];
    for (let at = lower.indexOf(whole); at >= 0; at = lower.indexOf(whole, at + 1)) spans.push([at, at + whole.length]);
    return spans;
  };
}

/** Finds it character by character, each as it is or as JSON, a URL or HTML writes it: encoders differ in what they leave. */
function findSpelled(secret: string): Finder {
  let spelled: string[][] | undefined;
  return (lower) => {
    if (!/[%\\&+]/.test(lower)) return [];
    spelled ??= [...secret].map((character) => spellingsOf(character).map(lowerCase));
    const spans: Span[] = [];
    for (let start = 0; start < lower.length; start++) {
      let end: number | undefined = start;
      for (const spellings of spelled) {
        const spelling = spellings.find((text) => lower.startsWith(text, end));
        end = spelling === undefined ? undefined : end + spelling.length;
        if (end === undefined) break;
      }
      if (end !== undefined) spans.push([start, end]);
    }
    return spans;
  };
}

const named: Record<string, string> = {
  '"': '&quot;',
  '&': '&amp;',
  "'": '&apos;',
  '<': '&lt;',
  '>': '&gt;',
  ' ': '+',
};

/** The character itself comes last: `%25` is more likely an encoded `%` than three characters, which are found as a whole anyway. */
function spellingsOf(character: string): string[] {
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  const spellings = [percent(Buffer.from(character, 'utf8')), `\\u${hex.padStart(4, '0')}`, `&#${code};`, `&#x${hex};`];
  if (code > 0x7f) spellings.push(percent(Buffer.from(character, 'latin1')));
  if (/\W/.test(character)) spellings.push(`\\${character}`);
  if (named[character]) spellings.push(named[character]);
  return [...spellings, character];
}

const percent = (bytes: Buffer) => bytes.toString('hex').replace(/../g, '%$&');
/** Of ASCII alone, so that every character stays where it is. */
const lowerCase = (text: string) => text.replace(/[A-Z]+/g, (capitals) => capitals.toLowerCase());

/** A secret inside a longer coded text starts at one of three places in a group; characters it shares are left out. */
function base64Of(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const coded = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    const whole = coded.slice(offset === 0 ? 0 : offset + 1, (offset + bytes.length) % 3 === 0 ? undefined : -1);
    return [whole, whole.replace(/\+/g, '-').replace(/\//g, '_')];
  });
}
