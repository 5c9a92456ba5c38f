import { apiKeyHint, deliveryOf, type Fault, httpFactsOf } from '../run/fault.ts';
import type { InDoubtDetails, WithheldBecause } from '../run/in-doubt.ts';
import { serviceLimits } from '../run/limits.ts';
import type { OutcomeOf } from '../run/outcome.ts';
import type { Diagnostic } from '../run/problem.ts';
import { fullArgumentOf, quotedName } from '../run/quote.ts';
import type { Target } from '../run/run.ts';
import { formatDuration, localTime } from '../system/time-text.ts';
import {
  recoverCommandAfter,
  recoverCommandFor,
  resendCommand,
  sentMsOf,
  type TriggerInDoubt,
  triggerCommandFor,
} from './recover-commands.ts';

/** The message for a trigger in doubt. Undefined if a later trigger has a run. */
export function diagnosticInDoubt({
  target,
  triggerInfo,
  inDoubt,
}: OutcomeOf<'in_doubt'>): Diagnostic | undefined {
  const { reason } = inDoubt;
  const trigger = { ...inDoubt, target, idempotencyKey: triggerInfo?.idempotencyKey ?? '' };
  const name = quotedName(target);
  switch (reason.kind) {
    case 'last_attempt_failed':
      return diagnosticOfLost(reason.fault, trigger);
    case 'interrupted':
      return diagnosticOfInterrupted(trigger);
    case 'key_expired':
      return diagnosticOfExpiredKey(trigger);
    case 'other_api_key':
      return diagnosticOfOtherApiKey(trigger);
    case 'withheld':
      return diagnosticOfWithheld(reason.because, trigger);
    case 'sending': {
      const process = processText(reason.process);
      return { message: `${triggerText(target, inDoubt)} is still being sent by ${process}` };
    }
    case 'listed':
      return {
        message: `this trigger of ${name} has no recorded response; it may have started a run`,
        hint: reason.isRecoverable ? recoverCommandFor(trigger) : undefined,
      };
    case 'superseded':
      return undefined;
  }
}

function diagnosticOfLost(fault: Fault, trigger: TriggerInDoubt): Diagnostic {
  const { target, ignoresKeys } = trigger;
  // If the last response was a refusal, a retry got it. After a refused first attempt, the trigger
  // wouldn't be in doubt.
  const isRetry = deliveryOf(fault) === 'refused';
  const steps = nextSteps(trigger, fault.retryAfterMs);
  const lost = `the response to the trigger of ${quotedName(target)} was lost`;
  return {
    message: lost + afterLoss(fault, trigger, isRetry),
    hint: fault.kind === 'unauthorized' ? hintAfterRefusal(fault, steps, trigger) : steps,
    needsPerson: ignoresKeys,
  };
}

/** The hint if the retry was refused with 401 or 403. */
function hintAfterRefusal({ hint }: Fault, steps: string, trigger: TriggerInDoubt): string {
  if (hint) return `${hint}\nthen ${steps}`;
  const withThatApiKey = `${apiKeyHint}; with the one that sent the trigger, ${steps}`;
  return `${withThatApiKey}\n${withoutThatApiKey(trigger)}`;
}

/**
 * The rest of a sentence about a lost response: what happened then, and what it means for the run.
 */
function afterLoss(fault: Fault, trigger: TriggerInDoubt, isRetry: boolean): string {
  const facts = [...httpFactsOf(fault), `idempotency key ${trigger.idempotencyKey}`].join(', ');
  return `${failureText(fault, trigger, isRetry)} (${facts})${notRepeated(trigger)}`;
}

/** What happened after the lost response. `isRetry`: the fault is the one of a retry. */
function failureText(fault: Fault, { conflict }: TriggerInDoubt, isRetry: boolean): string {
  const { executionId, message } = fault;
  if (fault.kind !== 'already_active') {
    const retryFailed = isRetry ? ', and the retry failed' : '';
    return `${retryFailed}: ${message}; a run may have been started`;
  }
  if (executionId === undefined)
    return ', and on the retry a run was already active, perhaps its own';
  if (!conflict?.isOthers)
    return `, and on the retry run ${executionId} was already active, perhaps its own`;
  const otherRun = `, and on the retry another run was active (${executionId})`;
  return `${otherRun}, so this trigger may have started one, too`;
}

/** The sentence of `recover` about a trigger that it sent again without getting a run. */
export function unresolvedText(fault: Fault, trigger: TriggerInDoubt): string {
  const sentMs = sentMsOf(trigger.recorded);
  const sentClause = sentMs === undefined ? '' : `, triggered at ${localTime(sentMs)},`;
  const name = quotedName(trigger.target);
  const loss = `its response was lost${afterLoss(fault, trigger, true)}`;
  return `${name}${sentClause} is unresolved: ${loss}`;
}

function diagnosticOfInterrupted(trigger: TriggerInDoubt): Diagnostic {
  const { target, idempotencyKey, conflict, ignoresKeys } = trigger;
  const whatHappened = `interrupted; a run of ${quotedName(target)} may have been started`;
  const withoutActiveRun = conflict && { ...conflict, activeExecutionId: undefined };
  return {
    message: `${whatHappened} (idempotency key ${idempotencyKey})${notRepeated(trigger)}`,
    hint: nextSteps({ ...trigger, conflict: withoutActiveRun }),
    needsPerson: ignoresKeys,
  };
}

const keysIgnored = 'the service ignores idempotency keys, so a second run could start';

const notRepeated = ({ ignoresKeys }: TriggerInDoubt) =>
  ignoresKeys ? `. It isn't sent again: ${keysIgnored}` : '';

/**
 * What to type now, what later, and what on another machine: one line each. The first command
 * starts no second run.
 */
function nextSteps(trigger: TriggerInDoubt, retryAfterMs = 0): string {
  const { target, recorded } = trigger;
  const retryCommand = recorded
    ? recoverCommandAfter(retryAfterMs, trigger)
    : triggerCommandFor(trigger);
  if (trigger.ignoresKeys)
    return `${searchHint(target, trigger)}; if there is none: ${retryCommand}`;
  const limit = recorded ? '' : ' (within 24h)';
  const sendAgain = `send it again with the same idempotency key${limit}: ${retryCommand}`;
  const lines = [
    watchActiveLine(trigger),
    whenToSendAgain(trigger, retryAfterMs) + sendAgain,
    otherMachineLine(trigger),
  ];
  return lines.filter((line) => line !== undefined).join('\n');
}

function watchActiveLine({ target, conflict }: TriggerInDoubt): string | undefined {
  const executionId = conflict?.activeExecutionId;
  if (executionId === undefined) return undefined;
  return `follow that run: \`runctl watch ${fullArgumentOf({ target, executionId })}\``;
}

function whenToSendAgain({ conflict }: TriggerInDoubt, retryAfterMs: number): string {
  if (conflict) return 'when it has finished, ';
  return retryAfterMs > 0 ? `in ${formatDuration(retryAfterMs)}, as the service asks, ` : '';
}

function otherMachineLine(trigger: TriggerInDoubt): string | undefined {
  const sentMs = sentMsOf(trigger.recorded);
  if (sentMs === undefined) return undefined;
  const until = localTime(sentMs + serviceLimits.keyRetentionMs);
  return `On any other machine, until ${until}: ${triggerCommandFor(trigger)}`;
}

/** Says how a person can find the run, because the service has no endpoint that lists runs. */
export function searchHint(target: Target, { recorded, conflict }: InDoubtDetails): string {
  const sentMs = sentMsOf(recorded);
  let startedClause = ' that began just now';
  if (recorded)
    startedClause = sentMs === undefined ? '' : ` that began at about ${localTime(sentMs)}`;
  const mayBeActiveRun = conflict?.activeExecutionId !== undefined && !conflict.isOthers;
  const runClause = mayBeActiveRun ? ` (perhaps ${conflict.activeExecutionId})` : '';
  return `look in the service for a run of ${quotedName(target)}${startedClause}${runClause}`;
}

/** The trigger in a sentence, with the time at which it was first sent. */
export function triggerText(
  target: Target,
  { recorded }: { recorded?: InDoubtDetails['recorded'] },
): string {
  const sentMs = sentMsOf(recorded);
  const sentClause = sentMs === undefined ? '' : ` at ${localTime(sentMs)}`;
  return `the trigger of ${quotedName(target)}${sentClause}`;
}

/** Why `recover` sends the trigger only with `--resend`. */
function withheldText(because: WithheldBecause, ageMs: number): string {
  switch (because) {
    case 'keys_ignored':
      return keysIgnored;
    case 'to_be_skipped':
      return 'another run was active, and with `--if-active skip` it was to start none beside that';
    case 'dated_in_future':
      return `it is dated in the future, so its age isn't known, and ${runWouldStart}`;
    case 'old':
      return `it is ${formatDuration(ageMs)} old, and ${runWouldStart}`;
  }
}

const runWouldStart = 'if it never arrived, its run would start now';

/** The trigger is in doubt, but `recover` sends it only with `--resend`. */
function diagnosticOfWithheld(because: WithheldBecause, trigger: TriggerInDoubt): Diagnostic {
  const { target, idempotencyKey, recorded } = trigger;
  const cause = withheldText(because, recorded?.ageMs ?? 0);
  const notSent = `${triggerText(target, trigger)} isn't sent again: ${cause}`;
  const search = searchHint(target, trigger);
  return {
    message: `${notSent} (idempotency key ${idempotencyKey})`,
    hint: `${search}; if there is none, send it again: ${resendCommand(target)}`,
    needsPerson: true,
  };
}

/**
 * The trigger is in doubt, and its idempotency key was sent with another API key. The service keeps
 * idempotency keys by API key, so with this one it would start another run.
 */
function diagnosticOfOtherApiKey(trigger: TriggerInDoubt): Diagnostic {
  const { target, idempotencyKey } = trigger;
  const sent = `the idempotency key ${idempotencyKey} was sent with another API key`;
  const whatHappened = `${sent}, and may have started a run of ${quotedName(target)}`;
  const recover = `${apiKeyHint}: set the one that sent the trigger, then \`runctl recover\``;
  return {
    message: `${whatHappened}. With this API key a second run could start`,
    hint: `${recover}\n${withoutThatApiKey(trigger)}`,
  };
}

/** Without the API key that sent it, a trigger in doubt can't be sent again. */
function withoutThatApiKey(trigger: TriggerInDoubt): string {
  const search = `If that API key no longer works, ${searchHint(trigger.target, trigger)}`;
  const sentMs = sentMsOf(trigger.recorded);
  if (sentMs === undefined) return search;
  const until = localTime(sentMs + serviceLimits.keyRetentionMs);
  return `${search}. After ${until} runctl no longer asks about this trigger`;
}

/** The trigger is in doubt, and the service may have forgotten its idempotency key. */
function diagnosticOfExpiredKey(trigger: TriggerInDoubt): Diagnostic {
  const { target, idempotencyKey } = trigger;
  const whatHappened = `the idempotency key ${idempotencyKey} was first sent more than 24h ago`;
  return {
    message: `${whatHappened}, and may have started a run of ${quotedName(target)}`,
    hint: `${searchHint(target, trigger)}; if there is none, trigger with a new idempotency key`,
  };
}

/** A process in a sentence, such as `process 4711 on build-host`. */
export function processText(name: string): string {
  const [host = '', pid] = name.split(' ');
  return `process ${pid} on ${host.replace(/\/.*/s, '')}`;
}
