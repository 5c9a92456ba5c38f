import { faultAfterReload } from '../run/api-key-reload.ts';
import { attributionOf, attributionOfRecord } from '../run/attribution.ts';
import { ageOf, type RecordedKey } from '../run/entry.ts';
import { abortedFault, type Fault } from '../run/fault.ts';
import type { InDoubtReason } from '../run/outcome.ts';
import type { Trigger } from '../run/trigger.ts';
import { stopwatch } from '../system/clock.ts';
import { type Attempts, isInDoubt, type SendPorts } from './send-attempts.ts';
import type { TriggerResult } from './trigger-result.ts';

/**
 * Records how the attempts of a trigger ended, and then reads whether another process has got a run
 * with the same key. Never the other way around: until their end is recorded, these attempts look
 * like those of another process that is still sending.
 */
export async function settle(
  attempts: Attempts,
  { isLast }: { isLast: boolean }, // this command won't send the trigger again
  { userProvided }: Trigger,
  ports: SendPorts,
): Promise<TriggerResult> {
  const { record } = ports;
  const { isOwnInDoubt, isRecovery, isInterrupted } = attempts;
  if (attempts.kind === 'ok') {
    const { value: snapshot, retryAfterMs } = attempts;
    const attribution = attributionOf(snapshot, { userProvided, isRecovery, isOwnInDoubt });
    record.started(snapshot, attribution);
    return {
      kind: 'has_run',
      executionId: snapshot.executionId,
      attribution,
      response: { snapshot, retryAfterMs },
    };
  }
  const { fault } = attempts;
  const isTriggerInDoubt = isInDoubt(attempts, fault);
  const mayHaveStarted = isOwnInDoubt && isTriggerInDoubt;
  if (mayHaveStarted) record.inDoubt(fault, { isLast });
  // There is no record of a trigger that was never sent.
  else if (attempts.count > 0) record.refused(isInterrupted ? abortedFault : fault);
  const recorded =
    isTriggerInDoubt || isRecovery ? record.readKey() : await waitForOtherSenders(ports);
  if (recorded?.kind === 'run') {
    const attribution = attributionOfRecord({ isRecovery, isOwnInDoubt: mayHaveStarted });
    return { kind: 'has_run', executionId: recorded.executionId, attribution };
  }
  const failure =
    fault.kind === 'unauthorized'
      ? await afterReadingApiKey(fault, ports)
      : { fault, isInterrupted };
  if (!isTriggerInDoubt) return { kind: 'no_run', ...failure };
  if (failure.isInterrupted) return { kind: 'in_doubt', reason: { kind: 'signal' } };
  return { kind: 'in_doubt', reason: inDoubtReasonOf(failure.fault, recorded) };
}

/**
 * How long to wait for another process that is sending the same key, and how old its attempt may
 * be.
 */
const othersMs = { wait: 5_000, between: 200, age: 60_000 };

async function waitForOtherSenders({
  record,
  clock,
  signal,
}: SendPorts): Promise<RecordedKey | undefined> {
  const waitedMs = stopwatch(clock);
  for (;;) {
    const recorded = record.readKey();
    const isYoung =
      recorded?.kind === 'unresolved' && ageOf(recorded, clock.nowMs()) < othersMs.age;
    if (!isYoung || waitedMs() >= othersMs.wait || signal.aborted) return recorded;
    await clock.sleep(othersMs.between, signal);
  }
}

interface Failure {
  fault: Fault;
  isInterrupted?: boolean;
  hasNewApiKey?: boolean;
}

/** Says of a refusal of the API key whether there is another one by now. */
async function afterReadingApiKey(
  refused: Fault,
  { reloadApiKey, signal }: SendPorts,
): Promise<Failure> {
  const reload = await reloadApiKey(refused);
  if (signal.aborted) return { fault: refused, isInterrupted: true };
  return { fault: faultAfterReload(refused, reload), hasNewApiKey: reload.kind === 'changed' };
}

function inDoubtReasonOf(fault: Fault, recorded: RecordedKey | undefined): InDoubtReason {
  if (fault.kind === 'stale_key') return { kind: 'expired' };
  if (fault.kind !== 'taken_key') return { kind: 'no_response', fault };
  const [sender] = recorded?.kind === 'unresolved' ? recorded.senders : [];
  return sender ? { kind: 'sending', process: sender.process } : { kind: 'withheld' };
}
