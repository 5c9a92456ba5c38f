import { senderOf } from '../journal/processes.ts';
import { recoverCommandFor } from '../messages/of-in-doubt.ts';
import { ageOf, type UnresolvedTrigger } from '../run/entry.ts';
import type { Fault } from '../run/fault.ts';
import { defaults } from '../run/limits.ts';
import type { InDoubtReason } from '../run/outcome.ts';
import { automationNameOf, randomUuid, type Target } from '../run/run.ts';
import type { Trigger } from '../run/trigger.ts';
import { stopwatch } from '../system/clock.ts';
import type { Ports } from '../watch/ports.ts';
import { type ActiveRunWait, createActiveRunWait } from './active-run-wait.ts';
import { activeRunOf, outcomeBeforeSending, outcomeOfTrigger } from './outcome-of-trigger.ts';
import { type Attempts, isInDoubt, type KeyHistory, sendAttempts } from './send-attempts.ts';
import { sendPortsOf } from './send-trigger.ts';
import { settle } from './settle.ts';
import type { StartRequest, StartResult, TriggerResult } from './trigger-result.ts';

/**
 * Starts a run, unless its idempotency key has started one before. If another run is active, does
 * what `--if-active` says.
 */
export async function startRun(request: StartRequest, ports: Ports): Promise<StartResult> {
  const { target } = request;
  if (ports.signal.aborted) return outcomeBeforeSending(request, ports);
  const activeRunWait = createActiveRunWait(target, ports);
  /** Once an attempt of this command is in doubt, only that trigger is sent again. */
  let inDoubt: SentTrigger | undefined;
  let hasMetConflict = false;
  for (let isFirst = true; ; isFirst = false) {
    const next = inDoubt ? nextRepeat(inDoubt, ports) : await nextTrigger(request, ports);
    const { trigger, history } = next;
    if (next.result) return outcomeOfTrigger(next.result, trigger, ports);
    // A wait for the active run may take hours, and the warnings would be the same after each try.
    if (isFirst) warnOfUnresolved(target, ports, trigger.idempotencyKey);
    const sinceMs = stopwatch(ports.clock);
    const sendPorts = sendPortsOf(trigger, history, ports);
    const attempts = await sendAttempts(trigger, history, sendPorts);
    // It is decided before `settle`, because the journal says whether this process may send the
    // trigger again.
    const conflict = conflictToWaitFor(attempts, trigger, activeRunWait);
    const result = await settle(attempts, { isLast: conflict === undefined }, trigger, sendPorts);
    if (isFirst && isStillUnresolved(result, history)) warnOfUnresolved(target, ports);
    if (conflict && result.kind !== 'has_run') {
      hasMetConflict = true;
      if (result.kind === 'in_doubt') inDoubt ??= { trigger, sinceMs };
      const isInDoubt = inDoubt !== undefined;
      const ended = await waitUntilInactive(conflict, trigger, { activeRunWait, isInDoubt }, ports);
      if (ended) return outcomeOfTrigger(ended, trigger, ports);
    } else if (isSentWithNewApiKey(result, next, hasMetConflict)) {
      ports.releaseApiKey(trigger.idempotencyKey);
    } else {
      return outcomeOfTrigger(withNewApiKeyHint(result), trigger, ports);
    }
  }
}

interface SentTrigger {
  trigger: Trigger;
  /** Since it was first sent. */
  sinceMs(): number;
}

/** What to send next or, if that can't be sent, its result. */
interface Next {
  trigger: Trigger;
  history: KeyHistory;
  result?: TriggerResult;
}

/**
 * Each try has a new idempotency key, unless the user gave one, because a service may replay an old
 * key's refusal.
 */
async function nextTrigger(request: StartRequest, ports: Ports): Promise<Next> {
  const { idempotencyKey: given } = request;
  const { baseUrl, journal, clock, ignoresKeys } = ports;
  const idempotencyKey = given ?? randomUuid();
  const account = await ports.account(idempotencyKey);
  const userProvided = given !== undefined;
  const trigger: Trigger = { ...request, baseUrl, account, idempotencyKey, userProvided };
  const next = { trigger, history: { honorsKeys: !ignoresKeys } };
  const recorded = userProvided ? journal.findKey(trigger) : undefined;
  if (!recorded) return next;
  if (recorded.kind === 'run') {
    const { executionId } = recorded;
    return { ...next, result: { kind: 'has_run', executionId, attribution: 'recorded_run' } };
  }
  const reason = reasonNotToReuseKey(recorded, account, ports);
  if (reason) return { ...next, result: { kind: 'in_doubt', reason } };
  const earlier = { ageMs: ageOf(recorded, clock.nowMs()), attempts: recorded.attempts };
  return {
    // If the key was sent before, the same bytes are sent again.
    trigger: { ...trigger, body: recorded.body },
    history: { ...next.history, earlier },
  };
}

/** The same trigger again, unless another process has got its run meanwhile. */
function nextRepeat(
  { trigger, sinceMs }: SentTrigger,
  { journal, clock, ignoresKeys }: Ports,
): Next {
  const recorded = journal.findKey(trigger);
  const recordedAgeMs = recorded?.kind === 'unresolved' ? ageOf(recorded, clock.nowMs()) : 0;
  const earlier = { ageMs: Math.max(sinceMs(), recordedAgeMs), isOwn: true };
  const next = { trigger, history: { earlier, honorsKeys: !ignoresKeys } };
  if (recorded?.kind !== 'run') return next;
  const { executionId } = recorded;
  return { ...next, result: { kind: 'has_run', executionId, attribution: 'shared_key' } };
}

/** Why a key that an earlier command left in doubt can't be sent again. */
function reasonNotToReuseKey(
  recorded: UnresolvedTrigger,
  account: string,
  { clock, ignoresKeys, processes }: Ports,
): InDoubtReason | undefined {
  if (recorded.account !== account) return { kind: 'other_api_key' };
  const ageMs = ageOf(recorded, clock.nowMs());
  if (!Number.isFinite(ageMs)) return { kind: 'withheld' };
  if (ageMs > defaults.keyRetentionMs) return { kind: 'expired' };
  if (!ignoresKeys) return undefined;
  const process = senderOf(recorded, processes, clock.nowMs());
  return process === undefined ? { kind: 'withheld' } : { kind: 'sending', process };
}

/**
 * Is the key, which an earlier command left in doubt, still so because this command's attempts
 * started no run?
 */
function isStillUnresolved(result: TriggerResult, { earlier }: KeyHistory): boolean {
  return earlier !== undefined && result.kind === 'no_run' && !result.isInterrupted;
}

/**
 * The refusal of the last attempt, if `--if-active` says to wait and the trigger can be sent again
 * after that run's end.
 */
function conflictToWaitFor(
  attempts: Attempts,
  { ifActive }: Trigger,
  activeRunWait: ActiveRunWait,
): Fault | undefined {
  if (ifActive !== 'wait' || attempts.kind === 'ok' || attempts.isInterrupted) return undefined;
  const { fault } = attempts;
  if (fault.kind !== 'already_active') return undefined;
  if (!isInDoubt(attempts, fault)) return fault;
  // An attempt in doubt may have started the active run, so the key is only sent again after the
  // end of that very run.
  return fault.executionId === undefined || activeRunWait.hasFinished(fault.executionId)
    ? undefined
    : fault;
}

/**
 * Waits for the active run. Returns the result of the trigger if something ends the wait before
 * that run does.
 */
async function waitUntilInactive(
  conflict: Fault,
  trigger: Trigger,
  { activeRunWait, isInDoubt }: { activeRunWait: ActiveRunWait; isInDoubt: boolean },
  ports: Ports,
): Promise<TriggerResult | undefined> {
  if (trigger.userProvided && activeRunWait.hasFinished(conflict.executionId))
    return { kind: 'no_run', fault: spentKey(trigger) };
  const ended = await activeRunWait.wait(
    conflict,
    activeRunOf(conflict, trigger.target, ports)?.executionId,
  );
  if (!ended) return undefined;
  const isInterrupted = ended.end.kind === 'signal';
  if (isInDoubt && isInterrupted) return { kind: 'in_doubt', reason: { kind: 'signal' } };
  if (isInDoubt) return { kind: 'in_doubt', reason: { kind: 'no_response', fault: conflict } };
  if (isInterrupted) return { kind: 'no_run', fault: conflict, isInterrupted };
  return { kind: 'no_run', fault: ended.fault ?? conflict, waitEnd: ended.end };
}

/** The API key was refused. Is the trigger sent again with another one that has been read since? */
function isSentWithNewApiKey(
  result: TriggerResult,
  { trigger, history }: Next,
  hasMetConflict: boolean,
): boolean {
  if (result.kind !== 'no_run' || !result.hasNewApiKey) return false;
  // The active run may be this idempotency key's, and for the service it would be a new one under
  // the new API key.
  const mayHaveRun = history.earlier !== undefined || (trigger.userProvided && hasMetConflict);
  return !mayHaveRun;
}

/** Says of an API key that has been read since why it isn't used. */
function withNewApiKeyHint(result: TriggerResult): TriggerResult {
  if (result.kind !== 'no_run' || !result.hasNewApiKey) return result;
  const hint =
    "it isn't used for this idempotency key, because a second run could start. If no run is active, trigger again";
  return { ...result, fault: { ...result.fault, hint } };
}

const spentKey = ({ target, idempotencyKey }: Trigger): Fault => ({
  kind: 'spent_key',
  message: `the idempotency key ${idempotencyKey} belongs to a run of ${automationNameOf(target)} that has finished`,
});

/**
 * Warns of the target's triggers whose outcome is unknown, but not of one that is being sent:
 * `recover` resolves them.
 */
function warnOfUnresolved(target: Target, ports: Ports, exceptKey?: string): void {
  const { journal, baseUrl, processes, clock } = ports;
  const open = journal
    .unresolved({ baseUrl, target })
    .filter((trigger) => senderOf(trigger, processes, clock.nowMs()) === undefined);
  const newest = open.find(({ idempotencyKey }) => idempotencyKey !== exceptKey);
  if (!newest) return;
  const earlier = `an earlier trigger of ${automationNameOf(target)} may or may not have started a run`;
  const message = `${earlier}: resolve it with ${recoverCommandFor(newest)}`;
  ports.emit({ event: 'warning', name: 'unresolved_trigger', message, target });
}
