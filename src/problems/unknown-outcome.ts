import { defaults } from '../runs/defaults.ts';
import { type Fault, faultFields, httpOf } from '../runs/fault.ts';
import { fullNameOf, nameOf, type Target } from '../runs/run.ts';
import type { KeyTreatment } from '../runs/service.ts';
import { formatDuration, localTime } from '../runs/time-text.ts';
import { interruptNameOf } from './exit-codes.ts';
import { inDoubtProblem, Problem } from './problem.ts';
import { fullArgumentOf, shellWord } from './quote.ts';

/** A trigger that may have started a run whose id isn't known. */
export interface UnknownTrigger {
  target: Target;
  idempotencyKey: string;
  /** When it was first sent, and how long ago (infinite if the clock was set back). Undefined if the journal doesn't have it. */
  recorded?: { atMs: number; ageMs: number };
  activeExecutionId?: string; // the run that a conflict named
  hasMetConflict?: boolean;
  keys?: KeyTreatment; // what the service is known to do with idempotency keys
}

/** What is true only if the service does what it isn't known to do. */
const ifHonored = ({ keys }: UnknownTrigger) => (keys === 'honored' ? '' : ', if the service honors idempotency keys');

const areIgnored = ({ keys }: Pick<UnknownTrigger, 'keys'>) => keys === 'ignored';

/** Why `recover` sends it only with `--resend`: a second run, or a late one, could start. Undefined if it sends it anyway. */
export function whyWithheld({ target, hasMetConflict, keys, recorded }: UnknownTrigger): string | undefined {
  if (areIgnored({ keys })) return 'the service ignores idempotency keys, so a second run could start';
  if (hasMetConflict && keys !== 'honored')
    return `when it was repeated, ${nameOf(target)} was already running, perhaps its own run, and the service hasn't been seen to honor idempotency keys`;
  if (recorded && recorded.ageMs > defaults.recoverMaxAgeMs)
    return `it is ${ageText(recorded.ageMs)}, and if it never arrived, its run would start now`;
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
  const which = fault.executionId === undefined ? 'a run was active, which' : `run ${fault.executionId} was active and`;
  const happened = isActive
    ? `${lost}; when it was repeated, ${which} may be the one it started`
    : `${lost}: ${fault.message}; a run may have been started`;
  const notRepeated = !isActive && areIgnored(trigger) ? '. It was not sent again: the service ignores such keys' : '';
  return inDoubtProblem({
    ...faultFields(fault),
    activeExecutionId: fault.executionId,
    message: `${happened} (idempotency key ${idempotencyKey})${httpOf(fault)}${notRepeated}`,
    hint: whatNext(trigger, fault),
    isForPerson: areIgnored(trigger),
  });
}

export function interruptedTriggerProblem(signal: AbortSignal, trigger: UnknownTrigger): Problem {
  const { target, idempotencyKey, activeExecutionId } = trigger;
  return new Problem({
    name: interruptNameOf(signal),
    started: 'unknown',
    activeExecutionId,
    message: `interrupted; a run of ${nameOf(target)} may have been started (idempotency key ${idempotencyKey})`,
    hint: whatNext({ ...trigger, activeExecutionId: undefined }),
    isForPerson: areIgnored(trigger),
  });
}

/** What to type now, what later, and what on another machine: one line each. The first command starts no second run. */
function whatNext(trigger: UnknownTrigger, { retryAfterMs }: Partial<Fault> = {}): string {
  const { target, activeExecutionId, hasMetConflict, recorded } = trigger;
  const isHeld = hasMetConflict || whyWithheld(trigger) !== undefined;
  const resolve = isHeld || (retryAfterMs ?? 0) > defaults.recoverMaxAgeMs / 2 ? 'recover --resend' : 'recover';
  const again = recorded ? `\`runctl ${resolve}\`` : triggerAgain(trigger);
  const then = `${again} finds ${hasMetConflict ? 'yours' : 'the run'}, or starts it if the request never arrived${ifHonored(trigger)}`;
  if (areIgnored(trigger)) return `${lookFor(trigger)}; if there is none: ${again}`;
  const elsewhere = recorded
    ? `\nOn any other machine, until ${localTime(recorded.atMs + defaults.keyRetentionMs)}: ${triggerAgain(trigger)}`
    : '';
  if (hasMetConflict) {
    const run = activeExecutionId && fullArgumentOf({ target, executionId: activeExecutionId });
    const now = run ? `\`runctl watch ${run}\` follows that run\n` : '';
    return `${now}when that run has finished: ${then}${elsewhere}`;
  }
  const wait = retryAfterMs === undefined ? '' : `in ${formatDuration(retryAfterMs)}, as the service asks: `;
  return `${wait}${then}${elsewhere}`;
}

const triggerAgain = ({ target, idempotencyKey }: UnknownTrigger) =>
  `\`runctl trigger ${shellWord(fullNameOf(target))} --idempotency-key ${shellWord(idempotencyKey)}\``;

/** How to find the run in the service, which can't list runs. */
export function lookFor({ target, recorded, activeExecutionId }: UnknownTrigger): string {
  const when = recorded === undefined ? 'just now' : `at about ${localTime(recorded.atMs)}`;
  const which = activeExecutionId === undefined ? '' : ` (perhaps ${activeExecutionId})`;
  return `look in the service for a run of ${nameOf(target)} that began ${when}${which}`;
}

/** The trigger isn't sent, though its outcome is unknown: `recover` needs `--resend`. */
export function withheldProblem(trigger: UnknownTrigger): Problem {
  const { target, idempotencyKey, recorded } = trigger;
  const when = recorded === undefined ? '' : ` at ${localTime(recorded.atMs)}`;
  return inDoubtProblem({
    activeExecutionId: trigger.activeExecutionId,
    message: `the trigger of ${nameOf(target)}${when} isn't sent again: ${whyWithheld(trigger)} (idempotency key ${idempotencyKey})`,
    hint: `${lookFor(trigger)}; if there is none, send it again with \`runctl recover --resend\``,
    isForPerson: true,
  });
}

/** The idempotency key was sent with another API key, and the outcome is unknown. With this API key, it is a new key. */
export function otherAccountProblem(trigger: UnknownTrigger): Problem {
  const { target, idempotencyKey } = trigger;
  return inDoubtProblem({
    shownName: 'other_api_key',
    message: `the idempotency key ${idempotencyKey} was sent with another API key, and may have started a run of ${nameOf(target)}. With this API key a second run could start`,
    hint: `use that API key, then \`runctl recover\`. If it no longer exists, ${lookFor(trigger)}; ${untilWhen(trigger)}`,
  });
}

/** An idempotency key whose outcome is unknown and that the service may have forgotten. */
export function expiredKeyProblem(trigger: UnknownTrigger): Problem {
  const { target, idempotencyKey, recorded } = trigger;
  const hasAge = Number.isFinite(recorded?.ageMs ?? 0);
  const when = hasAge ? 'was first sent more than 24h ago' : `is ${ageless}`;
  return inDoubtProblem({
    shownName: 'idempotency_key_expired',
    message: `the idempotency key ${idempotencyKey} ${when}, and may have started a run of ${nameOf(target)}`,
    hint: `${lookFor(trigger)}; if there is none, trigger with a new idempotency key`,
  });
}

const untilWhen = ({ recorded }: UnknownTrigger) =>
  `runctl stops tracking this trigger ${recorded === undefined ? 'after a day' : `at ${localTime(recorded.atMs + defaults.keyRetentionMs)}`}`;
