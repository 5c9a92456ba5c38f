import type { Refusal } from './reply.ts';

/** The errors of the emulator. The service documents `notFound` and `runAlreadyActive`; the other codes are our own. */
export const refusals = {
  missingKey: { status: 401, code: 'missingApiKey', message: 'The header x-api-key is missing' },
  wrongKey: { status: 401, code: 'invalidApiKey', message: 'The API key is not valid' },
  notFound: { status: 422, code: 'notFound', message: 'There is no such execution' },
  unknownAutomation: { status: 404, code: 'automationNotFound', message: 'The project has no such Automation' },
  notJson: { status: 415, code: 'unsupportedMediaType', message: 'The Content-Type must be application/json' },
  malformedBody: { status: 400, code: 'malformedBody', message: 'The body is not a JSON object' },
  wrongField: { status: 400, code: 'invalidBody', message: 'title and message must be strings' },
  alreadyActive: { status: 422, code: 'runAlreadyActive', message: 'The same Automation is already running' },
  keyReused: {
    status: 422,
    code: 'idempotencyKeyReused',
    message: 'This idempotency key belongs to another request',
  },
  rateLimited: { status: 429, code: 'rateLimited', message: 'Too many requests' },
  noCredits: { status: 402, code: 'insufficientCredits', message: 'The AI credit balance is 0' },
  agentsDiscontinued: {
    status: 410,
    code: 'agentsDiscontinued',
    message: 'Agents are discontinued and no longer start a run: trigger an Automation instead',
  },
} satisfies Record<string, Refusal>;
