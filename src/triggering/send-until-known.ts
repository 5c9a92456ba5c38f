import { deliveryOf, type Fault, type FaultKind, interrupted } from '../run/fault.ts';
import { defaults } from '../run/limits.ts';
import { isNamedBy, type Target } from '../run/run.ts';
import type { Answer, TriggerRequest } from '../run/service.ts';
import { type RetryOptions, type RetryPorts, retry } from '../service/retry.ts';
import { stopwatch } from '../system/clock.ts';
import { type Evidence, evidenceOf, evidenceOfRecord, type StartedRun } from './start-evidence.ts';
import { eventOf, isEnd, step, type TriggerState } from './trigger-protocol.ts';
import type { RecordedKey, TriggerRecord } from './trigger-record.ts';

export interface TriggerIdentity {
  baseUrl: string;
  /** Fingerprint of the API key. The service scopes idempotency keys by API key. */
  account: string;
  target: Target;
  idempotencyKey: string;
  userProvided: boolean; // the user set the key, and may have used it before; otherwise runctl generated it
}

export interface EarlierUse {
  /** Earlier attempts whose outcome is unknown. The age is that of the first, and infinite if the clock was set back. */
  earlier?: { ageMs: number; isOwn?: boolean }; // `isOwn`: this command made them
  isRecovery?: boolean; // `recover` sends the key, to resolve the earlier attempts
  /** May an attempt be repeated that the service may have acted on? Yes by default, as it honors idempotency keys. */
  isRepeatable?: boolean;
  /** Will this process send the key again although the outcome is unknown after this fault? */
  isContinuedAfter?(fault: Fault): boolean;
}

export interface TriggerPorts<R extends StartedRun = StartedRun> extends RetryPorts {
  service: { trigger(request: TriggerRequest, signal: AbortSignal): Promise<Answer<R>> };
  record: TriggerRecord<R>;
  onRetry?: RetryOptions['onRetry'];
}

export interface StartedTrigger<R extends StartedRun> {
  kind: 'started';
  run: R;
  evidence: Evidence;
  retryAfterMs?: number; // before we ask for the run
}

/** `fault` says why the last attempt failed. */
export type FailedTrigger =
  | { kind: 'refused'; fault: Fault }
  | { kind: 'unknown'; fault: Fault }
  | { kind: 'interrupted'; fault: Fault; mayHaveStarted: boolean };

export type TriggerResult<R extends StartedRun = StartedRun> =
  | StartedTrigger<R>
  /** Another process sent the key, and recorded its run. */
  | { kind: 'recorded'; executionId: string; evidence: Evidence }
  | FailedTrigger;

/** How long to wait for another process that is sending the same key, and how old its attempt may be. */
const othersMs = { wait: 5_000, between: 200, age: 60_000 };

/** Starts one run: every attempt sends the same idempotency key and the same bytes. */
export async function sendUntilKnown<R extends StartedRun>(
  identity: TriggerIdentity,
  body: string,
  ports: TriggerPorts<R>,
  earlierUse: EarlierUse = {},
): Promise<TriggerResult<R>> {
  const { record } = ports;
  const { earlier, isRecovery, isRepeatable = true } = earlierUse;
  const sinceMs = stopwatch(ports.clock);
  const isTooOld = () => (earlier?.ageMs ?? 0) + sinceMs() > defaults.keyRetentionMs;
  let attempts = 0;
  let isInDoubt = earlier?.isOwn === true; // the service may have acted on an attempt of this command
  // What an earlier command left in doubt doesn't concern this one, unless it is to resolve that.
  let state: TriggerState = isInDoubt || (earlier && isRecovery) ? 'in_doubt' : 'ready';

  /** Send, event, step, record. `retry` repeats this until the protocol ends or the time is up. */
  async function attempt(): Promise<Answer<StartedTrigger<R>>> {
    if (attempts === 0) record.sending();
    attempts += 1;
    const wasInDoubt = isInDoubt;
    const isExpired = (wasInDoubt || earlier) && isTooOld();
    const answer = isExpired ? staleKey : await send(identity, body, ports);
    if (answer.kind === 'ok') {
      const { value: run, retryAfterMs } = answer;
      const evidence = evidenceOf(run, { ...identity, isRecovery, wasInDoubt });
      return { kind: 'ok', value: { kind: 'started', run, evidence, retryAfterMs } };
    }
    const { fault } = answer;
    isInDoubt ||= deliveryOf(fault) === 'unknown';
    state = step(state, eventOf(fault));
    if (state === 'in_doubt' && isInDoubt && !wasInDoubt) record.inDoubt(fault, { isLast: false });
    return answer;
  }

  const mayRepeat = () => !isEnd(state) && (isRepeatable || !isInDoubt);
  const tried = await retry(attempt, { ...ports, lane: 'trigger', isRetryable: mayRepeat });
  if (tried.kind === 'ok') {
    const { run, evidence } = tried.value;
    record.started(run, evidence);
    return tried.value;
  }
  const { kind, fault } = tried;
  const isRefused = step(state, 'stopped') === 'refused';
  const wasInDoubt = isInDoubt && !isRefused;
  if (wasInDoubt) record.inDoubt(fault, { isLast: earlierUse.isContinuedAfter?.(fault) !== true });
  // There is no record of a trigger whose turn never came.
  else if (attempts > 0) record.refused(kind === 'interrupted' ? interrupted : fault);
  const recorded = wasInDoubt || isRecovery ? record.readKey() : await waitForOtherSenders(ports);
  if (recorded?.state === 'accepted') {
    const evidence = evidenceOfRecord({ isRecovery, wasInDoubt });
    return { kind: 'recorded', executionId: recorded.executionId, evidence };
  }
  if (kind === 'interrupted') return { kind, fault, mayHaveStarted: !isRefused };
  return { kind: isRefused ? 'refused' : 'unknown', fault };
}

/** One attempt. If the key was used for another target before, the response may name that target's run. */
async function send<R extends StartedRun>(
  { target, idempotencyKey, userProvided }: TriggerIdentity,
  body: string,
  { service, signal }: TriggerPorts<R>,
): Promise<Answer<R>> {
  const answer = await service.trigger({ target, idempotencyKey, body }, signal);
  const isReused = userProvided && answer.kind === 'ok' && !isNamedBy(target, answer.value.document);
  return isReused ? reusedKey(answer.value) : answer;
}

async function waitForOtherSenders({
  record,
  clock,
  signal,
}: Pick<TriggerPorts, 'clock' | 'signal'> & { record: Pick<TriggerRecord, 'readKey'> }): Promise<
  RecordedKey | undefined
> {
  const waitedMs = stopwatch(clock);
  for (;;) {
    const recorded = record.readKey();
    const isWorthIt = recorded?.state === 'open' && recorded.ageMs < othersMs.age && waitedMs() < othersMs.wait;
    if (!isWorthIt || signal.aborted) return recorded;
    await clock.sleep(othersMs.between, signal);
  }
}

const ownFault = (kind: FaultKind, message: string): Answer<never> => ({ kind: 'fault', fault: { kind, message } });

const staleKey = ownFault(
  'stale_key',
  'the idempotency key was first sent more than 24h ago, and the service may have forgotten it',
);

function reusedKey({ executionId, document }: StartedRun): Answer<never> {
  const { automationName } = document;
  return ownFault('reused_key', `the idempotency key has started a run of ${automationName} before (${executionId})`);
}
