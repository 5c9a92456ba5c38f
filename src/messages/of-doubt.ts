import type { UnresolvedTrigger } from '../run/entry.ts';
import { apiKeyHint, deliveryOf, type Fault, httpFactsOf } from '../run/fault.ts';
import { defaults } from '../run/limits.ts';
import type { InDoubtDetails, OutcomeOf } from '../run/outcome.ts';
import type { Diagnostic } from '../run/problem.ts';
import { fullArgumentOf, shellWord } from '../run/quote.ts';
import { automationNameOf, fullNameOf, type Target } from '../run/run.ts';
import { formatDuration, localTime } from '../system/time-text.ts';

/** A trigger that may have started a run whose id isn't known: as messages speak of it. */
interface DoubtfulTrigger extends Omit<InDoubtDetails, 'why'> {
  target: Target;
  idempotencyKey: string;
}

export function diagnosticOfDoubt({ target, triggerInfo, inDoubt }: OutcomeOf<'in_doubt'>): Diagnostic | undefined {
  const { reason } = inDoubt;
  const trigger = { ...inDoubt, target, idempotencyKey: triggerInfo?.idempotencyKey ?? '' };
  switch (reason.kind) {
    case 'no_response':
      return diagnosticOfLost(reason.fault, trigger);
    case 'signal':
      return diagnosticOfInterrupted(trigger);
    case 'expired':
      return diagnosticOfExpired(trigger);
    case 'other_api_key':
      return diagnosticOfOtherApiKey(trigger);
    case 'withheld':
      return diagnosticOfWithheld(trigger);
    case 'sending':
      return { message: `${triggerAt(trigger)} is still being sent by ${shownProcess(reason.process)}` };
    case 'listed':
      return {
        message: `this trigger of ${automationNameOf(target)} has no recorded response; it may have started a run`,
        hint: reason.isRecoverable ? recoverCommandFor(trigger) : undefined,
      };
    case 'superseded':
      return undefined;
  }
}

function diagnosticOfLost(fault: Fault, trigger: DoubtfulTrigger): Diagnostic {
  const { target, ignoresKeys } = trigger;
  // A refusal can only be that of a retry, because otherwise the trigger wouldn't be in doubt.
  const isRetry = deliveryOf(fault) === 'refused';
  const next = whatNext(trigger, fault);
  return {
    message: `the trigger of ${automationNameOf(target)} got no valid response${afterLoss(fault, trigger, isRetry)}`,
    hint: fault.kind === 'unauthorized' ? hintAfterRefusal(fault, next, trigger) : next,
    needsPerson: ignoresKeys,
  };
}

/** With another API key, the idempotency key would be a new one. */
const hintAfterRefusal = ({ hint }: Fault, next: string, trigger: DoubtfulTrigger) =>
  hint ? `${hint}\nthen ${next}` : `${apiKeyHint}; with the one that sent the trigger, ${next}\n${orLookFor(trigger)}`;

/** What followed once a response was lost, and what that means for the run. `isRetry`: this fault is that of a retry. */
function afterLoss(fault: Fault, trigger: DoubtfulTrigger, isRetry: boolean): string {
  const facts = [...httpFactsOf(fault), `idempotency key ${trigger.idempotencyKey}`].join(', ');
  return `${whatFollowed(fault, trigger, isRetry)} (${facts})${notRepeated(trigger)}`;
}

function whatFollowed(fault: Fault, { conflict }: DoubtfulTrigger, isRetry: boolean): string {
  if (fault.kind === 'already_active') return `, and on the retry ${activeRun(fault, conflict?.isOthers)}`;
  return `${isRetry ? ', and the retry failed' : ''}: ${fault.message}; a run may have been started`;
}

function activeRun({ executionId }: Fault, isOthers = false): string {
  if (executionId === undefined) return 'a run was already active, perhaps its own';
  if (isOthers) return `another run was active (${executionId}), so this trigger may have started one, too`;
  return `run ${executionId} was already active, perhaps its own`;
}

/** The sentence of `recover` about a trigger that it sent again in vain. */
export function unresolvedText(fault: Fault, trigger: DoubtfulTrigger): string {
  const sentMs = sentMsOf(trigger);
  const when = sentMs === undefined ? '' : `, triggered at ${localTime(sentMs)},`;
  const name = automationNameOf(trigger.target);
  return `${name}${when} is unresolved: its response was lost${afterLoss(fault, trigger, true)}`;
}

function diagnosticOfInterrupted(trigger: DoubtfulTrigger): Diagnostic {
  const { target, idempotencyKey, conflict, ignoresKeys } = trigger;
  const whatever = `interrupted; a run of ${automationNameOf(target)} may have been started (idempotency key ${idempotencyKey})`;
  return {
    message: whatever + notRepeated(trigger),
    hint: whatNext({ ...trigger, conflict: conflict && { ...conflict, activeExecutionId: undefined } }),
    needsPerson: ignoresKeys,
  };
}

const whyIgnored = 'the service ignores idempotency keys, so a second run could start';

const notRepeated = ({ ignoresKeys }: DoubtfulTrigger) => (ignoresKeys ? `. It isn't sent again: ${whyIgnored}` : '');

/** What to type now, what later, and what on another machine: one line each. The first command starts no second run. */
function whatNext(trigger: DoubtfulTrigger, { retryAfterMs = 0 }: Partial<Fault> = {}): string {
  const { target, conflict, recorded } = trigger;
  const again = recorded ? recoverIn(retryAfterMs, trigger) : triggerAgain(trigger);
  if (trigger.ignoresKeys) return `${lookFor(trigger)}; if there is none: ${again}`;
  const lines: string[] = [];
  if (conflict?.activeExecutionId !== undefined) {
    const active = fullArgumentOf({ target, executionId: conflict.activeExecutionId });
    lines.push(`follow that run: \`runctl watch ${active}\``);
  }
  let when = '';
  if (conflict) when = 'when it has finished, ';
  else if (retryAfterMs > 0) when = `in ${formatDuration(retryAfterMs)}, as the service asks, `;
  const soon = recorded ? '' : ' (within 24h)';
  lines.push(`${when}send it again with the same idempotency key${soon}: ${again}`);
  const sentMs = sentMsOf(trigger);
  if (sentMs !== undefined) {
    const until = localTime(sentMs + defaults.keyRetentionMs);
    lines.push(`On any other machine, until ${until}: ${triggerAgain(trigger)}`);
  }
  return lines.join('\n');
}

/** When it was first sent. Undefined if the journal doesn't say, or dates it in the future. */
export const sentMsOf = ({ recorded }: Pick<DoubtfulTrigger, 'recorded'>): number | undefined =>
  recorded && Number.isFinite(recorded.ageMs) ? Date.parse(recorded.at) : undefined;

/** The command that sends the trigger after this time. An active run may take hours to finish. */
function recoverIn(waitMs: number, trigger: DoubtfulTrigger): string {
  const ageMs = (trigger.recorded?.ageMs ?? 0) + waitMs;
  const isWithheld = trigger.ignoresKeys || trigger.conflict !== undefined || ageMs > defaults.recoverMaxAgeMs;
  return isWithheld ? resend(trigger) : '`runctl recover`';
}

/** What resolves it, or says why not. Of an older one, `recover` first says which run to look for. */
export const recoverCommandFor = (trigger: SentTrigger): string =>
  isSkippedByOther(trigger) ? resend(trigger) : '`runctl recover`';

type SentTrigger = Pick<UnresolvedTrigger, 'target' | 'ifActive' | 'conflict'>;

/** With `--if-active skip`, a trigger starts nothing beside another run, and one was active. */
const isSkippedByOther = ({ ifActive, conflict }: SentTrigger) => ifActive === 'skip' && conflict !== undefined;

/** Only this trigger is sent, as nothing was said of others. */
const resend = ({ target }: Pick<DoubtfulTrigger, 'target'>) =>
  `\`runctl recover ${shellWord(fullNameOf(target))} --resend\``;

function triggerAgain({ target, idempotencyKey, ifActive }: DoubtfulTrigger): string {
  const skip = ifActive === 'skip' ? ' --if-active skip' : '';
  return `\`runctl trigger ${shellWord(fullNameOf(target))} --idempotency-key ${shellWord(idempotencyKey)}${skip}\``;
}

/** How to find the run in the service, which can't list runs. */
export function lookFor(trigger: Omit<DoubtfulTrigger, 'idempotencyKey' | 'ignoresKeys'>): string {
  const { target, recorded, conflict } = trigger;
  const sentMs = sentMsOf(trigger);
  let when = ' that began just now';
  if (recorded) when = sentMs === undefined ? '' : ` that began at about ${localTime(sentMs)}`;
  const isPerhaps = conflict?.activeExecutionId !== undefined && !conflict.isOthers;
  const which = isPerhaps ? ` (perhaps ${conflict.activeExecutionId})` : '';
  return `look in the service for a run of ${automationNameOf(target)}${when}${which}`;
}

/** The trigger in a sentence, with the time at which it was first sent. */
export function triggerAt(trigger: Pick<DoubtfulTrigger, 'target' | 'recorded'>): string {
  const sentMs = sentMsOf(trigger);
  const when = sentMs === undefined ? '' : ` at ${localTime(sentMs)}`;
  return `the trigger of ${automationNameOf(trigger.target)}${when}`;
}

/** Why `recover` sends it only with `--resend`: a second run, or a late one, could start. */
function whyWithheld(trigger: DoubtfulTrigger): string {
  const { ageMs = 0 } = trigger.recorded ?? {};
  if (trigger.ignoresKeys) return whyIgnored;
  if (isSkippedByOther(trigger))
    return 'another run was active, and with `--if-active skip` it was to start none beside that';
  const age = Number.isFinite(ageMs) ? `${formatDuration(ageMs)} old` : "dated in the future, so its age isn't known";
  return `it is ${age}, and if it never arrived, its run would start now`;
}

/** The trigger isn't sent, though its outcome is unknown: `recover` needs `--resend`. */
function diagnosticOfWithheld(trigger: DoubtfulTrigger): Diagnostic {
  return {
    message: `${triggerAt(trigger)} isn't sent again: ${whyWithheld(trigger)} (idempotency key ${trigger.idempotencyKey})`,
    hint: `${lookFor(trigger)}; if there is none, send it again: ${resend(trigger)}`,
    needsPerson: true,
  };
}

/** The idempotency key was sent with another API key, and the outcome is unknown. With this API key, it is a new key. */
function diagnosticOfOtherApiKey(trigger: DoubtfulTrigger): Diagnostic {
  const { target, idempotencyKey } = trigger;
  return {
    message: `the idempotency key ${idempotencyKey} was sent with another API key, and may have started a run of ${automationNameOf(target)}. With this API key a second run could start`,
    hint: `${apiKeyHint}: set the one that sent the trigger, then \`runctl recover\`\n${orLookFor(trigger)}`,
  };
}

/** Without the API key that sent it, a trigger in doubt can't be sent again. */
function orLookFor(trigger: DoubtfulTrigger): string {
  const sentMs = sentMsOf(trigger);
  const tracked =
    sentMs === undefined
      ? ''
      : `. After ${localTime(sentMs + defaults.keyRetentionMs)} nothing asks about this trigger any more`;
  return `If that API key no longer works, ${lookFor(trigger)}${tracked}`;
}

/** An idempotency key whose outcome is unknown and that the service may have forgotten. */
function diagnosticOfExpired(trigger: DoubtfulTrigger): Diagnostic {
  const { target, idempotencyKey } = trigger;
  return {
    message: `the idempotency key ${idempotencyKey} was first sent more than 24h ago, and may have started a run of ${automationNameOf(target)}`,
    hint: `${lookFor(trigger)}; if there is none, trigger with a new idempotency key`,
  };
}

/** `process 4711 on build-host`. */
export function shownProcess(name: string): string {
  const [host = '', pid] = name.split(' ');
  return `process ${pid} on ${host.replace(/\/.*/s, '')}`;
}
