import { usageProblem } from '../problems/problem.ts';
import { parseDuration } from '../runs/duration.ts';
import { isUuid } from '../runs/run.ts';
import { parseApiKey } from './api-key.ts';
import { parseBaseUrl } from './base-url.ts';
import type { StoredKey } from './setting-table.ts';

/**
 * What a setting's text means, written as it is stored. Throws a usage problem that names the source; it does not
 * repeat the text, which may be a key in the wrong place.
 */
export const parseSetting: Record<StoredKey, (text: string, source: string) => string> = {
  apiKey: parseApiKey,
  baseUrl: parseBaseUrl,
  project(text, source) {
    if (!isUuid(text)) {
      throw usageProblem(
        `the project (${source}) is not a UUID`,
        'a project looks like 123e4567-e89b-42d3-a456-426614174000',
      );
    }
    return text.toLowerCase();
  },
  requestTimeout(text, source) {
    parseRequestTimeout(text, source);
    return text;
  },
};

const leastMs = 100;
const mostMs = 600_000;

/** Milliseconds. */
export function parseRequestTimeout(text: string, source: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) {
    throw usageProblem(`the per-request limit (${source}) is not a duration`, 'a duration looks like 500ms, 30s or 5m');
  }
  if (ms < leastMs || ms > mostMs) {
    throw usageProblem(`the per-request limit (${source}) is not between 100ms and 10m`);
  }
  return ms;
}
