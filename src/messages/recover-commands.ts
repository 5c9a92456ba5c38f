import type { UnresolvedTrigger } from '../run/entry.ts';
import { type InDoubtDetails, wasToBeSkipped } from '../run/in-doubt.ts';
import { defaults } from '../run/limits.ts';
import { shellWord } from '../run/quote.ts';
import { fullNameOf, type Target } from '../run/run.ts';

/** A trigger in doubt: it may have started a run whose id isn't known. */
export interface TriggerInDoubt extends InDoubtDetails {
  target: Target;
  idempotencyKey: string;
}

/**
 * When a trigger was first sent. Undefined if the journal doesn't have it or dates it in the
 * future.
 */
export const sentMsOf = (recorded: InDoubtDetails['recorded']): number | undefined =>
  recorded && Number.isFinite(recorded.ageMs) ? Date.parse(recorded.at) : undefined;

/**
 * The command that sends the trigger again after this wait. `recover` alone doesn't send it if an
 * active run must finish first, because that may take hours.
 */
export function recoverCommandAfter(waitMs: number, trigger: TriggerInDoubt): string {
  const ageMs = (trigger.recorded?.ageMs ?? 0) + waitMs;
  const isWithheld =
    trigger.ignoresKeys || trigger.conflict !== undefined || ageMs > defaults.recoverMaxAgeMs;
  return isWithheld ? resendCommand(trigger.target) : '`runctl recover`';
}

/**
 * The command that resolves the trigger, or says why it can't. For an older trigger, `recover`
 * first says which run to look for.
 */
export const recoverCommandFor = (trigger: RecoverableTrigger): string =>
  wasToBeSkipped(trigger) ? resendCommand(trigger.target) : '`runctl recover`';

/** An unresolved trigger of the journal, or the trigger of this command. */
type RecoverableTrigger = UnresolvedTrigger | TriggerInDoubt;

/** The command names the automation, so that no other trigger is sent. */
export const resendCommand = (target: Target) =>
  `\`runctl recover ${shellWord(fullNameOf(target))} --resend\``;

/** The command that sends the trigger again on a machine without its record. */
export function triggerCommandFor({ target, idempotencyKey, ifActive }: TriggerInDoubt): string {
  const name = shellWord(fullNameOf(target));
  const skip = ifActive === 'skip' ? ' --if-active skip' : '';
  return `\`runctl trigger ${name} --idempotency-key ${shellWord(idempotencyKey)}${skip}\``;
}
