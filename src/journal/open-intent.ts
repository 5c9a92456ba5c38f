import type { Target } from '../runs/run.ts';
import { targetOf } from './target-path.ts';
import type { OpenTrigger } from './triggers-of.ts';

/** A trigger that was sent, or about to be, and whose outcome is unknown. */
export interface OpenIntent {
  account: string;
  target: Target;
  idempotencyKey: string;
  /** The exact bytes that were sent. */
  body: string;
  /** Did the user choose the key? */
  given: boolean;
  /** When it was first sent, ISO 8601. */
  at: string;
  ageMs: number;
  /** Why the last attempt is in doubt; undefined when the program ended before it could tell. */
  reason?: string;
}

export function openIntentOf({ intent, reason }: OpenTrigger, nowMs: number): OpenIntent {
  const { account, idempotencyKey, body, given, at } = intent;
  return {
    account,
    target: targetOf(intent.target),
    idempotencyKey,
    body,
    given,
    at,
    ageMs: nowMs - Date.parse(at),
    reason,
  };
}
