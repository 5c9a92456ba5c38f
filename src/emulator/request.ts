import { isJsonObject } from '../runs/json.ts';
import { isUuid, type Target } from '../runs/run.ts';
import { type EmulatedRefusal, refusals } from './reply.ts';

export interface ServiceRequest {
  method: string;
  url: string; // path and query as sent
  headers: Readonly<Record<string, string | undefined>>; // names in lower case
  body: string;
}

/** The endpoint of a request, with its path parameters decoded. */
export type Route =
  | { kind: 'trigger'; target: Target }
  | { kind: 'status' | 'result'; target: Target; executionId: string }
  | { kind: 'none'; refusal: EmulatedRefusal };

const automation = '/v0/automation/(?<projectId>[^/]+)/(?<automationName>[^/]+)';
const agent = '/v0/agent/(?<agentId>[^/]+)';
const execution = '/executions/(?<executionId>[^/]+)';

const endpoints = [
  { kind: 'trigger', method: 'POST', path: new RegExp(`^${automation}/trigger$`) },
  { kind: 'status', method: 'GET', path: new RegExp(`^${automation}${execution}$`) },
  { kind: 'result', method: 'GET', path: new RegExp(`^${automation}${execution}/result$`) },
  { kind: 'none', method: 'POST', path: new RegExp(`^${agent}/trigger$`), refusal: refusals.agentsDiscontinued },
  // As no Agent is triggered, none has a run.
  { kind: 'none', method: 'GET', path: new RegExp(`^${agent}${execution}$`), refusal: refusals.notFound },
] as const;

export function routeOf({ method, url }: Pick<ServiceRequest, 'method' | 'url'>): Route {
  const path = url.replace(/\?.*/s, '');
  const endpoint = endpoints.find((candidate) => candidate.path.test(path));
  if (!endpoint) return notRouted(404, 'unknownPath', 'There is no such endpoint');
  if (method !== endpoint.method) {
    const message = `This endpoint takes ${endpoint.method}, not ${method}`;
    return notRouted(405, 'methodNotAllowed', message, { allow: endpoint.method });
  }
  const parameters: Record<string, string> = {};
  for (const [name, encoded] of Object.entries(endpoint.path.exec(path)?.groups ?? {})) {
    const value = unlessThrown(() => decodeURIComponent(encoded));
    if (value === undefined) return notRouted(400, 'malformedPath', `${name} is not percent-encoded UTF-8`);
    if (name.endsWith('Id') && !isUuid(value)) return notRouted(400, 'invalidId', `${name} is not a UUID`);
    parameters[name] = name.endsWith('Id') ? value.toLowerCase() : value;
  }
  if (endpoint.kind === 'none') return { kind: 'none', refusal: endpoint.refusal };
  const { projectId = '', automationName = '', executionId = '' } = parameters;
  return { kind: endpoint.kind, target: { projectId, automationName }, executionId };
}

function notRouted(status: number, code: string, message: string, headers?: EmulatedRefusal['headers']): Route {
  return { kind: 'none', refusal: { status, code, message, headers } };
}

/** Why the body of a trigger is refused. */
export function flawOfBody({ headers, body }: ServiceRequest): EmulatedRefusal | undefined {
  if (!/^application\/json\s*(?:;|$)/i.test(headers['content-type'] ?? '')) return refusals.notJson;
  return isJsonObject(unlessThrown(() => JSON.parse(body))) ? undefined : refusals.malformedBody;
}

function unlessThrown<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
