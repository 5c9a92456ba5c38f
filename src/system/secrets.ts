import { escapeRegExp } from './regexp.ts';
import { sanitize } from './sanitize.ts';

export type Secrets = ReturnType<typeof createSecrets>;

const mask = '[secret]';
export const minSecret = 4; // shorter texts occur in ordinary words
/** For a longer secret, V8 can't compile the expression that matches its escaped forms. */
export const maxSecret = 2048;

/**
 * Hides API keys and proxy credentials: plain, percent-encoded, JSON-escaped, or as a complete
 * Base64 text.
 */
export function createSecrets() {
  let secrets: readonly string[] = [];
  let escapedSecrets: readonly RegExp[] | undefined;
  return {
    protect(secret: string): void {
      if (secret.length < minSecret || secrets.includes(secret)) return;
      // The longest secret is replaced first, because another may be a part of it.
      secrets = [...secrets, secret].sort((one, another) => another.length - one.length);
      escapedSecrets = undefined;
    },
    /** The text must have complete lines, because half a secret can't be recognized. */
    scrub(text: string): string {
      const scrubbed = hide(text);
      // A secret with characters in it that a terminal doesn't show would look complete there, so
      // the sanitized text is searched, too.
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
      .filter(({ length }) => length <= maxSecret)
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
  return `(?:${escapeRegExp(character)}|${bytes})`;
}

function jsonEscaped(character: string): string {
  const units = [...Array(character.length).keys()].map((index) => character.charCodeAt(index));
  const coded = units.map((unit) => `\\\\u${unit.toString(16).padStart(4, '0')}`).join('');
  // Some write `\/`. A backslash is always escaped, so several of them can only be read one way.
  const short = character === '/' ? '\\\\?/' : escapeRegExp(JSON.stringify(character).slice(1, -1));
  return `(?:${short}|${coded})`;
}

/**
 * Words that have 16 letters and digits in a row, at least one of each, as API keys do. Names,
 * paths and UUIDs don't.
 */
export function misplacedApiKeys(words: readonly string[]): string[] {
  return words
    .flatMap((word) => [word, ...word.split('=').slice(1)])
    .filter((word) => word.match(/[a-z\d]{16,}/gi)?.some(isLikeApiKey));
}

const isLikeApiKey = (text: string) =>
  /\d/.test(text) && /[a-z]/i.test(text) && !/^[\da-f]{32}$/i.test(text);
