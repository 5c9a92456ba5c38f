import { defaults } from '../runs/defaults.ts';
import { formatDuration } from '../runs/duration.ts';
import { type Fault, httpOf } from '../runs/fault.ts';
import { fullNameOf, nameOf, type Target } from '../runs/run.ts';
import { utcTime } from '../runs/utc-time.ts';
import type { KeyTreatment } from '../triggering/trigger-record.ts';
import { factsOf, interruptNameOf } from './fault-facts.ts';
import { inDoubtProblem, Problem } from './problem.ts';
import { shellWord } from './quote.ts';

/** A trigger that may have started a run whose id isn't known. */
export interface UnknownTrigger {
  target: Target;
  idempotencyKey: string;
  /** When it was first sent, in milliseconds since 1970. Undefined if the journal doesn't have it. */
  sentAtMs?: number;
  activeExecutionId?: string; // the run that a conflict named
  hasMetConflict?: boolean;
  keys?: KeyTreatment; // what the service was seen to do with idempotency keys
}

/** Is it only sent again if the user asks for that, because a second run might start? */
export function needsResend({ target, hasMetConflict, keys }: UnknownTrigger): boolean {
  if (target.family === 'agent') return false;
  return keys === 'ignored' || (hasMetConflict === true && keys !== 'honored');
}

export function unknownTriggerProblem(fault: Fault, recorded: UnknownTrigger): Problem {
  const hasMetConflict = recorded.hasMetConflict || fault.kind === 'already_active';
  const trigger = { ...recorded, hasMetConflict };
  const { target, idempotencyKey, keys } = trigger;
  const name = nameOf(target);
  if (fault.kind === 'stale_key') return expiredKeyProblem(trigger);
  const isActive = fault.kind === 'already_active';
  const happened = isActive
    ? `${name} is already running, most likely the run of this trigger, whose response was lost`
    : `the trigger of ${name} got no valid response: ${fault.message}; a run may have been started`;
  const notRepeated = !isActive && keys === 'ignored' ? '. It was not sent again: the service ignores such keys' : '';
  return inDoubtProblem({
    ...factsOf(fault),
    message: `${happened}, with the idempotency key ${idempotencyKey}${httpOf(fault)}${notRepeated}`,
    hint: whatNext(trigger, fault),
  });
}

export function interruptedTriggerProblem(signal: AbortSignal, trigger: UnknownTrigger): Problem {
  const { target, idempotencyKey } = trigger;
  return new Problem({
    name: interruptNameOf(signal),
    started: 'unknown',
    message: `interrupted; a run of ${nameOf(target)} may have been started (idempotency key ${idempotencyKey})`,
    hint: whatNext(trigger),
  });
}

/** Its first command is safe: it sends nothing that could start a second run. */
function whatNext(trigger: UnknownTrigger, { kind, retryAfterMs }: Partial<Fault> = {}): string {
  const { idempotencyKey, sentAtMs, target } = trigger;
  const command = target.family === 'agent' ? 'agent trigger' : 'trigger';
  const again = `\`runctl ${command} ${shellWord(fullNameOf(target))} --idempotency-key ${shellWord(idempotencyKey)}\``;
  if (sentAtMs === undefined) {
    const condition = trigger.keys === 'honored' ? 'there is one' : 'the service honors idempotency keys';
    return needsResend(trigger) ? lookFor(trigger) : `repeat it with ${again}, which finds the run if ${condition}`;
  }
  if (needsResend(trigger))
    return `\`runctl recover\` sends it again only with \`--resend\`: first ${lookFor(trigger)}`;
  const goodUntil = utcTime(sentAtMs + defaults.keyRetentionMs);
  const elsewhere = `\nOn any other machine, until ${goodUntil}:\n${again}`;
  if (kind === 'already_active') return `when that run has finished: \`runctl recover\`${elsewhere}`;
  if (retryAfterMs === undefined) return `\`runctl recover\`${elsewhere}`;
  const maxAge = retryAfterMs < defaults.recoverMaxAgeMs / 2 ? '' : ' --max-age 24h';
  return `in ${formatDuration(retryAfterMs)}, as the service asks: \`runctl recover${maxAge}\`${elsewhere}`;
}

/** How to find the run in the service, which can't list runs. */
function lookFor({ target, sentAtMs, activeExecutionId }: UnknownTrigger): string {
  const when = sentAtMs === undefined ? 'just now' : `at about ${utcTime(sentAtMs)}`;
  const which = activeExecutionId === undefined ? '' : ` (probably ${activeExecutionId})`;
  return `look in the service for a run of ${nameOf(target)} that began ${when}${which}`;
}

/** `recover` sends the trigger only with `--resend`. */
export function withheldProblem(trigger: UnknownTrigger): Problem {
  const { target, idempotencyKey, keys, sentAtMs } = trigger;
  const name = nameOf(target);
  const when = sentAtMs === undefined ? '' : ` at ${utcTime(sentAtMs)}`;
  const why =
    keys === 'ignored'
      ? 'the service was seen to ignore idempotency keys, and would start a second run'
      : `when it was repeated, ${name} was already running, most likely its own run, and the service hasn't been seen to honor idempotency keys`;
  return inDoubtProblem({
    message: `the trigger of ${name}${when} isn't sent again: ${why} (idempotency key ${idempotencyKey})`,
    hint: `${lookFor(trigger)}; if there is none, send it again with \`runctl recover --resend\``,
  });
}

/** The idempotency key was sent with another API key, and the outcome is unknown. With this API key, it is a new key. */
export function otherAccountProblem(trigger: UnknownTrigger): Problem {
  const { target, idempotencyKey } = trigger;
  return inDoubtProblem({
    shownName: 'other_api_key',
    message: `the idempotency key ${idempotencyKey} was sent with another API key, and may have started a run of ${nameOf(target)}. With this API key a second run would start`,
    hint: `use that API key, then \`runctl recover\`. If it no longer exists, ${lookFor(trigger)}; ${untilWhen(trigger)}`,
  });
}

/** A user's idempotency key whose outcome is unknown and that the service may have forgotten. */
export function expiredKeyProblem(trigger: UnknownTrigger): Problem {
  const { target, idempotencyKey } = trigger;
  return inDoubtProblem({
    shownName: 'idempotency_key_expired',
    message: `the idempotency key ${idempotencyKey} was first sent more than 24h ago, and may have started a run of ${nameOf(target)}`,
    hint: `${lookFor(trigger)}; if there is none, trigger with a new idempotency key`,
  });
}

/** The trigger is too old for `recover`. The age is infinite if it is unknown because the clock was set back. */
export function tooOldProblem(trigger: UnknownTrigger, ageMs: number): Problem {
  const { target, idempotencyKey } = trigger;
  const isExpired = ageMs > defaults.keyRetentionMs;
  const age = Number.isFinite(ageMs) ? `is ${formatDuration(ageMs)} old` : 'is dated in the future';
  const why = isExpired
    ? 'the service may have dropped its idempotency key, and would start a second run'
    : 'if it never arrived, its run would start now';
  return inDoubtProblem({
    shownName: isExpired ? 'idempotency_key_expired' : undefined,
    message: `the trigger of ${nameOf(target)} ${age} and isn't sent again: ${why} (idempotency key ${idempotencyKey})`,
    hint: isExpired ? `${lookFor(trigger)}; ${untilWhen(trigger)}` : '`runctl recover --max-age 24h` sends it anyway',
  });
}

const trackedMs = 48 * 3_600_000;

const untilWhen = ({ sentAtMs }: UnknownTrigger) =>
  `runctl stops tracking this trigger ${sentAtMs === undefined ? 'after two days' : `at ${utcTime(sentAtMs + trackedMs)}`}`;
