import { exitNameOf } from '../problems/watch-problems.ts';
import { defaults } from '../runs/defaults.ts';
import type { TriggerRecord } from '../runs/trigger.ts';
import type { Journal } from './journal.ts';
import type { Request } from './record.ts';

export interface TriggerIdentity extends Request {
  /** The exact bytes that are sent. */
  body: string;
  /** Was the key given by the user? */
  given: boolean;
}

/** Keeps the record of one trigger in the journal. */
export function createTriggerRecord(journal: Journal, identity: TriggerIdentity): TriggerRecord {
  const { body, given, ...request } = identity;
  const attempt = crypto.randomUUID();
  return {
    intent: () => journal.append({ type: 'intent', ...request, body, given, attempt }),
    doubtful: (fault) => journal.append({ type: 'doubtful', ...request, reason: fault.message }),
    started: ({ executionId, startedAt, status }) =>
      journal.append({ type: 'accepted', ...request, executionId, startedAt, status }),
    refused(fault) {
      // Whatever was sent with a key that something else had used was answered with that.
      if (fault.kind === 'reused_key') journal.append({ type: 'forgotten', ...request });
      return journal.append({ type: 'refused', ...request, name: exitNameOf(fault), attempt });
    },
    look() {
      const known = journal.findKey(request);
      return known?.state === 'open' ? { state: 'open', ageMs: known.intent.ageMs } : known;
    },
    mayBeOfAnother(executionId) {
      const { baseUrl, target, idempotencyKey: ours } = request;
      const known = journal.find(executionId, { baseUrl, anew: true });
      const open = journal.openIntents({ baseUrl, target, maxAgeMs: defaults.keyRetentionMs });
      return (known ? [known, ...open] : open).some(({ idempotencyKey }) => idempotencyKey !== ours);
    },
  };
}
