import { senderOf } from '../journal/processes.ts';
import type { Ports } from '../ports.ts';
import { ageOf, type UnresolvedTrigger } from '../run/entry.ts';
import { type InDoubtReason, reasonToWithhold } from '../run/in-doubt.ts';
import { serviceLimits } from '../run/limits.ts';
import { randomUuid } from '../run/run.ts';
import type { Trigger } from '../run/trigger.ts';
import type { SendOptions } from './send-attempts.ts';
import type { StartRequest, TriggerResult } from './trigger-result.ts';

/** The trigger to send next. If it can't be sent, `result` says how it ended. */
export interface NextTrigger {
  trigger: Trigger;
  sendOptions: SendOptions;
  result?: TriggerResult;
}

/** A trigger that this command has sent. */
export interface SentTrigger {
  trigger: Trigger;
  /** The time since it was first sent. */
  sinceSentMs(): number;
}

/**
 * The trigger for a request. Each has a new idempotency key, unless the user gave one, because a
 * service may repeat the refusal of an old key.
 */
export async function nextTrigger(request: StartRequest, ports: Ports): Promise<NextTrigger> {
  const { idempotencyKey: given } = request;
  const { baseUrl, journal, clock, ignoresKeys } = ports;
  const idempotencyKey = given ?? randomUuid();
  const account = await ports.account(idempotencyKey);
  const userProvided = given !== undefined;
  const trigger: Trigger = { ...request, baseUrl, account, idempotencyKey, userProvided };
  const next = { trigger, sendOptions: { mayRepeatAfterLoss: !ignoresKeys } };
  const recorded = userProvided ? journal.findKey(trigger) : undefined;
  if (!recorded) return next;
  if (recorded.kind === 'run') {
    const { executionId } = recorded;
    return { ...next, result: { kind: 'has_run', executionId, attribution: 'recorded_run' } };
  }
  const reason = reasonNotToReuseKey(recorded, account, ports);
  if (reason) return { ...next, result: { kind: 'in_doubt', reason } };
  const earlier = { ageMs: ageOf(recorded, clock.nowMs()), attempts: recorded.sendingIds };
  return {
    // If the key was sent before, the same bytes are sent again.
    trigger: { ...trigger, body: recorded.body },
    sendOptions: { ...next.sendOptions, earlier },
  };
}

/** The same trigger again, unless another process has recorded a run for it meanwhile. */
export function sameTrigger(
  { trigger, sinceSentMs }: SentTrigger,
  { journal, clock, ignoresKeys }: Ports,
): NextTrigger {
  const recorded = journal.findKey(trigger);
  const recordedAgeMs = recorded?.kind === 'unresolved' ? ageOf(recorded, clock.nowMs()) : 0;
  const earlier = { ageMs: Math.max(sinceSentMs(), recordedAgeMs), sentByThisCommand: true };
  const next = { trigger, sendOptions: { earlier, mayRepeatAfterLoss: !ignoresKeys } };
  if (recorded?.kind !== 'run') return next;
  const { executionId } = recorded;
  return { ...next, result: { kind: 'has_run', executionId, attribution: 'shared_key' } };
}

/** Why the key of an unresolved trigger can't be sent again. Undefined if it can. */
function reasonNotToReuseKey(
  recorded: UnresolvedTrigger,
  account: string,
  { clock, ignoresKeys, processes }: Ports,
): InDoubtReason | undefined {
  if (recorded.account !== account) return { kind: 'other_api_key' };
  const ageMs = ageOf(recorded, clock.nowMs());
  const because = reasonToWithhold(recorded, { ageMs, ignoresKeys });
  // The age isn't known, so the service may have forgotten the key.
  if (because && !Number.isFinite(ageMs)) return { kind: 'withheld', because };
  if (ageMs > serviceLimits.keyRetentionMs) return { kind: 'key_expired' };
  if (!ignoresKeys) return undefined;
  const process = senderOf(recorded, processes, clock.nowMs());
  if (process !== undefined) return { kind: 'sending', process };
  return { kind: 'withheld', because: 'keys_ignored' };
}
