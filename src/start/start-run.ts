import { senderOf } from '../journal/processes.ts';
import { createRecorder } from '../journal/recorder.ts';
import { recoverCommandFor } from '../messages/of-doubt.ts';
import { ageOf, type UnresolvedTrigger } from '../run/entry.ts';
import type { Fault } from '../run/fault.ts';
import { defaults } from '../run/limits.ts';
import type { InDoubtReason } from '../run/outcome.ts';
import { refusalAfter } from '../run/renewal.ts';
import { automationNameOf, randomUuid, type Target } from '../run/run.ts';
import type { Trigger } from '../run/trigger.ts';
import { stopwatch } from '../system/clock.ts';
import { createActiveRunWait, type EndedWait } from './active-run-wait.ts';
import { activeRunOf, inDoubt, notSent, withoutRun, withRun } from './outcome-of-trigger.ts';
import type { StartPorts, StartRequest, Triggered } from './ports.ts';
import {
  type EarlierUse,
  type FailedTrigger,
  type SendPorts,
  sendUntilKnown,
  type TriggerResult,
} from './send-trigger.ts';

/** Starts a run, unless its idempotency key has started one before. If another run is active, does what `--if-active` says. */
export async function startRun(request: StartRequest, ports: StartPorts): Promise<Triggered> {
  const { target, ifActive } = request;
  if (ports.signal.aborted) return notSent(request, ports);
  const activeRunWait = createActiveRunWait(target, ports);
  /** The trigger that this command sent, once it is in doubt: from then on nothing else is sent. */
  let own: { trigger: Trigger; sinceMs(): number } | undefined;
  let hasMetConflict = false;
  for (let tries = 1; ; tries += 1) {
    const trigger = own?.trigger ?? (await newTrigger(request, ports));
    const known = trigger.userProvided || own ? ports.journal.findKey(trigger) : undefined;
    const attribution = own ? 'shared_key' : 'recorded_run';
    if (known?.kind === 'run') return withRun({ ...known, kind: 'recorded', attribution }, trigger, ports);
    const obstacle = own ? undefined : obstacleTo(known, trigger, ports);
    if (obstacle) return inDoubt(obstacle, trigger, ports);

    // A wait may take hours, and the warning says the same after each try.
    const isFirst = tries === 1;
    if (isFirst) warnOfUnresolved(target, ports, trigger.idempotencyKey);
    const isSentAgain = (failed: Pick<FailedTrigger, 'kind' | 'fault'>): boolean => {
      if (ifActive !== 'wait' || failed.kind === 'interrupted') return false;
      if (failed.kind === 'refused') return failed.fault.kind === 'already_active';
      const { executionId } = failed.fault;
      return executionId !== undefined && !activeRunWait.hasFinished(executionId);
    };
    const sinceMs = stopwatch(ports.clock);
    // If the key was sent before, the same bytes are sent again.
    const sent = { ...trigger, body: known?.body ?? trigger.body };
    const isContinuedAfter: EarlierUse['isContinuedAfter'] = (fault) => isSentAgain({ kind: 'unknown', fault });
    const earlier = earlierOf(known, own?.sinceMs(), ports);
    const result = await sendTrigger(sent, { earlier, isContinuedAfter }, ports);
    if (result.kind === 'started' || result.kind === 'recorded') return withRun(result, trigger, ports);
    // What an earlier command has left in doubt stays so.
    if (result.kind === 'refused' && known && isFirst) warnOfUnresolved(target, ports);
    if (result.kind === 'refused' && result.hasNewApiKey) {
      // The active run may be this idempotency key's, and for the service it would be a new one under the new API key.
      const mayHaveRun = known !== undefined || (trigger.userProvided && hasMetConflict);
      if (mayHaveRun) return withoutRun(keptApiKey(result), { trigger }, ports);
      ports.releaseApiKey(trigger.idempotencyKey);
      continue;
    }
    if (!isSentAgain(result)) return withoutRun(result, { trigger, ifActive }, ports);

    const { kind, fault } = result;
    if (kind === 'unknown') own ??= { trigger, sinceMs };
    if (trigger.userProvided && activeRunWait.hasFinished(fault.executionId))
      return withoutRun(spentKey(trigger), { trigger }, ports);
    hasMetConflict = true;
    const ended = await activeRunWait.wait(fault, activeRunOf(fault, target, ports)?.executionId);
    if (ended) return endOfWait(ended, fault, { trigger, isInDoubt: own !== undefined }, ports);
  }
}

/** The wait for the active run has ended before it did. */
function endOfWait(
  { end, fault: ofPolls }: EndedWait,
  fault: Fault,
  { trigger, isInDoubt }: { trigger: Trigger; isInDoubt: boolean },
  ports: StartPorts,
): Triggered {
  if (end.kind === 'signal')
    return withoutRun({ kind: 'interrupted', fault, mayHaveStarted: isInDoubt }, { trigger }, ports);
  if (isInDoubt) return withoutRun({ kind: 'unknown', fault }, { trigger }, ports);
  return withoutRun({ kind: 'refused', fault: ofPolls ?? fault }, { trigger, wait: end }, ports);
}

/** Each try has a new idempotency key, unless the user gave one, because a service may replay an old key's refusal. */
async function newTrigger(request: StartRequest, ports: StartPorts): Promise<Trigger> {
  const { target, body, idempotencyKey: given, ifActive } = request;
  const idempotencyKey = given ?? randomUuid();
  const account = await ports.account(idempotencyKey);
  return { baseUrl: ports.baseUrl, account, target, idempotencyKey, userProvided: given !== undefined, body, ifActive };
}

/** Why a key that an earlier command left in doubt can't be sent again. */
function obstacleTo(
  known: UnresolvedTrigger | undefined,
  { account }: Trigger,
  { clock, ignoresKeys, processes }: StartPorts,
): InDoubtReason | undefined {
  if (!known) return undefined;
  if (known.account !== account) return { kind: 'other_api_key' };
  const ageMs = ageOf(known, clock.nowMs());
  if (!Number.isFinite(ageMs)) return { kind: 'withheld' };
  if (ageMs > defaults.keyRetentionMs) return { kind: 'expired' };
  if (!ignoresKeys) return undefined;
  const process = senderOf(known, processes, clock.nowMs());
  return process === undefined ? { kind: 'withheld' } : { kind: 'sending', process };
}

/** What is in doubt: attempts of this command, the first of which was sent so long ago, or of an earlier one. */
function earlierOf(
  known: UnresolvedTrigger | undefined,
  ownAgeMs: number | undefined,
  { clock }: StartPorts,
): EarlierUse['earlier'] {
  const ageMs = known ? ageOf(known, clock.nowMs()) : 0;
  if (ownAgeMs !== undefined) return { ageMs: Math.max(ownAgeMs, ageMs), isOwn: true };
  return known && { ageMs, attempts: known.attempts };
}

const keptApiKey = (refused: FailedTrigger): FailedTrigger => ({
  ...refused,
  fault: {
    ...refused.fault,
    hint: "it isn't used for this idempotency key, because a second run could start. If no run is active, trigger again",
  },
});

const spentKey = ({ target, idempotencyKey }: Trigger): FailedTrigger => ({
  kind: 'refused',
  fault: {
    kind: 'spent_key',
    message: `the idempotency key ${idempotencyKey} belongs to a run of ${automationNameOf(target)} that has finished`,
  },
});

/** Warns of the target's triggers whose outcome is unknown, but not of one that is being sent: `recover` resolves them. */
function warnOfUnresolved(target: Target, ports: StartPorts, exceptKey?: string): void {
  const { journal, baseUrl, processes, clock } = ports;
  const open = journal
    .unresolved({ baseUrl, target })
    .filter((trigger) => senderOf(trigger, processes, clock.nowMs()) === undefined);
  const newest = open.find(({ idempotencyKey }) => idempotencyKey !== exceptKey);
  if (!newest) return;
  const earlier = `an earlier trigger of ${automationNameOf(target)} may or may not have started a run`;
  const message = `${earlier}: resolve it with ${recoverCommandFor(newest)}`;
  ports.observe({ event: 'warning', name: 'unresolved_trigger', message, target });
}

/** Sends one trigger, with retries, until the protocol ends. Writes it to the journal before it is sent. */
export async function sendTrigger(trigger: Trigger, earlierUse: EarlierUse, ports: StartPorts): Promise<TriggerResult> {
  const { journal, processes, ignoresKeys, session, observe } = ports;
  const isRepeat = earlierUse.earlier !== undefined;
  const earlierAttempts = earlierUse.earlier?.attempts;
  const record = createRecorder(journal, { ...trigger, isRepeat, earlierAttempts, process: processes.own });
  const { target } = trigger;
  const onRetry: SendPorts['onRetry'] = (failed) =>
    observe({ event: 'attempt_failed', resource: 'trigger', target, ...failed });
  const sending = { ...ports, record, onRetry, leftMs: session.leftMs };
  const result = await sendUntilKnown(trigger, sending, { isRepeatable: !ignoresKeys, ...earlierUse });
  const isOfApiKey = 'fault' in result && result.fault.kind === 'unauthorized';
  return isOfApiKey ? afterReadingApiKey(result, ports) : result;
}

/** Says of a refusal of the API key whether there is another one by now. */
async function afterReadingApiKey(failed: FailedTrigger, { renewApiKey, signal }: StartPorts): Promise<FailedTrigger> {
  const renewal = await renewApiKey(failed.fault);
  if (failed.kind === 'interrupted') return failed;
  if (signal.aborted) return { ...failed, kind: 'interrupted', mayHaveStarted: failed.kind === 'unknown' };
  return { ...failed, fault: refusalAfter(failed.fault, renewal), hasNewApiKey: renewal.kind === 'another' };
}
