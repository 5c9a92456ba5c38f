import type { Target } from './run.ts';

/** One start of a run. Every attempt sends the same idempotency key and the same bytes. */
export interface Trigger {
  baseUrl: string;
  account: string; // fingerprint of the API key: the service scopes idempotency keys by it
  target: Target;
  idempotencyKey: string;
  userProvided: boolean; // the user set the key, and may have used it before; otherwise runctl generated it
  body: string; // the exact bytes of the request
}

/** What the journal knows a trigger by. */
export type TriggerKey = Pick<Trigger, 'baseUrl' | 'target' | 'idempotencyKey'>;
