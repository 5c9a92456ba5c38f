import { sanitize } from './sanitize.ts';

export type Secrets = ReturnType<typeof createSecrets>;

const mask = '[secret]';
export const shortestSecret = 4; // shorter ones are part of ordinary words
export const longestSecret = 2048; // of a longer one, V8 compiles no expression for all ways to escape it

/** Hides API keys and proxy credentials: plain, percent-encoded, JSON-escaped, or as a complete Base64 text. */
export function createSecrets() {
  let secrets: readonly string[] = [];
  let escapedSecrets: readonly RegExp[] | undefined;
  return {
    protect(secret: string): void {
      if (secret.length < shortestSecret || secrets.includes(secret)) return;
      // Longest first, because one may be part of another.
      secrets = [...secrets, secret].sort((one, another) => another.length - one.length);
      escapedSecrets = undefined;
    },
    /** The text must have complete lines, because half a secret can't be recognized. */
    scrub(text: string): string {
      const scrubbed = hide(text);
      // Without what a terminal doesn't show, a secret may be whole again.
      const visible = sanitize(scrubbed);
      const hidden = visible === scrubbed ? visible : hide(visible);
      return hidden === visible ? scrubbed : hidden;
    },
  };

  function hide(text: string): string {
    let scrubbed = text;
    for (const spelling of secrets.flatMap((secret) => [secret, ...base64Of(secret)])) {
      scrubbed = scrubbed.replaceAll(spelling, mask);
    }
    // Few texts contain such a character, and the expressions take milliseconds to compile.
    if (secrets.length === 0 || !/[%\\]/.test(scrubbed)) return scrubbed;
    escapedSecrets ??= secrets
      .filter(({ length }) => length <= longestSecret)
      .flatMap(escapedSpellings)
      .map((spelling) => new RegExp(spelling, 'gi'));
    for (const escaped of escapedSecrets) scrubbed = scrubbed.replace(escaped, mask);
    return scrubbed;
  }
}

const base64Of = (secret: string) => {
  const bytes = Buffer.from(secret);
  return [bytes.toString('base64').replace(/=+$/, ''), bytes.toString('base64url')];
};

/** Encoders differ in which characters they leave unchanged. */
const escapedSpellings = (secret: string) =>
  [percentEncoded, jsonEscaped].map((escaped) => [...secret].map(escaped).join(''));

function percentEncoded(character: string): string {
  const bytes = Buffer.from(character).toString('hex').replace(/../g, '%$&');
  return `(?:${literal(character)}|${bytes})`;
}

function jsonEscaped(character: string): string {
  const units = [...Array(character.length).keys()].map((index) => character.charCodeAt(index));
  const coded = units.map((unit) => `\\\\u${unit.toString(16).padStart(4, '0')}`).join('');
  // Some write `\/`. A backslash is always escaped, so several of them can only be read one way.
  const short = character === '/' ? '\\\\?/' : literal(JSON.stringify(character).slice(1, -1));
  return `(?:${short}|${coded})`;
}

const literal = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

/** Words with 16 letters and digits in a row, some of each. Names, paths and UUIDs, with dashes or without, don't have them. */
export function misplacedApiKeys(words: readonly string[]): string[] {
  return words
    .flatMap((word) => [word, ...word.split('=').slice(1)])
    .filter((word) => word.match(/[a-z\d]{16,}/gi)?.some(isLikeApiKey));
}

const isLikeApiKey = (text: string) => /\d/.test(text) && /[a-z]/i.test(text) && !/^[\da-f]{32}$/i.test(text);
