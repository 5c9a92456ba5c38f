import type { Fault } from '../run/fault.ts';
import { quotedName } from '../run/quote.ts';
import type { RunSnapshot } from '../run/service.ts';
import type { Trigger } from '../run/trigger.ts';

// The faults that starting and watching a run find themselves, rather than the HTTP client. A fault
// needs a clause that says what happened, so they are made here.

/** The service may have forgotten the idempotency key. */
export const expiredKeyFault: Fault = {
  kind: 'key_expired',
  message:
    'the idempotency key was first sent more than 24h ago, and the service may have forgotten it',
};

/** Another process was first to record the idempotency key. */
export const keyInUseFault: Fault = {
  kind: 'key_in_use',
  message: 'another process is sending the same idempotency key',
};

/** The idempotency key was used for another Automation, whose run the service returned. */
export function keyOfOtherAutomationFault({ executionId, document }: RunSnapshot): Fault {
  const run = `a run of ${document.automationName}`;
  return {
    kind: 'key_of_other_automation',
    message: `the idempotency key has started ${run} before (${executionId})`,
  };
}

/** The service repeats the refusal of this key, although the run that it names has finished. */
export function keyOfFinishedRunFault({ target, idempotencyKey }: Trigger): Fault {
  const run = `a run of ${quotedName(target)}`;
  return {
    kind: 'key_of_finished_run',
    message: `the idempotency key ${idempotencyKey} belongs to ${run} that has finished`,
  };
}

/**
 * The refusal of an API key, if there is another one that can't be used: with that, the service
 * would take the idempotency key for a new one.
 */
export function withUnusedApiKeyHint(refusal: Fault): Fault {
  const reason = "it isn't used for this idempotency key, because a second run could start";
  return { ...refusal, hint: `${reason}. If no run is active, trigger again` };
}

/** The time for reading a result has passed, and no request failed before. */
export const resultTimeoutFault: Fault = { kind: 'lost', message: '`--timeout` expired' };

/** The run has finished, but its result says that it hasn't. */
export const unfinishedResultFault = (status: string): Fault => ({
  kind: 'unreadable',
  message: `the result still says ${status}`,
});
