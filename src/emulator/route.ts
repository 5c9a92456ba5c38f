import { isUuid, type Target } from '../runs/run.ts';

/** One of the five endpoints, with its path parameters decoded. */
export type Route =
  | { kind: 'trigger'; target: Target }
  | { kind: 'status'; target: Target; executionId: string }
  | { kind: 'result'; target: Target; executionId: string };

/** A request that belongs to no endpoint, and why. */
export interface Misroute {
  kind: 'astray';
  status: 400 | 404 | 405;
  code: string;
  message: string;
  /** The methods the path does know. */
  allow?: string;
}

const automation = `/v0/automation/(?<projectId>[^/]+)/(?<automationName>[^/]+)`;
const agent = `/v0/agent/(?<agentId>[^/]+)`;
const execution = `/executions/(?<executionId>[^/]+)`;

const endpoints = [
  { kind: 'trigger', method: 'POST', path: new RegExp(`^${automation}/trigger$`) },
  { kind: 'status', method: 'GET', path: new RegExp(`^${automation}${execution}$`) },
  { kind: 'result', method: 'GET', path: new RegExp(`^${automation}${execution}/result$`) },
  { kind: 'trigger', method: 'POST', path: new RegExp(`^${agent}/trigger$`) },
  { kind: 'status', method: 'GET', path: new RegExp(`^${agent}${execution}$`) },
] as const;

/** Finds the endpoint of a request. `url` is the request target as sent: percent-encoded, maybe with a query. */
export function routeOf(method: string, url: string): Route | Misroute {
  const path = url.replace(/\?.*/s, '');
  const endpoint = endpoints.find((candidate) => candidate.path.test(path));
  if (!endpoint) return astray(404, 'unknownPath', 'There is no such endpoint');
  if (method !== endpoint.method) {
    const message = `This endpoint takes ${endpoint.method}, not ${method}`;
    return { ...astray(405, 'methodNotAllowed', message), allow: endpoint.method };
  }
  const parameters: Record<string, string> = {};
  for (const [name, encoded] of Object.entries(endpoint.path.exec(path)?.groups ?? {})) {
    const value = decoded(encoded);
    if (value === undefined) return astray(400, 'malformedPath', `${name} is not percent-encoded UTF-8`);
    if (name.endsWith('Id') && !isUuid(value)) return astray(400, 'invalidId', `${name} is not a UUID`);
    parameters[name] = name.endsWith('Id') ? value.toLowerCase() : value;
  }
  const { projectId = '', automationName = '', agentId, executionId = '' } = parameters;
  const target: Target = agentId ? { family: 'agent', agentId } : { family: 'automation', projectId, automationName };
  return { kind: endpoint.kind, target, executionId };
}

function astray(status: Misroute['status'], code: string, message: string): Misroute {
  return { kind: 'astray', status, code, message };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
