import { type Refusal, type Reply, refusals } from './reply.ts';
import type { ServiceRequest } from './request.ts';

/** The answer that each idempotency key got. Every API key has idempotency keys of its own. */
export interface AnsweredKeys {
  /** The answer that the request's key has had, or a refusal where the key was used for something else. */
  recall(request: ServiceRequest): { reply: Reply } | { refusal: Refusal } | undefined;
  /** The first answer to a key stays: no conflict with its own run takes its place. */
  store(request: ServiceRequest, reply: Reply): void;
}

export function createAnsweredKeys(): AnsweredKeys {
  const answers = new Map<string, { fingerprint: string; reply: Reply }>();
  return {
    recall(request) {
      const earlier = answers.get(scopeOf(request) ?? '');
      if (!earlier) return undefined;
      return earlier.fingerprint === fingerprintOf(request)
        ? { reply: earlier.reply }
        : { refusal: refusals.keyReused };
    },
    store(request, reply) {
      const scope = scopeOf(request);
      if (scope && !answers.has(scope)) answers.set(scope, { fingerprint: fingerprintOf(request), reply });
    },
  };
}

function scopeOf({ headers }: ServiceRequest): string | undefined {
  const key = headers['idempotency-key'];
  return key ? JSON.stringify([headers['x-api-key'], key]) : undefined;
}

const fingerprintOf = ({ url, body }: ServiceRequest) => JSON.stringify([url, body]);
