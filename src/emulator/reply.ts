import type { ErrorShape } from './scenario.ts';

/** An answer before it is on the wire. Header names are in lower case. */
export interface Reply {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** Why a request was not served. */
export interface Refusal {
  status: number;
  code: string;
  message: string;
  /** Named in the body: the run that is in the way. */
  executionId?: string;
  headers?: Record<string, string>;
}

export function jsonReply(status: number, document: unknown): Reply {
  return reply(status, 'application/json; charset=utf-8', JSON.stringify(document));
}

export function htmlReply(status: number, sentence: string): Reply {
  const page = `<!doctype html><html><head><title>${status}</title></head><body><h1>${sentence}</h1></body></html>`;
  return reply(status, 'text/html; charset=utf-8', page);
}

/** A refusal in one of the forms that services give their errors. */
export function errorReply(shape: ErrorShape, refusal: Refusal): Reply {
  const formed = errorForms[shape](refusal);
  return { ...formed, headers: { ...formed.headers, ...refusal.headers } };
}

const errorForms: Record<ErrorShape, (refusal: Refusal) => Reply> = {
  flat: (refusal) => jsonReply(refusal.status, facts(refusal)),
  string: ({ status, code, executionId }) => jsonReply(status, { error: code, executionId }),
  nested: (refusal) => jsonReply(refusal.status, { error: facts(refusal) }),
  list: ({ status, code, message, executionId }) =>
    jsonReply(status, { errors: [{ code, detail: message, executionId }] }),
  // RFC 9457
  problem: ({ status, code, message, executionId }) =>
    reply(
      status,
      'application/problem+json',
      JSON.stringify({ type: 'about:blank', title: code, status, detail: message, code, executionId }),
    ),
  data: (refusal) => jsonReply(refusal.status, { data: facts(refusal) }),
  text: (refusal) => reply(refusal.status, 'text/plain; charset=utf-8', sentence(refusal)),
  html: (refusal) => htmlReply(refusal.status, sentence(refusal)),
  empty: ({ status }) => ({ status, headers: {}, body: '' }),
};

const facts = ({ code, message, executionId }: Refusal) => ({ code, message, executionId });

const sentence = ({ code, message, executionId }: Refusal) =>
  executionId ? `${code}: ${message} (${executionId})` : `${code}: ${message}`;

function reply(status: number, contentType: string, body: string): Reply {
  return { status, headers: { 'content-type': contentType }, body };
}
