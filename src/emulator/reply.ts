import { stringifyJson } from '../json-text.ts';
import type { ErrorShape } from './scenario.ts';

/** Header names are in lower case. */
export interface Reply {
  status: number;
  headers: Record<string, string>;
  body: string;
}

export interface EmulatedRefusal {
  status: number;
  code: string;
  message: string;
  executionId?: string; // the run that is in the way
  headers?: Record<string, string>;
}

/** The service documents `notFound` and `runAlreadyActive`; the other codes are our own. */
export const refusals = {
  notLoopback: { status: 421, code: 'misdirectedRequest', message: 'The Host must be a name of this machine' },
  missingKey: { status: 401, code: 'missingApiKey', message: 'The header x-api-key is missing' },
  wrongKey: { status: 401, code: 'invalidApiKey', message: 'The API key is not valid' },
  notFound: { status: 422, code: 'notFound', message: 'There is no such execution' },
  unknownAutomation: { status: 404, code: 'automationNotFound', message: 'The project has no such Automation' },
  notJson: { status: 415, code: 'unsupportedMediaType', message: 'The Content-Type must be application/json' },
  malformedBody: { status: 400, code: 'malformedBody', message: 'The body is not a JSON object' },
  alreadyActive: { status: 422, code: 'runAlreadyActive', message: 'The same Automation is already running' },
  keyReused: { status: 422, code: 'idempotencyKeyReused', message: 'This idempotency key belongs to another request' },
  rateLimited: { status: 429, code: 'rateLimited', message: 'Too many requests' },
  noCredits: { status: 402, code: 'insufficientCredits', message: 'The AI credit balance is 0' },
  agentsDiscontinued: {
    status: 410,
    code: 'agentsDiscontinued',
    message: 'Agents are discontinued and no longer start a run: trigger an Automation instead',
  },
} satisfies Record<string, EmulatedRefusal>;

export function jsonReply(status: number, document: unknown, type = 'application/json; charset=utf-8'): Reply {
  return reply(status, type, stringifyJson(document));
}

export function htmlReply(status: number, sentence: string): Reply {
  const page = `<!doctype html><html><head><title>${status}</title></head><body><h1>${sentence}</h1></body></html>`;
  return reply(status, 'text/html; charset=utf-8', page);
}

export function errorReply(shape: ErrorShape, refusal: EmulatedRefusal): Reply {
  const formed = errorForms[shape](refusal);
  return { ...formed, headers: { ...formed.headers, ...refusal.headers } };
}

/** A refusal as a scenario has it, of the run that is in the way. */
export function plannedRefusal(status: number, body: unknown, { executionId = '', headers }: EmulatedRefusal): Reply {
  const planned = typeof body === 'string' ? reply(status, 'text/plain; charset=utf-8', body) : jsonReply(status, body);
  const text = planned.body.replaceAll('{executionId}', executionId);
  return { ...planned, headers: { ...planned.headers, ...headers }, body: text };
}

const errorForms: Record<ErrorShape, (refusal: EmulatedRefusal) => Reply> = {
  flat: (refusal) => jsonReply(refusal.status, facts(refusal)),
  string: ({ status, code, executionId }) => jsonReply(status, { error: code, executionId }),
  nested: (refusal) => jsonReply(refusal.status, { error: facts(refusal) }),
  list: ({ status, code, message, executionId }) =>
    jsonReply(status, { errors: [{ code, detail: message, executionId }] }),
  // RFC 9457
  problem: ({ status, code, message, executionId }) => {
    const document = { type: 'about:blank', title: code, status, detail: message, code, executionId };
    return jsonReply(status, document, 'application/problem+json');
  },
  data: (refusal) => jsonReply(refusal.status, { data: facts(refusal) }),
  text: (refusal) => reply(refusal.status, 'text/plain; charset=utf-8', sentence(refusal)),
  html: (refusal) => htmlReply(refusal.status, sentence(refusal)),
  empty: ({ status }) => ({ status, headers: {}, body: '' }),
};

const facts = ({ code, message, executionId }: EmulatedRefusal) => ({ code, message, executionId });

const sentence = ({ code, message, executionId }: EmulatedRefusal) =>
  executionId ? `${code}: ${message} (${executionId})` : `${code}: ${message}`;

function reply(status: number, contentType: string, body: string): Reply {
  return { status, headers: { 'content-type': contentType }, body };
}
