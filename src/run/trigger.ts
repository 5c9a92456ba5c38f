import type { Target } from './run.ts';

/** What to do if another run of the automation is active (`--if-active`). */
export type IfActive = 'fail' | 'skip' | 'wait';

/** What one attempt sends. */
export interface TriggerRequest {
  target: Target;
  idempotencyKey: string;
  /** The body of the request. Each attempt sends the same bytes. */
  body: string;
}

/** A request to start one run. It may be sent several times, with the same idempotency key. */
export interface Trigger extends TriggerRequest {
  baseUrl: string;
  /** Fingerprint of the API key, because the service keeps idempotency keys by API key. */
  account: string;
  /** The user gave the idempotency key and may have used it before. Else runctl generated it. */
  userProvided: boolean;
  ifActive?: IfActive;
}

/** What identifies a trigger in the journal. */
export type TriggerKey = Pick<Trigger, 'baseUrl' | 'target' | 'idempotencyKey'>;
