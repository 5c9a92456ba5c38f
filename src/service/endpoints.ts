import type { Run, Target } from '../run/run.ts';
import type { Endpoint } from '../run/service.ts';
import type { Priority } from './rate-limiter.ts';

interface EndpointRow {
  method: 'GET' | 'POST';
  /** The priority of its requests in the queue of the rate limiter. */
  priority: Priority;
  /** The column of the table of HTTP statuses in classify.ts. */
  statusColumn: 'trigger' | 'poll';
  /** The response has the output of a run, so it may be long. */
  hasOutput: boolean;
}

// biome-ignore format: a table
export const endpoints: Record<Endpoint, EndpointRow> = {
  trigger: { method: 'POST', priority: 'trigger', statusColumn: 'trigger', hasOutput: false },
  status:  { method: 'GET',  priority: 'poll',    statusColumn: 'poll',    hasOutput: false },
  result:  { method: 'GET',  priority: 'result',  statusColumn: 'poll',    hasOutput: true },
};

/** Paths relative to the base URL (docs/service.openapi.json). */
export const triggerPath = (target: Target): string => `${targetPath(target)}/trigger`;

export const statusPath = (run: Run): string =>
  `${targetPath(run.target)}/executions/${segment(run.executionId)}`;

export const resultPath = (run: Run): string => `${statusPath(run)}/result`;

export const targetPath = ({ projectId, automationName }: Target): string =>
  `/v0/automation/${segment(projectId)}/${segment(automationName)}`;

// A lone UTF-16 surrogate can't be in a URL, so it becomes U+FFFD.
const segment = (text: string) => encodeURIComponent(text.toWellFormed());

interface RequestUrls {
  /** The URL of the request. */
  url: string;
  /** The base URL, without `/v0`. */
  baseUrl: string;
  /** The path of what is triggered. */
  targetPath: string;
}

/**
 * The run that a `Location` leads to. Undefined if it isn't one of the target's. A gateway may
 * leave out the prefix.
 */
export function executionIdIn(
  location: string,
  { url, baseUrl, targetPath }: RequestUrls,
): string | undefined {
  if (!URL.canParse(location, url)) return undefined;
  const place = new URL(location, url);
  const base = new URL(baseUrl);
  if (place.host !== base.host || !['http:', 'https:'].includes(place.protocol)) return undefined;
  const prefix = base.pathname.replace(/\/$/, '');
  const path = place.pathname.startsWith(`${prefix}/`)
    ? place.pathname.slice(prefix.length)
    : place.pathname;
  // A redirect may lead to a resource below the run, such as its result.
  const segments = path.split('/');
  const { length } = targetPath.split('/');
  const owner = segments.slice(0, length).join('/');
  const [word, id] = segments.slice(length);
  return word === 'executions' && id && isSamePath(owner, targetPath)
    ? decodedIfValid(id)
    : undefined;
}

/** Compares paths whose percent-encoding and case may differ. */
const isSamePath = (path: string, ofTarget: string) =>
  decodedIfValid(path)?.toLowerCase() === decodeURIComponent(ofTarget).toLowerCase();

function decodedIfValid(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
