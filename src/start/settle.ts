import { faultAfterReload } from '../run/api-key-reload.ts';
import { attributionOf, attributionOfRecord } from '../run/attribution.ts';
import { ageOf, type RecordedKey, type UnresolvedTrigger } from '../run/entry.ts';
import { type Fault, interruptedFault } from '../run/fault.ts';
import type { InDoubtReason } from '../run/in-doubt.ts';
import type { Trigger } from '../run/trigger.ts';
import { stopwatch } from '../system/clock.ts';
import {
  type Attempts,
  type FailedAttempts,
  isInDoubt,
  type SendOptions,
  type SendPorts,
  type SuccessfulAttempts,
} from './send-attempts.ts';
import type { NoRunOfTrigger, TriggerResult } from './trigger-result.ts';

export interface SettleOptions {
  trigger: Trigger;
  sendOptions: SendOptions;
  /** This command won't send the trigger again. */
  isLast: boolean;
}

/**
 * Makes the result of a trigger from its attempts, in three steps whose order is fixed: it records
 * how the attempts ended, then reads whether another process has got a run with the same key, and
 * then decides. Until their end is recorded, they look like the attempts of another process
 * that is still sending.
 */
export async function settle(
  attempts: Attempts,
  options: SettleOptions,
  ports: SendPorts,
): Promise<TriggerResult> {
  if (attempts.kind === 'ok') return recordRun(attempts, options, ports);
  const isTriggerInDoubt = isInDoubt(attempts, options.sendOptions);
  recordFailure(attempts, options, ports);
  const recorded = await readKey(isTriggerInDoubt, options.sendOptions, ports);
  return recorded?.kind === 'run'
    ? resultWithRunOfOthers(recorded.executionId, attempts, options.sendOptions)
    : resultWithoutRun(attempts, isTriggerInDoubt, recorded, ports);
}

/** Records the run that the service returned. */
function recordRun(
  { value: snapshot, retryAfterMs, hasOwnAttemptInDoubt }: SuccessfulAttempts,
  { trigger, sendOptions }: SettleOptions,
  { record }: SendPorts,
): TriggerResult {
  const attribution = attributionOf(snapshot, {
    userProvided: trigger.userProvided,
    resolvesEarlierAttempts: sendOptions.resolvesEarlierAttempts,
    hasOwnAttemptInDoubt,
  });
  record.accepted(snapshot, attribution);
  const response = { snapshot, retryAfterMs };
  return { kind: 'has_run', executionId: snapshot.executionId, attribution, response };
}

/** A trigger of which no attempt was made has no record, so its end isn't recorded, either. */
function recordFailure(
  { fault, isRecorded, hasOwnAttemptInDoubt, isInterrupted }: FailedAttempts,
  { isLast }: SettleOptions,
  { record }: SendPorts,
): void {
  if (hasOwnAttemptInDoubt) record.inDoubt(fault, { isLast });
  else if (isRecorded) record.refused(isInterrupted ? interruptedFault : fault);
}

/**
 * Reads what the journal has of the key, after the attempts of other processes if this command's
 * are all refused. An attempt in doubt would look like one of them, and `recover` sends no key that
 * another process is sending.
 */
async function readKey(
  isTriggerInDoubt: boolean,
  { resolvesEarlierAttempts }: SendOptions,
  ports: SendPorts,
): Promise<RecordedKey | undefined> {
  const isReadAtOnce = isTriggerInDoubt || resolvesEarlierAttempts;
  return isReadAtOnce ? ports.record.readKey() : readKeyAfterOtherSenders(ports);
}

/** Another process that is sending the same key is waited for, if its attempt isn't too old. */
const otherSenders = { maxWaitMs: 5_000, betweenMs: 200, maxAgeMs: 60_000 };

/** Reads what the journal has of the key, once no other process is sending it any more. */
async function readKeyAfterOtherSenders(ports: SendPorts): Promise<RecordedKey | undefined> {
  const { record, clock, signal } = ports;
  const { maxWaitMs, betweenMs, maxAgeMs } = otherSenders;
  const waitedMs = stopwatch(clock);
  for (;;) {
    const recorded = record.readKey();
    const isBeingSent =
      recorded?.kind === 'unresolved' && ageOf(recorded, clock.nowMs()) < maxAgeMs;
    if (!isBeingSent || waitedMs() >= maxWaitMs || signal.aborted) return recorded;
    await clock.sleep(betweenMs, signal);
  }
}

/** Another process has got a run with the same key. */
function resultWithRunOfOthers(
  executionId: string,
  { hasOwnAttemptInDoubt }: FailedAttempts,
  { resolvesEarlierAttempts }: SendOptions,
): TriggerResult {
  const attribution = attributionOfRecord({ resolvesEarlierAttempts, hasOwnAttemptInDoubt });
  return { kind: 'has_run', executionId, attribution };
}

/** Neither the service nor the journal has named a run. */
async function resultWithoutRun(
  { fault, isInterrupted }: FailedAttempts,
  isTriggerInDoubt: boolean,
  recorded: UnresolvedTrigger | undefined,
  ports: SendPorts,
): Promise<TriggerResult> {
  const isApiKeyRefused = fault.kind === 'unauthorized';
  const failure = isApiKeyRefused
    ? await failureAfterReload(fault, ports)
    : { fault, isInterrupted };
  if (!isTriggerInDoubt) return { kind: 'no_run', ...failure };
  if (failure.isInterrupted) return { kind: 'in_doubt', reason: { kind: 'interrupted' } };
  return { kind: 'in_doubt', reason: inDoubtReasonOf(failure.fault, recorded) };
}

/** Why the last attempt failed, after a refused API key was read again. */
type Failure = Pick<NoRunOfTrigger, 'fault' | 'isInterrupted' | 'hasNewApiKey'>;

/** Reads a refused API key again, and says whether there is another one by now. */
async function failureAfterReload(
  refused: Fault,
  { reloadApiKey, signal }: SendPorts,
): Promise<Failure> {
  const reload = await reloadApiKey(refused);
  if (signal.aborted) return { fault: refused, isInterrupted: true };
  return { fault: faultAfterReload(refused, reload), hasNewApiKey: reload.kind === 'changed' };
}

function inDoubtReasonOf(fault: Fault, recorded: UnresolvedTrigger | undefined): InDoubtReason {
  if (fault.kind === 'key_expired') return { kind: 'key_expired' };
  if (fault.kind !== 'key_in_use') return { kind: 'last_attempt_failed', fault };
  const [sender] = recorded?.senders ?? [];
  // Only a key that the service ignores is left to the process that is using it.
  if (!sender) return { kind: 'withheld', because: 'keys_ignored' };
  return { kind: 'sending', process: sender.process };
}
