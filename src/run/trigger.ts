import type { Target } from './run.ts';

/** What `--if-active` says: what to do if another run of the automation is active. */
export type IfActive = 'fail' | 'skip' | 'wait';

/** What one attempt sends. */
export interface TriggerRequest {
  target: Target;
  idempotencyKey: string;
  /** The exact bytes. */
  body: string;
}

/** One start of a run. Every attempt sends the same idempotency key and the same bytes. */
export interface Trigger extends TriggerRequest {
  baseUrl: string;
  /** Fingerprint of the API key: the service scopes idempotency keys by it. */
  account: string;
  /** The user set the key, and may have used it before; otherwise runctl generated it. */
  userProvided: boolean;
  ifActive?: IfActive;
}

/** What the journal knows a trigger by. */
export type TriggerKey = Pick<Trigger, 'baseUrl' | 'target' | 'idempotencyKey'>;
