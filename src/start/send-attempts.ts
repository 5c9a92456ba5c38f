import type { Recorder } from '../journal/recorder.ts';
import {
  expiredKeyFault,
  keyInUseFault,
  keyOfOtherAutomationFault,
} from '../messages/own-faults.ts';
import type { ApiKeyReload } from '../run/api-key-reload.ts';
import { deliveryOf, type Fault, isRetryable } from '../run/fault.ts';
import { serviceLimits } from '../run/limits.ts';
import { isNamedBy } from '../run/run.ts';
import type { Answer, RunSnapshot, Service } from '../run/service.ts';
import type { Trigger } from '../run/trigger.ts';
import { type LastAnswer, type RetryOptions, type RetryPorts, retry } from '../service/retry.ts';
import { stopwatch } from '../system/clock.ts';

/** What has become of the idempotency key so far, and what sending it may do. */
export interface SendOptions {
  /** Earlier attempts that are in doubt. */
  earlier?: EarlierAttempts;
  /**
   * The command is `recover`, which has to say how the earlier attempts ended. Any other command
   * reports on its own attempts.
   */
  resolvesEarlierAttempts?: boolean;
  /** An attempt whose response was lost may be repeated. */
  mayRepeatAfterLoss: boolean;
}

interface EarlierAttempts {
  /** The age of the first of them. It is infinite if the clock was set back. */
  ageMs: number;
  /** Their ids in the journal. */
  attempts?: readonly string[];
  sentByThisCommand?: boolean;
}

export interface SendPorts extends RetryPorts {
  service: Pick<Service, 'trigger'>;
  record: Recorder;
  reloadApiKey(refused: Fault): Promise<ApiKeyReload>;
  onRetry?: RetryOptions['onRetry'];
}

/**
 * How the attempts of one trigger went: the last answer, and whether an attempt before it is in
 * doubt, which that answer doesn't say.
 */
export type Attempts = LastAnswer<RunSnapshot> & AttemptsSoFar;
export type SuccessfulAttempts = Extract<Attempts, { kind: 'ok' }>;
export type FailedAttempts = Extract<Attempts, { kind: 'fault' }>;

interface AttemptsSoFar {
  /** The trigger has a record, which is written before the first attempt. */
  isRecorded: boolean;
  /** An attempt of this command is in doubt: the service may have acted on it. */
  hasOwnAttemptInDoubt: boolean;
}

/**
 * Sends a trigger until it has a run or no further attempt is worth it: every attempt has the same
 * idempotency key and the same bytes. The first one is recorded before it is sent. How they ended
 * is recorded by `settle`.
 */
export async function sendAttempts(
  trigger: Trigger,
  sendOptions: SendOptions,
  ports: SendPorts,
): Promise<Attempts> {
  const { record, clock } = ports;
  const { earlier, mayRepeatAfterLoss } = sendOptions;
  const elapsedMs = stopwatch(clock);
  const isTooOld = () => (earlier?.ageMs ?? 0) + elapsedMs() > serviceLimits.keyRetentionMs;
  const soFar: AttemptsSoFar = {
    isRecorded: false,
    hasOwnAttemptInDoubt: earlier?.sentByThisCommand === true,
  };

  async function attempt(timeoutMs: number): Promise<Answer<RunSnapshot>> {
    const isFirst = !soFar.isRecorded;
    // It is recorded before `keyFault` reads the journal: of two processes that get here at once,
    // each sees both records, and only the one whose record is the first goes on.
    if (isFirst) record.triggered();
    soFar.isRecorded = true;
    const unsendable = keyFault(isFirst);
    const answer: Answer<RunSnapshot> = unsendable
      ? { kind: 'fault', fault: unsendable }
      : await sendRequest(trigger, ports, timeoutMs);
    if (answer.kind === 'fault') noteInDoubt(answer.fault);
    return answer;
  }

  /** Why the idempotency key can't be sent. */
  function keyFault(isFirst: boolean): Fault | undefined {
    const mayHaveRun = soFar.hasOwnAttemptInDoubt || earlier !== undefined;
    if (mayHaveRun && isTooOld()) return expiredKeyFault;
    // If keys are ignored, every attempt may start a run, so of two processes only the first to
    // record the key sends it.
    return !mayRepeatAfterLoss && isFirst && record.isTaken() ? keyInUseFault : undefined;
  }

  /** Notes whether an attempt is in doubt, and records the first one if another attempt follows. */
  function noteInDoubt(fault: Fault): void {
    // The service repeats its first response to the key, so none of the attempts started a run of
    // this target.
    if (fault.kind === 'key_of_other_automation') soFar.hasOwnAttemptInDoubt = false;
    if (soFar.hasOwnAttemptInDoubt || deliveryOf(fault) !== 'unknown') return;
    soFar.hasOwnAttemptInDoubt = true;
    // After a fault that can't be retried, `settle` records it at once.
    if (isRetryable(fault)) record.inDoubt(fault, { isLast: false });
  }

  const last = await retry(attempt, {
    ...ports,
    priority: 'trigger',
    isRetryable: (fault) =>
      isRetryable(fault) && (mayRepeatAfterLoss || !soFar.hasOwnAttemptInDoubt),
    // With another API key the idempotency key would be a new one, so `startRun` decides whether it
    // is sent with that.
    reloadApiKey: undefined,
  });
  return { ...last, ...soFar };
}

/**
 * Whether the trigger is in doubt after these attempts: it may have started a run whose id isn't
 * known. Only an id ends the doubt, because a refusal may only concern the last attempt.
 *
 * | the last attempt ended with                         | not in doubt before | in doubt before |
 * | --------------------------------------------------- | ------------------- | --------------- |
 * | a complete refusal: 401, 402, 422, 429 and so on    | no                  | yes             |
 * | nothing sent: no name, no connection, bad TLS       | no                  | yes             |
 * | lost: timeout, reset, 5xx, 408, 409, no JSON        | yes                 | yes             |
 * | `key_of_other_automation`: the run is of another    | no                  | no              |
 * | `key_expired`, `key_in_use`: the key can't be sent  | yes                 | yes             |
 *
 * Which answers are refusals and which are lost is in the column `delivery` of `run/fault.ts`.
 * `hasOwnAttemptInDoubt` is true after a lost response, and false after `key_of_other_automation`.
 */
export function isInDoubt(
  { fault: { kind }, hasOwnAttemptInDoubt }: FailedAttempts,
  { resolvesEarlierAttempts = false }: SendOptions,
): boolean {
  // Neither these attempts nor earlier ones started a run of this target.
  if (kind === 'key_of_other_automation') return false;
  // Another command has sent the key and may have a run. This one doesn't send it to find out.
  if (kind === 'key_expired' || kind === 'key_in_use') return true;
  return hasOwnAttemptInDoubt || resolvesEarlierAttempts;
}

/**
 * Sends one request. If the key was used for another target before, the response may name the run
 * of that target, which is a fault.
 */
async function sendRequest(
  trigger: Trigger,
  { service, signal }: SendPorts,
  timeoutMs: number,
): Promise<Answer<RunSnapshot>> {
  const answer = await service.trigger(trigger, signal, { timeoutMs });
  if (answer.kind === 'fault' || !trigger.userProvided) return answer;
  const { value } = answer;
  const isOfTarget = isNamedBy(trigger.target, value.document);
  return isOfTarget ? answer : { kind: 'fault', fault: keyOfOtherAutomationFault(value) };
}
