import { faultAfterReload } from '../run/api-key-reload.ts';
import { attributionOf, attributionOfRecord } from '../run/attribution.ts';
import { ageOf, type RecordedKey } from '../run/entry.ts';
import { abortedFault, type Fault } from '../run/fault.ts';
import type { InDoubtReason } from '../run/in-doubt.ts';
import type { Trigger } from '../run/trigger.ts';
import { stopwatch } from '../system/clock.ts';
import { type Attempts, isInDoubt, type SendPorts } from './send-attempts.ts';
import type { TriggerResult } from './trigger-result.ts';

type SuccessfulAttempts = Extract<Attempts, { kind: 'ok' }>;
type FailedAttempts = Extract<Attempts, { kind: 'fault' }>;

/**
 * Records how the attempts of a trigger ended, and then reads whether another process has got a run
 * with the same key. Never the other way around: until their end is recorded, these attempts look
 * like those of another process that is still sending.
 */
export async function settle(
  attempts: Attempts,
  { isLast }: { isLast: boolean }, // this command won't send the trigger again
  trigger: Trigger,
  ports: SendPorts,
): Promise<TriggerResult> {
  if (attempts.kind === 'ok') return recordRun(attempts, trigger, ports);
  const { fault, hasOwnAttemptInDoubt, resolvesEarlierAttempts, isInterrupted } = attempts;
  const isTriggerInDoubt = isInDoubt(attempts, fault);
  const mayHaveStarted = isTriggerInDoubt && hasOwnAttemptInDoubt;
  recordFailure(attempts, { mayHaveStarted, isLast }, ports);

  const isReadAtOnce = isTriggerInDoubt || resolvesEarlierAttempts;
  const recorded = isReadAtOnce ? ports.record.readKey() : await readKeyAfterOtherSenders(ports);
  if (recorded?.kind === 'run') {
    const attribution = attributionOfRecord({
      resolvesEarlierAttempts,
      hasOwnAttemptInDoubt: mayHaveStarted,
    });
    return { kind: 'has_run', executionId: recorded.executionId, attribution };
  }
  const isRefused = fault.kind === 'unauthorized';
  const failure = isRefused ? await afterReadingApiKey(fault, ports) : { fault, isInterrupted };
  if (!isTriggerInDoubt) return { kind: 'no_run', ...failure };
  if (failure.isInterrupted) return { kind: 'in_doubt', reason: { kind: 'signal' } };
  return { kind: 'in_doubt', reason: inDoubtReasonOf(failure.fault, recorded) };
}

/** Records the run that the service returned. */
function recordRun(
  {
    value: snapshot,
    retryAfterMs,
    resolvesEarlierAttempts,
    hasOwnAttemptInDoubt,
  }: SuccessfulAttempts,
  { userProvided }: Trigger,
  { record }: SendPorts,
): TriggerResult {
  const attribution = attributionOf(snapshot, {
    userProvided,
    resolvesEarlierAttempts,
    hasOwnAttemptInDoubt,
  });
  record.accepted(snapshot, attribution);
  const response = { snapshot, retryAfterMs };
  return { kind: 'has_run', executionId: snapshot.executionId, attribution, response };
}

function recordFailure(
  { fault, count, isInterrupted }: FailedAttempts,
  { mayHaveStarted, isLast }: { mayHaveStarted: boolean; isLast: boolean },
  { record }: SendPorts,
): void {
  if (mayHaveStarted) record.inDoubt(fault, { isLast });
  // There is no record of a trigger that was never sent.
  else if (count > 0) record.refused(isInterrupted ? abortedFault : fault);
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

interface Failure {
  fault: Fault;
  isInterrupted?: boolean;
  hasNewApiKey?: boolean;
}

/** Reads a refused API key again, and says whether there is another one by now. */
async function afterReadingApiKey(
  refused: Fault,
  { reloadApiKey, signal }: SendPorts,
): Promise<Failure> {
  const reload = await reloadApiKey(refused);
  if (signal.aborted) return { fault: refused, isInterrupted: true };
  return { fault: faultAfterReload(refused, reload), hasNewApiKey: reload.kind === 'changed' };
}

function inDoubtReasonOf(fault: Fault, recorded: RecordedKey | undefined): InDoubtReason {
  if (fault.kind === 'key_expired') return { kind: 'expired' };
  if (fault.kind !== 'key_in_use') return { kind: 'last_attempt_failed', fault };
  const [sender] = recorded?.kind === 'unresolved' ? recorded.senders : [];
  return sender ? { kind: 'sending', process: sender.process } : { kind: 'withheld' };
}
