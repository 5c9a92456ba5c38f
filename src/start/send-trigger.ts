import type { Recorder } from '../journal/recorder.ts';
import { type Attribution, attributionOf, attributionOfRecord } from '../run/attribution.ts';
import { ageOf, type RecordedKey } from '../run/entry.ts';
import { abortedFault, deliveryOf, type Fault, type FaultKind } from '../run/fault.ts';
import { defaults } from '../run/limits.ts';
import { isNamedBy } from '../run/run.ts';
import type { Answer, RunStatus, Service } from '../run/service.ts';
import type { Trigger } from '../run/trigger.ts';
import { type RetryOptions, type RetryPorts, retry } from '../service/retry.ts';
import { stopwatch } from '../system/clock.ts';
import { eventOf, isEnd, step, type TriggerState } from './protocol.ts';

export interface EarlierUse {
  /** Earlier attempts whose outcome is unknown. The age is that of the first, and infinite if the clock was set back. */
  earlier?: { ageMs: number; attempts?: readonly string[]; isOwn?: boolean }; // `isOwn`: this command made them
  isRecovery?: boolean; // `recover` sends the key, to resolve the earlier attempts
  /** May an attempt be repeated that the service may have acted on? Yes by default, as it honors idempotency keys. */
  isRepeatable?: boolean;
  /** Will this process send the key again although the outcome is unknown after this fault? */
  isContinuedAfter?(fault: Fault): boolean;
}

export interface SendPorts extends RetryPorts {
  service: Pick<Service, 'trigger'>;
  record: Recorder;
  onRetry?: RetryOptions['onRetry'];
}

export interface StartedTrigger {
  kind: 'started';
  run: RunStatus;
  attribution: Attribution;
  retryAfterMs?: number; // before we ask for the run
}

/** Another process sent the key, and recorded its run. */
export interface RecordedTrigger {
  kind: 'recorded';
  executionId: string;
  attribution: Attribution;
}

/** `fault` says why the last attempt failed. */
export type FailedTrigger =
  | { kind: 'refused' | 'unknown'; fault: Fault; hasNewApiKey?: boolean } // than the one that was refused
  | { kind: 'interrupted'; fault: Fault; mayHaveStarted: boolean };

export type TriggerResult = StartedTrigger | RecordedTrigger | FailedTrigger;

/** How long to wait for another process that is sending the same key, and how old its attempt may be. */
const othersMs = { wait: 5_000, between: 200, age: 60_000 };

/** Starts one run: every attempt sends the same idempotency key and the same bytes. */
export async function sendUntilKnown(
  trigger: Trigger,
  ports: SendPorts,
  earlierUse: EarlierUse = {},
): Promise<TriggerResult> {
  const { record } = ports;
  const { earlier, isRecovery, isRepeatable = true } = earlierUse;
  const sinceMs = stopwatch(ports.clock);
  const isTooOld = () => (earlier?.ageMs ?? 0) + sinceMs() > defaults.keyRetentionMs;
  let attempts = 0;
  let isInDoubt = earlier?.isOwn === true; // the service may have acted on an attempt of this command
  // What an earlier command left in doubt doesn't concern this one, unless it is to resolve that.
  let state: TriggerState = isInDoubt || (earlier && isRecovery) ? 'in_doubt' : 'ready';

  /** Send, event, step, record. `retry` repeats this until the protocol ends or the time is up. */
  async function attempt(leftMs: number): Promise<Answer<StartedTrigger>> {
    if (attempts === 0) record.sending();
    attempts += 1;
    const wasInDoubt = isInDoubt;
    const answer = obstacle(wasInDoubt) ?? (await send(trigger, ports, leftMs));
    if (answer.kind === 'ok') {
      const { value: run, retryAfterMs } = answer;
      const attribution = attributionOf(run, { ...trigger, isRecovery, wasInDoubt });
      return { kind: 'ok', value: { kind: 'started', run, attribution, retryAfterMs } };
    }
    const { fault } = answer;
    isInDoubt ||= deliveryOf(fault) === 'unknown';
    state = step(state, eventOf(fault));
    if (state === 'in_doubt' && isInDoubt && !wasInDoubt) record.inDoubt(fault, { isLast: false });
    return answer;
  }

  /** Why the idempotency key can't be sent. */
  function obstacle(wasInDoubt: boolean): Answer<never> | undefined {
    if ((wasInDoubt || earlier) && isTooOld()) return staleKey;
    // If keys are ignored, every attempt may start a run, so of two processes only the first to record the key sends it.
    return !isRepeatable && attempts === 1 && record.isTaken() ? takenKey : undefined;
  }

  const mayRepeat = () => !isEnd(state) && (isRepeatable || !isInDoubt);
  // With another API key the idempotency key would be a new one, so `startRun` decides whether it is sent with that.
  const options = { ...ports, renewApiKey: undefined };
  const tried = await retry(attempt, { ...options, priority: 'trigger', isRetryable: mayRepeat });
  if (tried.kind === 'ok') {
    const { run, attribution } = tried.value;
    record.started(run, attribution);
    return tried.value;
  }
  const { kind, fault } = tried;
  const isRefused = step(state, 'stopped') === 'refused';
  const wasInDoubt = isInDoubt && !isRefused;
  if (wasInDoubt) record.inDoubt(fault, { isLast: earlierUse.isContinuedAfter?.(fault) !== true });
  // There is no record of a trigger that never got a permit.
  else if (attempts > 0) record.refused(kind === 'interrupted' ? abortedFault : fault);
  const isWaiting = !wasInDoubt && !isRecovery && fault.kind !== 'taken_key';
  const recorded = isWaiting ? await waitForOtherSenders(ports) : record.readKey();
  if (recorded?.kind === 'run') {
    const attribution = attributionOfRecord({ isRecovery, wasInDoubt });
    return { kind: 'recorded', executionId: recorded.executionId, attribution };
  }
  if (kind === 'interrupted') return { kind, fault, mayHaveStarted: !isRefused };
  return { kind: isRefused ? 'refused' : 'unknown', fault };
}

/** One attempt. If the key was used for another target before, the response may name that target's run. */
async function send(trigger: Trigger, { service, signal }: SendPorts, timeoutMs: number): Promise<Answer<RunStatus>> {
  const answer = await service.trigger(trigger, signal, { timeoutMs });
  const isReused = trigger.userProvided && answer.kind === 'ok' && !isNamedBy(trigger.target, answer.value.document);
  return isReused ? reusedKey(answer.value) : answer;
}

async function waitForOtherSenders({ record, clock, signal }: SendPorts): Promise<RecordedKey | undefined> {
  const waitedMs = stopwatch(clock);
  for (;;) {
    const recorded = record.readKey();
    const isYoung = recorded?.kind === 'unresolved' && ageOf(recorded, clock.nowMs()) < othersMs.age;
    if (!isYoung || waitedMs() >= othersMs.wait || signal.aborted) return recorded;
    await clock.sleep(othersMs.between, signal);
  }
}

const ownFault = (kind: FaultKind, message: string): Answer<never> => ({ kind: 'fault', fault: { kind, message } });

const staleKey = ownFault(
  'stale_key',
  'the idempotency key was first sent more than 24h ago, and the service may have forgotten it',
);

const takenKey = ownFault('taken_key', 'another process is sending the same idempotency key');

function reusedKey({ executionId, document }: RunStatus): Answer<never> {
  const { automationName } = document;
  return ownFault('reused_key', `the idempotency key has started a run of ${automationName} before (${executionId})`);
}
