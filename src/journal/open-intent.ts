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
  /** Infinite where a clock that was set back leaves it unknown. */
  ageMs: number;
  /** Why the last attempt is in doubt; undefined when the program ended before it could tell. */
  reason?: string;
}

/** What two readings of a clock that is kept in step may differ by. */
const clockSkewMs = 300_000;

export function openIntentOf({ intent, reason }: OpenTrigger, nowMs: number): OpenIntent {
  const { account, idempotencyKey, body, given, at } = intent;
  const ageMs = nowMs - Date.parse(at);
  return {
    account,
    target: targetOf(intent.target),
    idempotencyKey,
    body,
    given,
    at,
    ageMs: ageMs < -clockSkewMs ? Number.POSITIVE_INFINITY : ageMs,
    reason,
  };
}
