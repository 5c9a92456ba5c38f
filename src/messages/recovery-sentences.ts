import { attributions } from '../run/attribution.ts';
import type { UnresolvedTrigger } from '../run/entry.ts';
import { reasonOf } from '../run/fault.ts';
import { defaults, serviceLimits } from '../run/limits.ts';
import type { OutcomeOf, Recovery, TriggerOutcome } from '../run/outcome.ts';
import type { JsonObject } from '../system/json.ts';
import { localTime } from '../system/time-text.ts';
import type { HintContext } from './hint-context.ts';
import { searchHint, triggerText, unresolvedText } from './in-doubt-diagnostics.ts';
import { diagnosticOf } from './outcome-diagnostics.ts';
import { sentMsOf } from './recover-commands.ts';

/** The values of `resolution` in the documents of `recover`. */
export const allResolutions = [
  'found',
  'refused',
  'superseded',
  'left',
  'unresolved',
  'other_api_key',
  'withheld',
  'failed',
] as const;

/**
 * `failed` is the public word for a trigger that was sent again and is still in doubt, and
 * `unresolved` the one for a trigger that `--dry-run` didn't send.
 */
function resolutionOf(outcome: TriggerOutcome): (typeof allResolutions)[number] {
  switch (outcome.kind) {
    case 'has_run':
      return 'found';
    case 'dry_run':
      return 'unresolved';
    case 'no_run':
      return 'refused';
    case 'in_doubt': {
      const { kind } = outcome.inDoubt.reason;
      if (kind === 'sending') return 'left';
      return kind === 'superseded' || kind === 'other_api_key' || kind === 'withheld'
        ? kind
        : 'failed';
    }
    default:
      return 'failed';
  }
}

/** The field `recover` in the JSON document of a trigger. */
export function reportOfRecovery(recovery: Recovery, flags: { resend?: boolean }): JsonObject {
  const { trigger, outcome } = recovery;
  const untilMs = untilMsOf(recovery, flags);
  return {
    at: trigger.at,
    resolution: resolutionOf(outcome),
    reason: trigger.reason ?? null,
    ...(untilMs !== undefined && { until: new Date(untilMs).toISOString() }),
  };
}

/** Until when `recover` would send the trigger. */
function untilMsOf(
  { trigger, outcome, ageMs }: Recovery,
  { resend }: { resend?: boolean },
): number | undefined {
  const sentMs = sentMsOf({ at: trigger.at, ageMs });
  if (outcome.kind !== 'dry_run' || sentMs === undefined) return undefined;
  return sentMs + (resend ? serviceLimits.keyRetentionMs : defaults.recoverMaxAgeMs);
}

/** A sentence about how a trigger was resolved, or why it wasn't. */
export function sentenceOfRecovery(
  recovery: Recovery,
  flags: { resend?: boolean },
  hintContext: HintContext,
): string {
  const { trigger, outcome, ageMs, error } = recovery;
  const subject = triggerText(trigger.target, { recorded: { at: trigger.at, ageMs } });
  switch (outcome.kind) {
    case 'has_run':
      return `${subject} ${runText(outcome, error, hintContext)}`;
    case 'no_run':
      return `${subject} started no run: ${reasonOf(outcome.fault)}`;
    case 'dry_run': {
      const untilMs = untilMsOf(recovery, flags);
      const limit = untilMs === undefined ? '' : `, until ${localTime(untilMs)}`;
      const { reason } = trigger;
      const details =
        reason === undefined ? 'it has no recorded response' : `last attempt: ${reason}`;
      return `${subject} would be sent again${limit} (${details})`;
    }
    case 'in_doubt':
      return sentenceInDoubt(subject, trigger, outcome, hintContext);
    default:
      return `${subject} is unresolved: ${diagnosticOf(outcome, hintContext)?.message}`;
  }
}

function sentenceInDoubt(
  subject: string,
  { target, idempotencyKey }: UnresolvedTrigger,
  outcome: OutcomeOf<'in_doubt'>,
  hintContext: HintContext,
): string {
  const { inDoubt } = outcome;
  const { message = '' } = diagnosticOf(outcome, hintContext) ?? {};
  switch (inDoubt.reason.kind) {
    case 'last_attempt_failed':
      return unresolvedText(inDoubt.reason.fault, { ...inDoubt, target, idempotencyKey });
    case 'superseded': {
      const search = searchHint(target, inDoubt);
      return `${subject} isn't sent again, because a later one has a run; if it matters, ${search}`;
    }
    // These messages begin with the trigger themselves.
    case 'sending':
    case 'other_api_key':
    case 'withheld':
      return message;
    default:
      return `${subject} is unresolved: ${message}`;
  }
}

/**
 * The run of a trigger, and its status. It may be RUNNING only because a service repeats its first
 * response.
 */
function runText(
  { triggerInfo, run, snapshot }: OutcomeOf<'has_run'>,
  error: string | undefined,
  { argumentOf }: HintContext,
): string {
  const isEarlier = attributions[triggerInfo.attribution].started === 'no';
  const found = isEarlier ? 'had started run' : 'was sent again; its run is';
  const hasRun = `${found} ${run.executionId}`;
  if (!snapshot?.isFinal) return `${hasRun}; to watch it: \`runctl watch ${argumentOf(run)}\``;
  const reason = error === undefined ? '' : `: ${error}`;
  return `${hasRun}, which finished ${snapshot.status}${reason}`;
}
