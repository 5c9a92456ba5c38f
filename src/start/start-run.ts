import { senderOf } from '../journal/processes.ts';
import { keyOfFinishedRunFault, withUnusedApiKeyHint } from '../messages/own-faults.ts';
import { unresolvedTriggerText } from '../messages/warnings.ts';
import type { Ports } from '../ports.ts';
import type { Fault } from '../run/fault.ts';
import type { InDoubtReason } from '../run/in-doubt.ts';
import type { Target } from '../run/run.ts';
import type { Trigger } from '../run/trigger.ts';
import { stopwatch } from '../system/clock.ts';
import { activeRunOf } from './active-run.ts';
import { type ActiveRunWait, createActiveRunWait } from './active-run-wait.ts';
import { type NextTrigger, nextTrigger, type SentTrigger, sameTrigger } from './next-trigger.ts';
import { outcomeOfTrigger } from './outcome-of-trigger.ts';
import { outcomeBeforeSending } from './outcome-without-run.ts';
import { type Attempts, isInDoubt, type SendOptions } from './send-attempts.ts';
import { sendTrigger } from './send-trigger.ts';
import type { StartRequest, StartResult, TriggerResult } from './trigger-result.ts';

/**
 * Starts a run, unless its idempotency key has started one before. If another run is active, does
 * what `--if-active` says.
 */
export async function startRun(request: StartRequest, ports: Ports): Promise<StartResult> {
  const { target } = request;
  if (ports.signal.aborted) return outcomeBeforeSending(request, ports);
  const activeRunWait = createActiveRunWait(target, ports);
  // Once a trigger of this command is in doubt, only that one is sent again.
  let inDoubt: SentTrigger | undefined;
  let isFirst = true;
  // Each round sends a trigger. Another round follows in three cases:
  // - The run that was active has finished. Then a new trigger is sent.
  // - It has finished, but a trigger of this command is in doubt. Then that one is sent again.
  // - The API key was refused. Then a trigger is sent with the new API key.
  for (;;) {
    const next = inDoubt ? sameTrigger(inDoubt, ports) : await nextTrigger(request, ports);
    const { trigger, sendOptions } = next;
    if (next.result) return outcomeOfTrigger(next.result, trigger, ports);

    // A wait for the active run may take hours, and the warnings would be the same after each try.
    if (isFirst) warnOfUnresolved(target, ports, trigger.idempotencyKey);
    const sent = { trigger, sinceSentMs: stopwatch(ports.clock) };
    const { result, refusal } = await sendTrigger(trigger, sendOptions, ports, (attempts) =>
      refusalToWaitAfter(attempts, next, activeRunWait),
    );
    if (isFirst && isStillUnresolved(result, sendOptions)) warnOfUnresolved(target, ports);
    isFirst = false;

    if (refusal && result.kind !== 'has_run') {
      if (result.kind === 'in_doubt') inDoubt ??= sent;
      const wait = { activeRunWait, isInDoubt: inDoubt !== undefined };
      const ended = await waitUntilInactive(refusal, trigger, wait, ports);
      if (ended) return outcomeOfTrigger(ended, trigger, ports);
    } else if (canUseNewApiKey(result, next, activeRunWait)) {
      ports.releaseApiKey(trigger.idempotencyKey);
    } else {
      return outcomeOfTrigger(withReasonForOldApiKey(result), trigger, ports);
    }
  }
}

/**
 * The refusal of the last attempt, if `--if-active` says to wait and the trigger can be sent again
 * after the end of the active run.
 */
function refusalToWaitAfter(
  attempts: Attempts,
  { trigger, sendOptions }: NextTrigger,
  activeRunWait: ActiveRunWait,
): Fault | undefined {
  if (trigger.ifActive !== 'wait' || attempts.kind === 'ok' || attempts.isInterrupted)
    return undefined;
  const { fault } = attempts;
  if (fault.kind !== 'already_active') return undefined;
  if (!isInDoubt(attempts, sendOptions)) return fault;
  // An attempt in doubt may have started the active run, so the key is only sent again after the
  // end of that very run.
  const { executionId } = fault;
  return executionId === undefined || activeRunWait.hasFinished(executionId) ? undefined : fault;
}

/**
 * Waits for the end of the active run. Returns the result of the trigger if something ends the wait
 * before that.
 */
async function waitUntilInactive(
  refusal: Fault,
  trigger: Trigger,
  { activeRunWait, isInDoubt }: { activeRunWait: ActiveRunWait; isInDoubt: boolean },
  ports: Ports,
): Promise<TriggerResult | undefined> {
  if (trigger.userProvided && activeRunWait.hasFinished(refusal.executionId))
    return { kind: 'no_run', fault: keyOfFinishedRunFault(trigger) };
  const active = activeRunOf(refusal, trigger.target, ports);
  const failure = await activeRunWait.wait(refusal, active?.executionId);
  if (!failure) return undefined;
  const isInterrupted = failure.end.kind === 'interrupted';
  if (isInDoubt) {
    const reason: InDoubtReason = isInterrupted
      ? { kind: 'interrupted' }
      : { kind: 'last_attempt_failed', fault: refusal };
    return { kind: 'in_doubt', reason };
  }
  if (isInterrupted) return { kind: 'no_run', fault: refusal, isInterrupted };
  return { kind: 'no_run', fault: failure.fault ?? refusal, waitEnd: failure.end };
}

/**
 * Whether the API key was refused, and the trigger can be sent again with another one that was read
 * since.
 */
function canUseNewApiKey(
  result: TriggerResult,
  { trigger, sendOptions }: NextTrigger,
  activeRunWait: ActiveRunWait,
): boolean {
  if (result.kind !== 'no_run' || !result.hasNewApiKey) return false;
  // The active run may have been started with this idempotency key. Under the new API key, the
  // service would take the idempotency key for a new one.
  const mayHaveRun =
    sendOptions.earlier !== undefined || (trigger.userProvided && activeRunWait.hasBegun());
  return !mayHaveRun;
}

/** If there is a new API key that isn't used, the hint says why. */
function withReasonForOldApiKey(result: TriggerResult): TriggerResult {
  if (result.kind !== 'no_run' || !result.hasNewApiKey) return result;
  return { ...result, fault: withUnusedApiKeyHint(result.fault) };
}

/**
 * Whether the trigger was unresolved before this command and still is, because the attempts of this
 * command started no run.
 */
function isStillUnresolved(result: TriggerResult, { earlier }: SendOptions): boolean {
  return earlier !== undefined && result.kind === 'no_run' && !result.isInterrupted;
}

/**
 * Warns if the target has an unresolved trigger other than `exceptKey`, unless a process is still
 * sending it.
 */
function warnOfUnresolved(target: Target, ports: Ports, exceptKey?: string): void {
  const { journal, baseUrl, processes, clock, emit } = ports;
  const newest = journal
    .unresolved({ baseUrl, target })
    .filter((trigger) => senderOf(trigger, processes, clock.nowMs()) === undefined)
    .find(({ idempotencyKey }) => idempotencyKey !== exceptKey);
  if (!newest) return;
  const message = unresolvedTriggerText(newest);
  emit({ event: 'warning', name: 'unresolved_trigger', message, target });
}
