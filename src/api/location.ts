import type { Target } from '../runs/run.ts';
import { targetPath } from './endpoints.ts';

/** Where an answer came from, by which its `Location` is read. */
interface Asked {
  /** Of the request, with scheme, host, port and path prefix. */
  url: string;
  /** Without `/v0`. */
  baseUrl: string;
  target: Target;
}

/**
 * The id of the run of the target that a `Location` leads to; undefined where it leads elsewhere. A gateway may have left
 * out the path prefix or written another scheme; it is the run all the same.
 */
export function runIdIn(location: string, { url, baseUrl, target }: Asked): string | undefined {
  if (!URL.canParse(location, url)) return undefined;
  const place = new URL(location, url);
  const base = new URL(baseUrl);
  if (place.host !== base.host || !['http:', 'https:'].includes(place.protocol)) return undefined;
  const prefix = base.pathname.replace(/\/$/, '');
  const path = place.pathname.startsWith(`${prefix}/`) ? place.pathname.slice(prefix.length) : place.pathname;
  const [, owner = '', id = ''] = /(.+)\/executions\/([^/]+)\/?$/.exec(path) ?? [];
  return isAlike(owner, targetPath(target)) ? decoded(id) : undefined;
}

/** Some write what need not be encoded as percent signs and digits, and ids in another case. */
const isAlike = (path: string, ofTarget: string) =>
  decoded(path)?.toLowerCase() === decodeURIComponent(ofTarget).toLowerCase();

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
