/** A response of the service. Header names are in lower case. */
export interface Reply {
  status: number;
  headers: Record<string, string>;
  body: string;
}

export interface Refusal {
  status: number;
  code: string;
  message: string;
  headers?: Record<string, string>;
}

/** The service documents `notFound` and `runAlreadyActive`; the other codes are our own. */
export const refusals = {
  notLoopback: {
    status: 421,
    code: 'misdirectedRequest',
    message: 'The Host must be a name of this machine',
  },
  missingKey: { status: 401, code: 'missingApiKey', message: 'The header x-api-key is missing' },
  wrongKey: { status: 401, code: 'invalidApiKey', message: 'The API key is not valid' },
  forbidden: {
    status: 403,
    code: 'forbidden',
    message: 'The API key may not trigger this Automation',
  },
  notFound: { status: 422, code: 'notFound', message: 'There is no such execution' },
  unknownAutomation: {
    status: 404,
    code: 'automationNotFound',
    message: 'The project has no such Automation',
  },
  notJson: {
    status: 415,
    code: 'unsupportedMediaType',
    message: 'The Content-Type must be application/json',
  },
  malformedBody: { status: 400, code: 'malformedBody', message: 'The body is not a JSON object' },
  disabled: { status: 400, code: 'automationDisabled', message: 'The Automation is disabled' },
  alreadyActive: {
    status: 422,
    code: 'runAlreadyActive',
    message: 'The same Automation is already running',
  },
  rateLimited: { status: 429, code: 'rateLimited', message: 'Too many requests' },
  noCredits: { status: 402, code: 'insufficientCredits', message: 'The AI credit balance is 0' },
} satisfies Record<string, Refusal>;

/** A response with a JSON document. */
export function jsonReply(status: number, document: unknown, headers?: Reply['headers']): Reply {
  const type = { 'content-type': 'application/json; charset=utf-8' };
  return { status, headers: { ...type, ...headers }, body: JSON.stringify(document) };
}

/** The response of the service to a request that it refuses. */
export const refusalReply = ({ status, code, message, headers }: Refusal): Reply =>
  jsonReply(status, { code, message }, headers);

/** A response with an HTML page, such as a gateway sends. */
export function htmlReply(status: number, sentence: string): Reply {
  const body = `<!doctype html><html><head><title>${status}</title></head><body><h1>${sentence}</h1></body></html>`;
  return { status, headers: { 'content-type': 'text/html; charset=utf-8' }, body };
}

/** The run that a response is about; undefined if it is about none. */
export const executionIdIn = ({ body }: Reply): string | undefined =>
  /"executionId":"([^"]+)"/.exec(body)?.[1];
