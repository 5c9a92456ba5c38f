import { quote } from '../runs/arguments.ts';
import { parseDuration } from '../runs/duration.ts';
import { type Problem, usageProblem } from '../runs/problem.ts';
import { isUuid } from '../runs/uuid.ts';
import type { SettingKey } from './setting-table.ts';

/** Each setting's value as it is used, from what was written; `source` says where, for the refusal. Throws a usage problem. */
export const readers = {
  apiKey: readApiKey,
  baseUrl: readBaseUrl,
  project: readProject,
  profile: readProfile,
  requestTimeout: readRequestTimeout,
} satisfies Record<SettingKey, (text: string, source: string) => unknown>;

/** A key that no header may carry would come back in an error text: it is refused first, and never quoted. */
export function readApiKey(text: string, source: string): string {
  const key = text.replace(/\r?\n$/, '');
  if (key === '') throw usageProblem(`the API key of ${source} is empty`);
  if (!/^[\x21-\x7e\xa1-\xff](?:[\x20-\x7e\xa1-\xff]*[\x21-\x7e\xa1-\xff])?$/.test(key)) {
    throw usageProblem(
      `the API key of ${source} holds characters that no header may carry`,
      'look for a line break, a blank at an end or a letter that was pasted wrongly',
    );
  }
  return key;
}

/** The address without `/v0` and without a slash at its end. */
export function readBaseUrl(text: string, source: string): string {
  const refuse = (why: string, hint?: string): Problem => usageProblem(`the base address of ${source} ${why}`, hint);
  if (/[\s\p{Cc}]/u.test(text) || !URL.canParse(text))
    throw refuse('is not a URL', 'give one like https://api.example.com');
  const url = new URL(text);
  // Never quoted: it may hold a password.
  if (url.username || url.password) throw refuse('holds a user or a password', 'the service takes an API key');
  if (text.includes('?') || text.includes('#')) throw refuse('holds a query or a fragment');
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw refuse(`is not http or https: ${quote(text)}`);
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw refuse(
      `would send the key in the clear: ${quote(text)}`,
      'give an https address; plain http is for loopback hosts',
    );
  }
  return (url.origin + url.pathname).replace(/\/+$/, '').replace(/\/v0$/, '').replace(/\/+$/, '');
}

function isLoopback(hostname: string): boolean {
  return /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

export function readProject(text: string, source: string): string {
  if (!isUuid(text)) throw usageProblem(`the project of ${source} is not a UUID: ${quote(text)}`);
  return text.toLowerCase();
}

export function readProfile(text: string, source: string): string {
  if (text.trim() !== text || /\p{Cc}/u.test(text) || text === '__proto__') {
    throw usageProblem(`${quote(text)} of ${source} cannot be the name of a profile`);
  }
  return text;
}

export function readRequestTimeout(text: string, source: string): number {
  const ms = parseDuration(text);
  if (ms === undefined || ms < 100 || ms > 600_000) {
    throw usageProblem(
      `the request limit of ${source} is not a duration from 100ms to 10m: ${quote(text)}`,
      'give one like 30s',
    );
  }
  return ms;
}
