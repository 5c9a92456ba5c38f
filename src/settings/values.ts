import { isUuid, withDashes } from '../run/run.ts';
import { hasAtSignAfterHost } from '../system/at-sign.ts';
import { isLoopback } from '../system/loopback.ts';
import { maxSecret, minSecret } from '../system/secrets.ts';
import { parseDuration } from '../system/time-text.ts';

/**
 * The value of a setting, with its text if that differs from the value. If the text is invalid,
 * says what is wrong with it as the end of a sentence, which never quotes a possible API key.
 */
export type Parsed<Value> = { value: Value; text?: string } | { flaw: string; hint?: string };

/** Checks an API key. */
export function parseApiKey(text: string): Parsed<string> {
  const flaw = flawOfApiKey(text);
  return flaw ? { flaw } : { value: text };
}

/**
 * The error with which undici refuses a header quotes the header, so an API key with such a
 * character must not reach undici.
 */
function flawOfApiKey(apiKey: string): string | undefined {
  if (apiKey === '') return 'is empty';
  if (/^https?:\/\//i.test(apiKey)) return 'is a URL';
  if (apiKey.length < minSecret) return `is shorter than ${minSecret} characters`;
  if (apiKey.length > maxSecret) return `is longer than ${maxSecret} characters`;
  if (/[\r\n]/.test(apiKey)) return 'contains a line break';
  if (/[^\x21-\x7e]/.test(apiKey))
    return "contains a space or another character that isn't visible ASCII";
  return undefined;
}

/** Checks a shell command that prints the API key. */
export function parseApiKeyCommand(text: string): Parsed<string> {
  if (text.trim() === '') return { flaw: 'is empty' };
  return /\p{Cc}/u.test(text)
    ? { flaw: 'contains a line break or another control character' }
    : { value: text };
}

/**
 * A base URL is stored without a trailing slash and without `/v0`, because every path begins with
 * `/v0`.
 */
export function parseBaseUrl(text: string): Parsed<string> {
  const flaw = flawOfBaseUrl(text);
  const url = localUrl(text);
  if (flaw) return { flaw, hint: url && `did you mean ${url}?` };
  const { origin, pathname } = new URL(text);
  return { value: origin + trimSlashes(trimSlashes(pathname).replace(/\/v0$/, '')) };
}

/**
 * The URL for a text such as `localhost:42001`. Undefined for a text that isn't a host of this
 * machine. The text has nothing secret, so messages may quote it.
 */
function localUrl(text: string): string | undefined {
  const { host, hostname } = URL.canParse(`http://${text}`)
    ? new URL(`http://${text}`)
    : { host: '', hostname: '' };
  return isLoopback(hostname) && !hasAtSignAfterHost(text) ? `http://${host}` : undefined;
}

/** The scheme for a host that was typed without one: http for this machine, https for any other. */
export const schemeFor = (text: string) => (localUrl(text) ? 'http://' : 'https://');

const trimSlashes = (path: string) => path.replace(/\/+$/, '');

function flawOfBaseUrl(text: string): string | undefined {
  // The URL parser drops these characters without an error.
  if (/[^!-~]/.test(text) && /[\s\p{Cc}\p{Cf}]/u.test(text))
    return 'contains a space, or a control or invisible character';
  if (!/^https?:\/\//i.test(text)) return `doesn't begin with ${schemeFor(text)}`;
  if (hasAtSignAfterHost(text))
    return 'must not contain a user name or password (in a path, write @ as %40)';
  if (!URL.canParse(text)) return 'is not a valid URL';
  const { protocol, hostname, username, password } = new URL(text);
  if (!/^(?:[\w.-]+|\[[\da-f:.]+\])$/i.test(hostname)) return 'is not a valid URL';
  if (username || password) return 'must not contain a user name or password';
  if (/[?#]/.test(text)) return 'must not contain a query or fragment';
  if (protocol === 'http:' && !isLoopback(hostname))
    return 'must begin with https:// (plain HTTP is allowed for localhost only)';
  return undefined;
}

/** Parses the id of a project into lower case. */
export function parseProject(text: string): Parsed<string> {
  if (isUuid(text)) return { value: text.toLowerCase() };
  const dashed = withDashes(text);
  return { flaw: 'is not a UUID', hint: dashed && `did you mean ${dashed}?` };
}

/** What the service may do with an idempotency key that it has seen before. */
const keyTreatments = ['honored', 'ignored'] as const;
export type KeyTreatment = (typeof keyTreatments)[number];

/** Parses `honored` or `ignored`, in any case of letters. */
export function parseKeyTreatment(text: string): Parsed<KeyTreatment> {
  const value = keyTreatments.find((treatment) => treatment === text.toLowerCase());
  return value === undefined ? { flaw: `must be ${keyTreatments.join(' or ')}` } : { value };
}

const minTimeoutMs = 100;
const maxTimeoutMs = 600_000;

/** Milliseconds. */
export function parseRequestTimeout(text: string): Parsed<number> {
  const ms = parseDuration(text);
  if (/^-\.?\d/.test(text)) return { flaw: "can't be negative" };
  if (ms === undefined) return { flaw: 'is not a duration' };
  if (ms < minTimeoutMs || ms > maxTimeoutMs) return { flaw: 'is not between 100ms and 10m' };
  return { value: ms, text };
}
