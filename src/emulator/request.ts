import { isJsonObject, type JsonObject } from '../runs/json.ts';
import type { Target } from '../runs/run.ts';
import { type Refusal, refusals } from './reply.ts';

/** A request as it came over the wire. */
export interface ServiceRequest {
  method: string;
  /** The request target as sent: path and query, percent-encoded. */
  url: string;
  /** Names in lower case. */
  headers: Readonly<Record<string, string | undefined>>;
  body: string;
}

export type TriggerBody = { kind: 'body'; document: JsonObject } | { kind: 'refused'; refusal: Refusal };

/** Reads the body of a trigger: a JSON object, for Agents with `title` and `message`. */
export function readTriggerBody(family: Target['family'], contentType: string | undefined, text: string): TriggerBody {
  if (!/^application\/json\s*(?:;|$)/i.test(contentType ?? '')) return { kind: 'refused', refusal: refusals.notJson };
  const document = parsed(text);
  if (!isJsonObject(document)) return { kind: 'refused', refusal: refusals.malformedBody };
  const { title = '', message = '' } = document;
  if (family === 'agent' && (typeof title !== 'string' || typeof message !== 'string')) {
    return { kind: 'refused', refusal: refusals.wrongField };
  }
  return { kind: 'body', document };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
