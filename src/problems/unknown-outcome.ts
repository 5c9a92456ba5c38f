import { interruptNameOf } from '../run/exit-codes.ts';
import { type Fault, faultFields, httpOf, remedyOf } from '../run/fault.ts';
import { defaults } from '../run/limits.ts';
import { inDoubtProblem, Problem } from '../run/problem.ts';
import { fullArgumentOf, shellWord } from '../run/quote.ts';
import { fullNameOf, nameOf, type Target } from '../run/run.ts';
import { formatDuration, localTime } from '../system/time-text.ts';

/** A trigger that may have started a run whose id isn't known. */
export interface UnknownTrigger {
  target: Target;
  idempotencyKey: string;
  /**
   * How long ago it was first sent, and when. Its age is infinite and the time undefined if the record is dated in the
   * future. All of it is undefined if the journal doesn't have it.
   */
  recorded?: { atMs: number | undefined; ageMs: number };
  activeExecutionId?: string; // the run that a conflict named
  isOthersRun?: boolean; // the journal has that run as another idempotency key's
  hasMetConflict?: boolean;
  ignoresKeys?: boolean; // the service ignores idempotency keys
}

const whyIgnored = 'the service ignores idempotency keys, so a second run could start';

/** Why `recover` sends it only with `--resend`: a second run, or a late one, could start. Undefined if it sends it anyway. */
export function whyWithheld(trigger: UnknownTrigger): string | undefined {
  const { ageMs = 0 } = trigger.recorded ?? {};
  if (trigger.ignoresKeys) return whyIgnored;
  if (ageMs > defaults.recoverMaxAgeMs)
    return `it is ${ageText(ageMs)}, and if it never arrived, its run would start now`;
  return undefined;
}

const ageless = "dated in the future, so its age isn't known";
const ageText = (ageMs: number) => (Number.isFinite(ageMs) ? `${formatDuration(ageMs)} old` : ageless);

export function unknownTriggerProblem(fault: Fault, recorded: UnknownTrigger): Problem {
  const isActive = fault.kind === 'already_active';
  const { activeExecutionId = fault.executionId } = recorded;
  const trigger = { ...recorded, hasMetConflict: recorded.hasMetConflict || isActive, activeExecutionId };
  const { target, idempotencyKey } = trigger;
  const lost = `the trigger of ${nameOf(target)} got no valid response`;
  const happened = isActive
    ? `${lost}; when it was repeated, ${activeRun(fault, trigger)}`
    : `${lost}: ${fault.message}; a run may have been started`;
  const next = whatNext(trigger, fault);
  return inDoubtProblem({
    ...faultFields(fault),
    activeExecutionId: fault.executionId,
    message: `${happened} (idempotency key ${idempotencyKey})${httpOf(fault)}${notRepeated(trigger)}`,
    hint: fault.kind === 'unauthorized' ? `${fault.hint ?? remedyOf(fault)}\nthen: ${next}` : next,
    isForPerson: trigger.ignoresKeys,
  });
}

function activeRun({ executionId }: Fault, { isOthersRun }: UnknownTrigger): string {
  if (isOthersRun) return `another run was active (${executionId}), and this trigger may have started one, too`;
  return executionId === undefined
    ? 'a run was active, which may be the one it started'
    : `run ${executionId} was active and may be the one it started`;
}

export function interruptedTriggerProblem(signal: AbortSignal, trigger: UnknownTrigger): Problem {
  const { target, idempotencyKey, activeExecutionId } = trigger;
  return new Problem({
    name: interruptNameOf(signal),
    started: 'unknown',
    activeExecutionId,
    message: `interrupted; a run of ${nameOf(target)} may have been started (idempotency key ${idempotencyKey})${notRepeated(trigger)}`,
    hint: whatNext({ ...trigger, activeExecutionId: undefined }),
    isForPerson: trigger.ignoresKeys,
  });
}

const notRepeated = (trigger: UnknownTrigger) => (trigger.ignoresKeys ? `. It isn't sent again: ${whyIgnored}` : '');

/** What to type now, what later, and what on another machine: one line each. The first command starts no second run. */
function whatNext(trigger: UnknownTrigger, { retryAfterMs = 0 }: Partial<Fault> = {}): string {
  const { target, activeExecutionId, hasMetConflict, recorded } = trigger;
  const again = recorded ? recoverIn(retryAfterMs, trigger) : triggerAgain(trigger);
  if (trigger.ignoresKeys) return `${lookFor(trigger)}; if there is none: ${again}`;
  const lines: string[] = [];
  if (hasMetConflict && activeExecutionId)
    lines.push(`\`runctl watch ${fullArgumentOf({ target, executionId: activeExecutionId })}\` follows that run`);
  let when = '';
  if (hasMetConflict) when = 'when it has finished: ';
  else if (retryAfterMs > 0) when = `in ${formatDuration(retryAfterMs)}, as the service asks: `;
  const soon = recorded ? '' : ' (within 24h)';
  lines.push(`${when}${again} sends it again with the same idempotency key${soon}`);
  if (recorded?.atMs !== undefined) {
    const until = localTime(recorded.atMs + defaults.keyRetentionMs);
    lines.push(`On any other machine, until ${until}: ${triggerAgain(trigger)}`);
  }
  return lines.join('\n');
}

/** The command that sends the trigger after this time. An active run may take hours to finish. */
function recoverIn(waitMs: number, trigger: UnknownTrigger): string {
  const ageMs = (trigger.recorded?.ageMs ?? 0) + waitMs;
  const isWithheld = trigger.ignoresKeys || trigger.hasMetConflict || ageMs > defaults.recoverMaxAgeMs;
  return isWithheld ? resend(trigger) : '`runctl recover`';
}

/** Only this trigger is sent, as nothing was said of others. */
const resend = ({ target }: UnknownTrigger) => `\`runctl recover ${shellWord(fullNameOf(target))} --resend\``;

const triggerAgain = ({ target, idempotencyKey }: UnknownTrigger) =>
  `\`runctl trigger ${shellWord(fullNameOf(target))} --idempotency-key ${shellWord(idempotencyKey)}\``;

/** How to find the run in the service, which can't list runs. */
export function lookFor({ target, recorded, activeExecutionId, isOthersRun }: UnknownTrigger): string {
  let when = ' that began just now';
  if (recorded) when = recorded.atMs === undefined ? '' : ` that began at about ${localTime(recorded.atMs)}`;
  const which = activeExecutionId === undefined || isOthersRun ? '' : ` (perhaps ${activeExecutionId})`;
  return `look in the service for a run of ${nameOf(target)}${when}${which}`;
}

/** The trigger in a sentence, with the time at which it was first sent. */
export function triggerAt({ target, recorded }: Pick<UnknownTrigger, 'target' | 'recorded'>): string {
  const when = recorded?.atMs === undefined ? '' : ` at ${localTime(recorded.atMs)}`;
  return `the trigger of ${nameOf(target)}${when}`;
}

/** The trigger isn't sent, though its outcome is unknown: `recover` needs `--resend`. */
export function withheldProblem(trigger: UnknownTrigger): Problem {
  return inDoubtProblem({
    activeExecutionId: trigger.activeExecutionId,
    message: `${triggerAt(trigger)} isn't sent again: ${whyWithheld(trigger)} (idempotency key ${trigger.idempotencyKey})`,
    hint: `${lookFor(trigger)}; if there is none, send it again with ${resend(trigger)}`,
    isForPerson: true,
  });
}

/** The idempotency key was sent with another API key, and the outcome is unknown. With this API key, it is a new key. */
export function otherAccountProblem(trigger: UnknownTrigger): Problem {
  const { target, idempotencyKey } = trigger;
  return inDoubtProblem({
    shownName: 'other_api_key',
    message: `the idempotency key ${idempotencyKey} was sent with another API key, and may have started a run of ${nameOf(target)}. With this API key a second run could start`,
    hint: `${otherKeyHint}\nIf that API key no longer exists, ${lookFor(trigger)}${untilWhen(trigger)}`,
  });
}

const otherKeyHint =
  '`runctl config list` shows where the API key comes from: set the one that sent the trigger, then `runctl recover`';

/** An idempotency key whose outcome is unknown and that the service may have forgotten. */
export function expiredKeyProblem(trigger: UnknownTrigger): Problem {
  const { target, idempotencyKey } = trigger;
  return inDoubtProblem({
    shownName: 'idempotency_key_expired',
    message: `the idempotency key ${idempotencyKey} was first sent more than 24h ago, and may have started a run of ${nameOf(target)}`,
    hint: `${lookFor(trigger)}; if there is none, trigger with a new idempotency key`,
  });
}

const untilWhen = ({ recorded }: UnknownTrigger) =>
  recorded?.atMs === undefined
    ? ''
    : `; runctl stops tracking this trigger at ${localTime(recorded.atMs + defaults.keyRetentionMs)}`;
