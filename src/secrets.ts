export type Secrets = ReturnType<typeof createSecrets>;

const mask = '[secret]';
export const shortestSecret = 4; // shorter ones are parts of ordinary words
const shortestSplit = 8; // shorter ones are not searched for across blanks
// Most text is plain, and the expression for all other text takes 1 ms to make.
const between = (text: string) =>
  /^[\s!-~]*$/.test(text)
    ? /\s/g
    : // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
      /\u001B\[[\d;:?]*[@-~]|[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

type Span = [start: number, end: number];
type Finder = (lower: string) => Span[];

/** Hides the API key and proxy credentials, in every spelling in which a server may send them back. */
export function createSecrets() {
  const known = new Set<string>();
  const finders: Finder[] = [];
  const splitFinders: Finder[] = [];
  return {
    protect(secret: string): void {
      if (secret.length < shortestSecret || known.has(secret)) return;
      known.add(secret);
      const { readings, wholes } = spellingsOf(secret);
      finders.push(...wholes.map(findWhole), ...readings.map(findSpelled));
      const split = (texts: string[]) => texts.map(joined).filter((text) => text.length >= shortestSplit);
      splitFinders.push(...split(wholes).map(findWhole), ...split(readings).map(findSpelled));
    },
    scrub(text: string): string {
      const lower = lowerCase(text);
      const spans = [...finders.flatMap((find) => find(lower)), ...splitSpans(lower, splitFinders)];
      let scrubbed = '';
      let shownTo = 0;
      for (const [start, end] of spans.sort(([a], [b]) => a - b)) {
        if (start >= shownTo) scrubbed += text.slice(shownTo, start) + mask;
        shownTo = Math.max(shownTo, end);
      }
      return scrubbed + text.slice(shownTo);
    },
  };
}

const joined = (text: string) => text.replace(between(text), '');

function splitSpans(lower: string, finders: readonly Finder[]): Span[] {
  const text = finders.length > 0 ? joined(lower) : lower;
  if (text.length === lower.length) return [];
  const found = finders.flatMap((find) => find(text));
  if (found.length === 0) return [];
  const places: number[] = [];
  let from = 0;
  const keepTo = (end: number) => {
    for (let at = from; at < end; at++) places.push(at);
  };
  for (const { index, 0: left } of lower.matchAll(between(lower))) {
    keepTo(index);
    from = index + left.length;
  }
  keepTo(lower.length);
  return found.map(([start, end]) => [places[start] ?? 0, (places[end - 1] ?? 0) + 1]);
}

// There is no regular expression for all spellings: compiling one takes longer than a whole command.
function spellingsOf(secret: string): { readings: string[]; wholes: string[] } {
  // Headers are Latin-1 and bodies UTF-8, and some do it the other way round.
  const [utf8, latin1] = [Buffer.from(secret, 'utf8'), Buffer.from(secret, 'latin1')];
  const readings = new Set([secret, latin1.toString('utf8'), utf8.toString('latin1')]);
  const codings = utf8.equals(latin1) ? [utf8] : [utf8, latin1];
  const coded = codings.flatMap((bytes) => [bytes.toString('hex'), ...base64Of(bytes)]);
  const wholes = new Set([...readings, ...coded].map(lowerCase));
  return { readings: [...readings], wholes: [...wholes] };
}

function findWhole(whole: string): Finder {
  return (lower) => {
    const spans: Span[] = [];
    for (let at = lower.indexOf(whole); at >= 0; at = lower.indexOf(whole, at + 1)) spans.push([at, at + whole.length]);
    return spans;
  };
}

/** Finds the secret with each character as it is or as JSON, a URL or HTML writes it: encoders differ. */
function findSpelled(secret: string): Finder {
  let spelled: string[][] | undefined;
  return (lower) => {
    if (!/[%\\&+]/.test(lower)) return [];
    spelled ??= [...secret].map((character) => encodingsOf(character).map(lowerCase));
    const spans: Span[] = [];
    for (let start = 0; start < lower.length; start++) {
      let ends = [start];
      for (const spellings of spelled) {
        ends = endsOf(spellings, ends, lower);
        if (ends.length === 0) break;
      }
      if (ends.length > 0) spans.push([start, Math.max(...ends)]);
    }
    return spans;
  };
}

/** The ends of the spellings that begin at one of `starts`: `%25` may be an encoded `%`, or three characters. */
function endsOf(spellings: readonly string[], starts: readonly number[], lower: string): number[] {
  const ends: number[] = [];
  for (const start of starts) {
    for (const text of spellings) {
      const end = start + text.length;
      if (lower.startsWith(text, start) && !ends.includes(end)) ends.push(end);
    }
  }
  return ends;
}

const named: Record<string, string> = {
  '"': '&quot;',
  '&': '&amp;',
  "'": '&apos;',
  '<': '&lt;',
  '>': '&gt;',
  ' ': '+',
};

function encodingsOf(character: string): string[] {
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  const spellings = [percent(Buffer.from(character, 'utf8')), `\\u${hex.padStart(4, '0')}`, `&#${code};`, `&#x${hex};`];
  if (code > 0x7f) spellings.push(percent(Buffer.from(character, 'latin1')));
  if (/\W/.test(character)) spellings.push(`\\${character}`);
  if (named[character]) spellings.push(named[character]);
  return [...spellings, character];
}

const percent = (bytes: Buffer) => bytes.toString('hex').replace(/../g, '%$&');
const lowerCase = (text: string) => text.replace(/[A-Z]+/g, (capitals) => capitals.toLowerCase());

/** The bytes within longer Base64: they begin at one of three places in a group, and share its outer characters. */
function base64Of(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const coded = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    const whole = coded.slice(offset === 0 ? 0 : offset + 1, (offset + bytes.length) % 3 === 0 ? undefined : -1);
    return [whole, whole.replace(/\+/g, '-').replace(/\//g, '_')];
  });
}

/** The words with 16 letters and digits in a row, some of both, as no name, path or UUID has them. */
export function misplacedApiKeys(words: readonly string[]): string[] {
  return words
    .flatMap((word) => [word, ...word.split('=').slice(1)])
    .filter((word) => word.match(/[a-z\d]{16,}/gi)?.some((run) => /\d/.test(run) && /[a-z]/i.test(run)));
}
