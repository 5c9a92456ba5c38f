import { attributions } from '../run/attribution.ts';
import { reasonOf } from '../run/fault.ts';
import { defaults } from '../run/limits.ts';
import type { Recovery, TriggerOutcome } from '../run/outcome.ts';
import type { JsonObject } from '../system/json.ts';
import { localTime } from '../system/time-text.ts';
import type { HintContext } from './hint-context.ts';
import { lookFor, sentMsOf, triggerAt, unresolvedText } from './of-doubt.ts';
import { diagnosticOf } from './of-outcome.ts';

/** How `recover` can resolve a trigger, in its documents. */
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
      return kind === 'superseded' || kind === 'other_api_key' || kind === 'withheld' ? kind : 'failed';
    }
    default:
      return 'failed';
  }
}

/** What the document of a trigger says of its recovery. */
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
function untilMsOf({ trigger, outcome, ageMs }: Recovery, { resend }: { resend?: boolean }): number | undefined {
  const sentMs = sentMsOf({ recorded: { at: trigger.at, ageMs } });
  if (outcome.kind !== 'dry_run' || sentMs === undefined) return undefined;
  return sentMs + (resend ? defaults.keyRetentionMs : defaults.recoverMaxAgeMs);
}

/** What became of a trigger, in a sentence. */
export function sentenceOfRecovery(recovery: Recovery, flags: { resend?: boolean }, hintContext: HintContext): string {
  const { trigger, outcome, ageMs, error } = recovery;
  const { target, at, reason, idempotencyKey } = trigger;
  const recorded = { at, ageMs };
  const about = triggerAt({ target, recorded });
  switch (outcome.kind) {
    case 'has_run':
      return `${about} ${foundText(outcome, error, hintContext)}`;
    case 'no_run':
      return `${about} started no run: ${reasonOf(outcome.fault)}`;
    case 'dry_run': {
      const untilMs = untilMsOf(recovery, flags);
      const during = untilMs === undefined ? '' : `, until ${localTime(untilMs)}`;
      const why = reason === undefined ? 'it has no recorded response' : `last attempt: ${reason}`;
      return `${about} would be sent again${during} (${why})`;
    }
    case 'in_doubt': {
      const { reason: why } = outcome.inDoubt;
      const { kind } = why;
      const { message = '' } = diagnosticOf(outcome, hintContext) ?? {};
      if (kind === 'no_response') return unresolvedText(why.fault, { ...outcome.inDoubt, target, idempotencyKey });
      if (kind === 'superseded')
        return `${about} isn't sent again, because a later one has a run; if it matters, ${lookFor({ target, ...outcome.inDoubt })}`;
      const isWhole = kind === 'sending' || kind === 'other_api_key' || kind === 'withheld';
      return isWhole ? message : `${about} is unresolved: ${message}`;
    }
    default:
      return `${about} is unresolved: ${diagnosticOf(outcome, hintContext)?.message}`;
  }
}

/** How its run was found, and how it stands: RUNNING, perhaps, because a service may repeat its first response. */
function foundText(
  { triggerInfo, run, status }: Extract<TriggerOutcome, { kind: 'has_run' }>,
  error: string | undefined,
  { argumentOf }: HintContext,
): string {
  const found =
    attributions[triggerInfo.attribution].started === 'no' ? 'had started run' : 'was sent again; its run is';
  const end = status?.isFinal
    ? `, which finished ${status.status}${error === undefined ? '' : `: ${error}`}`
    : `; to watch it: \`runctl watch ${argumentOf(run)}\``;
  return `${found} ${run.executionId}${end}`;
}
