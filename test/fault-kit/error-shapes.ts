import { htmlReply, jsonReply, type Reply } from '../../src/emulator/reply.ts';

export interface Facts {
  status: number;
  code: string;
  message: string;
  /** The run that is in the way. */
  executionId?: string;
}

/** The bodies in which a service may say why it refuses. */
const shapes = {
  flat: ({ status, ...facts }: Facts) => jsonReply(status, facts),
  string: ({ status, code, executionId }: Facts) => jsonReply(status, { error: code, executionId }),
  nested: ({ status, ...facts }: Facts) => jsonReply(status, { error: facts }),
  list: ({ status, code, message, executionId }: Facts) =>
    jsonReply(status, { errors: [{ code, detail: message, executionId }] }),
  // RFC 9457
  problem({ status, code, message, executionId }: Facts) {
    const document = { type: 'about:blank', title: code, status, detail: message, code, executionId };
    return jsonReply(status, document, { 'content-type': 'application/problem+json' });
  },
  data: ({ status, ...facts }: Facts) => jsonReply(status, { data: facts }),
  text: (facts: Facts) => textReply(facts.status, sentence(facts)),
  html: (facts: Facts) => htmlReply(facts.status, sentence(facts)),
  empty: ({ status }: Facts): Reply => ({ status, headers: {}, body: '' }),
};

export type ErrorShape = keyof typeof shapes;
export const errorShapes = Object.keys(shapes) as ErrorShape[];

export const errorReply = (shape: ErrorShape, facts: Facts): Reply => shapes[shape](facts);

export function textReply(status: number, body: string): Reply {
  return { status, headers: { 'content-type': 'text/plain; charset=utf-8' }, body };
}

const sentence = ({ code, message, executionId }: Facts) =>
  executionId ? `${code}: ${message} (${executionId})` : `${code}: ${message}`;
