import { Problem } from '../run/report.ts';
import { isUuid } from '../run/run.ts';
import { parseDuration } from '../text/duration.ts';
import { isLoopback } from '../text/loopback.ts';
import { type SettingName, settingTable } from './table.ts';

/** What is used and stored of a setting's text. Undefined if the text isn't allowed. */
export const parsers: Record<SettingName, (text: string) => string | undefined> = {
  // The end of a line belongs to the file or the pipe that the API key comes from.
  apiKey: (text) => /^([!-~]+)(\r?\n)*$/.exec(text)?.[1],
  apiKeyCommand: (text) => (text.trim() === '' ? undefined : text),
  baseUrl: parseBaseUrl,
  project: (text) => (isUuid(text) ? text.toLowerCase() : undefined),
  profile: (text) => (/^[^\p{C}\p{Z}\p{Dash}][^\p{C}\p{Z}]*$/u.test(text) ? text : undefined),
  requestTimeout: (text) => (parseDuration(text) ? text : undefined),
  idempotencyKeys: (text) => (/^(honored|ignored)$/.test(text) ? text : undefined),
  configDir: absolutePath,
  stateDir: absolutePath,
};

/**
 * What is used of a setting's text. Throws a `Problem` that names the source and says what is
 * allowed. It doesn't quote the text, which may be an API key at the wrong place.
 */
export function checkSetting(name: SettingName, text: string, source: string): string {
  const value = parsers[name](text);
  if (value !== undefined) return value;
  const { label, allowed } = settingTable[name];
  throw new Problem(`the ${label} (${source}) must be ${allowed}`);
}

function parseBaseUrl(text: string): string | undefined {
  // The parser drops line breaks, and takes `user` for the host in `https://user:1/2@host`.
  if (/[\s?#@]/.test(text) || !URL.canParse(text)) return undefined;
  const { protocol, hostname, origin, pathname } = new URL(text);
  const isSafe = protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
  return isSafe ? origin + pathname.replace(/\/+$/, '').replace(/\/+v0$/, '') : undefined;
}

// A relative path, or a `~` that no shell has replaced, would be another folder in each place.
function absolutePath(text: string): string | undefined {
  return text.startsWith('/') ? text : undefined;
}
