import { isUuid, type Target } from '../run/run.ts';
import type { Endpoint, RunResource } from '../run/service.ts';
import { isJsonObject } from '../system/json.ts';
import { type Refusal, refusals } from './reply.ts';

export interface ServiceRequest {
  method: string;
  /** The path and the query, as they were sent. */
  url: string;
  /** The headers, by their names in lower case. */
  headers: Readonly<Record<string, string | undefined>>;
  body: string;
}

/** The endpoint of a request, with its path parameters decoded. */
export type Route =
  | { kind: 'trigger'; target: Target }
  | { kind: RunResource; target: Target; executionId: string }
  | { kind: 'none'; refusal: Refusal };

const automation = '/v0/automation/(?<projectId>[^/]+)/(?<automationName>[^/]+)';
const execution = `${automation}/executions/(?<executionId>[^/]+)`;

const emulatedEndpoints: Record<Endpoint, { method: string; path: RegExp }> = {
  trigger: { method: 'POST', path: new RegExp(`^${automation}/trigger$`) },
  status: { method: 'GET', path: new RegExp(`^${execution}$`) },
  result: { method: 'GET', path: new RegExp(`^${execution}/result$`) },
};

const endpointNames = Object.keys(emulatedEndpoints) as Endpoint[];

/** The endpoint that a request is for, or why it is for none. */
export function routeOf({ method, url }: { method: string; url: string }): Route {
  const path = url.replace(/\?.*/s, '');
  const kind = endpointNames.find((name) => emulatedEndpoints[name].path.test(path));
  if (kind === undefined) return notRouted(404, 'unknownPath', 'There is no such endpoint');
  const endpoint = emulatedEndpoints[kind];
  if (method !== endpoint.method) {
    const message = `This endpoint takes ${endpoint.method}, not ${method}`;
    return notRouted(405, 'methodNotAllowed', message, { allow: endpoint.method });
  }
  const parameters: Record<string, string> = {};
  for (const [name, encoded] of Object.entries(endpoint.path.exec(path)?.groups ?? {})) {
    const parameter = readParameter(name, encoded);
    if ('kind' in parameter) return parameter;
    parameters[name] = parameter.value;
  }
  const { projectId = '', automationName = '', executionId = '' } = parameters;
  return { kind, target: { projectId, automationName }, executionId };
}

/** The value of a path parameter, with an id in lower case, or the refusal of the request. */
function readParameter(name: string, encoded: string): { value: string } | Route {
  const value = unlessThrown(() => decodeURIComponent(encoded));
  if (value === undefined) {
    return notRouted(400, 'malformedPath', `${name} is not percent-encoded UTF-8`);
  }
  if (!name.endsWith('Id')) return { value };
  if (!isUuid(value)) return notRouted(400, 'invalidId', `${name} is not a UUID`);
  return { value: value.toLowerCase() };
}

function notRouted(
  status: number,
  code: string,
  message: string,
  headers?: Refusal['headers'],
): Route {
  return { kind: 'none', refusal: { status, code, message, headers } };
}

/** Why the body of a trigger is refused; undefined if it isn't. */
export function bodyRefusal({ headers, body }: ServiceRequest): Refusal | undefined {
  if (!/^application\/json\s*(?:;|$)/i.test(headers['content-type'] ?? '')) return refusals.notJson;
  return isJsonObject(unlessThrown(() => JSON.parse(body))) ? undefined : refusals.malformedBody;
}

/** The result of `read`, or undefined if it throws. */
function unlessThrown<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
