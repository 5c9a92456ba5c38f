import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import document from '../../docs/service.openapi.json' with { type: 'json' };
import type { Reply } from '../../src/emulator/reply.ts';
import type { ServiceRequest } from '../../src/emulator/request.ts';

type Json = Record<string, unknown>;

const lenient = { strictTypes: false, strictRequired: false };
// The metaschema of JSON Schema does not know OpenAPI.
const quick = { validateSchema: false, code: { optimize: false } };
const ajv = new Ajv2020({ strict: true, allErrors: true, ...lenient, ...quick });
addFormats.default(ajv);
for (const word of Object.keys(document)) ajv.addKeyword(word);
ajv.addSchema(document, 'service');

const paths = Object.entries<Json>(document.paths).map(([template, item]) => ({
  pattern: new RegExp(`^${template.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`),
  item,
  pointer: `service#/paths/${template.replaceAll('~', '~0').replaceAll('/', '~1').replace(/[{}]/g, encodeURIComponent)}`,
}));

/** What the OpenAPI document holds against a request; an empty list if nothing. */
export function faultsOfRequest({ method, url, headers, body }: ServiceRequest): string[] {
  const found = operationOf(method, url);
  if (!found) return [`${method} ${url} is in no path of the document`];
  const { item, operation, parameters, pointer } = found;
  const faults = headers['x-api-key'] ? [] : ['x-api-key is missing'];
  for (const { $ref } of item.parameters as { $ref: string }[]) {
    const name = $ref.split('/').at(-1) ?? '';
    faults.push(...faultsBy(`service${$ref}/schema`, parameters[name]));
  }
  if (operation.requestBody) {
    if (!headers['content-type']?.startsWith('application/json')) faults.push('the body is not declared as JSON');
    faults.push(...faultsBy(`${pointer}/requestBody/content/application~1json/schema`, parsed(body)));
  }
  return faults;
}

/** What the document holds against the answer to a request that it knows. */
export function faultsOfReply({ method, url }: ServiceRequest, { status, headers, body }: Reply): string[] {
  const found = operationOf(method, url);
  if (!found) return [];
  const responses = found.operation.responses as Record<string, Json>;
  const range = `${Math.floor(status / 100)}XX`;
  const key = status in responses ? status : range;
  if (!(key in responses)) return [`${status} is no answer to ${found.operation.operationId}`];
  if (status >= 300) return [];
  if (!headers['content-type']?.startsWith('application/json')) return [`${headers['content-type']} is not JSON`];
  return faultsBy(`${found.pointer}/responses/${key}/content/application~1json/schema`, parsed(body));
}

function operationOf(method: string, url: string) {
  for (const { pattern, item, pointer } of paths) {
    const match = pattern.exec(url.replace(/\?.*/, ''));
    const operation = item[method.toLowerCase()] as Json | undefined;
    if (!match || !operation) continue;
    const parameters: Record<string, string | undefined> = {};
    for (const [name, value = ''] of Object.entries(match.groups ?? {})) parameters[name] = decoded(value);
    return { item, operation, parameters, pointer: `${pointer}/${method.toLowerCase()}` };
  }
  return undefined;
}

const validators = new Map<string, ValidateFunction>();

function faultsBy(ref: string, value: unknown): string[] {
  const validate = validators.get(ref) ?? ajv.compile({ $ref: ref });
  validators.set(ref, validate);
  if (validate(value)) return [];
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath || ref} ${message}`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
