import type { Recorder } from '../journal/recorder.ts';
import type { ApiKeyReload } from '../run/api-key-reload.ts';
import { deliveryOf, type Fault, type FaultKind, isRetryable } from '../run/fault.ts';
import { defaults } from '../run/limits.ts';
import { isNamedBy } from '../run/run.ts';
import type { Answer, RunSnapshot, Service } from '../run/service.ts';
import type { Trigger } from '../run/trigger.ts';
import { type Retried, type RetryOptions, type RetryPorts, retry } from '../service/retry.ts';
import { stopwatch } from '../system/clock.ts';

/** What is known of the idempotency key before this command sends it. */
export interface KeyHistory {
  /**
   * Earlier attempts whose outcome is unknown. The age is that of the first, and infinite if the
   * clock was set back. `isOwn`: this command made them.
   */
  earlier?: { ageMs: number; attempts?: readonly string[]; isOwn?: boolean };
  /** `recover` sends the key, to resolve the earlier attempts. */
  isRecovery?: boolean;
  /** The service honors the key, so an attempt that it may have acted on can be repeated. */
  honorsKeys: boolean;
}

export interface SendPorts extends RetryPorts {
  service: Pick<Service, 'trigger'>;
  record: Recorder;
  reloadApiKey(refused: Fault): Promise<ApiKeyReload>;
  onRetry?: RetryOptions['onRetry'];
}

/**
 * How the attempts of one trigger went: the last answer, and what it doesn't say of those before.
 */
export type Attempts = Retried<RunSnapshot> & AttemptsSoFar;

interface AttemptsSoFar {
  count: number;
  /** The service may have acted on an attempt of this command. */
  isOwnInDoubt: boolean;
  /** Or on one of an earlier command, which `recover` is to resolve. */
  isRecovery: boolean;
}

/**
 * Sends a trigger until it has a run or no further attempt is worth it: every attempt has the same
 * idempotency key and the same bytes. The first one is recorded before it is sent. How they ended
 * is recorded by `settle`.
 */
export async function sendAttempts(
  trigger: Trigger,
  history: KeyHistory,
  ports: SendPorts,
): Promise<Attempts> {
  const { record, clock } = ports;
  const { earlier, isRecovery = false, honorsKeys } = history;
  const sinceMs = stopwatch(clock);
  const isTooOld = () => (earlier?.ageMs ?? 0) + sinceMs() > defaults.keyRetentionMs;
  const soFar: AttemptsSoFar = {
    count: 0,
    isOwnInDoubt: earlier?.isOwn === true,
    // Only `recover` has to resolve the attempts of an earlier command. Any other command reports
    // on its own attempts.
    isRecovery,
  };

  async function attempt(leftMs: number): Promise<Answer<RunSnapshot>> {
    const isFirst = soFar.count === 0;
    if (isFirst) record.sending();
    soFar.count += 1;
    const answer = obstacle(isFirst) ?? (await sendOnce(trigger, ports, leftMs));
    if (answer.kind === 'ok' || soFar.isOwnInDoubt || deliveryOf(answer.fault) !== 'unknown')
      return answer;
    soFar.isOwnInDoubt = true;
    // After a fault that can't be retried, no attempt follows, so `settle` records it at once.
    if (isRetryable(answer.fault)) record.inDoubt(answer.fault, { isLast: false });
    return answer;
  }

  /** Why the idempotency key can't be sent. */
  function obstacle(isFirst: boolean): Answer<never> | undefined {
    const mayHaveRun = soFar.isOwnInDoubt || earlier !== undefined;
    if (mayHaveRun && isTooOld()) return staleKey;
    // If keys are ignored, every attempt may start a run, so of two processes only the first to
    // record the key sends it.
    return !honorsKeys && isFirst && record.isTaken() ? takenKey : undefined;
  }

  const last = await retry(attempt, {
    ...ports,
    priority: 'trigger',
    isRetryable: (fault) => isRetryable(fault) && (honorsKeys || !soFar.isOwnInDoubt),
    // With another API key the idempotency key would be a new one, so `startRun` decides whether it
    // is sent with that.
    reloadApiKey: undefined,
  });
  return { ...last, ...soFar };
}

/**
 * Could a run have been started whose id we don't know? Only an id resolves that: a refusal may
 * only concern the last attempt.
 *
 * | the last attempt ended with                             | nothing in doubt before | an attempt in doubt |
 * | ------------------------------------------------------- | ----------------------- | ------------------- |
 * | 401, 402, 422 and other complete refusals; 429          | no                      | yes                 |
 * | nothing that was sent: no name, no connection, bad TLS  | no                      | yes                 |
 * | a lost response: timeout, reset, 5xx, 408, 409, no JSON | yes                     | yes                 |
 * | the key has a run of another target (`reused_key`)      | no                      | no                  |
 * | the key can't be sent (`stale_key`, `taken_key`)        | yes                     | yes                 |
 *
 * Which answers are refusals and which are lost is in the column `delivery` of `run/fault.ts`.
 * After a lost response `isOwnInDoubt` is true.
 */
export function isInDoubt({ isOwnInDoubt, isRecovery }: AttemptsSoFar, { kind }: Fault): boolean {
  // The service repeats its first response to the key, so none of the attempts started a run of
  // this target.
  if (kind === 'reused_key') return false;
  // Somebody has sent the key, and this command doesn't send it to find out what became of that.
  if (kind === 'stale_key' || kind === 'taken_key') return true;
  return isOwnInDoubt || isRecovery;
}

/**
 * One attempt. If the key was used for another target before, the response may name that target's
 * run.
 */
async function sendOnce(
  trigger: Trigger,
  { service, signal }: SendPorts,
  timeoutMs: number,
): Promise<Answer<RunSnapshot>> {
  const answer = await service.trigger(trigger, signal, { timeoutMs });
  const isReused =
    trigger.userProvided &&
    answer.kind === 'ok' &&
    !isNamedBy(trigger.target, answer.value.document);
  return isReused ? reusedKey(answer.value) : answer;
}

const ownFault = (kind: FaultKind, message: string): Answer<never> => ({
  kind: 'fault',
  fault: { kind, message },
});

const staleKey = ownFault(
  'stale_key',
  'the idempotency key was first sent more than 24h ago, and the service may have forgotten it',
);

const takenKey = ownFault('taken_key', 'another process is sending the same idempotency key');

function reusedKey({ executionId, document }: RunSnapshot): Answer<never> {
  const { automationName } = document;
  return ownFault(
    'reused_key',
    `the idempotency key has started a run of ${automationName} before (${executionId})`,
  );
}
