import { senderOf } from '../journal/processes.ts';
import type { Ports } from '../ports.ts';
import { ageOf, noError, type UnresolvedTrigger } from '../run/entry.ts';
import { type InDoubtReason, reasonToWithhold } from '../run/in-doubt.ts';
import type { OutcomeOf, Recovery, TriggerOutcome } from '../run/outcome.ts';
import { type Problem, problemOrThrow } from '../run/problem.ts';
import type { Target } from '../run/run.ts';
import { fetchAndRecordOptionalStatus } from '../watch/fetch-run.ts';
import { readResultsOfFailed } from '../watch/read-errors.ts';
import { outcomeInDoubt } from './outcome-in-doubt.ts';
import { outcomeOfRecoveredRun } from './outcome-with-run.ts';
import { outcomeWithoutRun } from './outcome-without-run.ts';
import { sendTrigger } from './send-trigger.ts';
import type { TriggerResult } from './trigger-result.ts';

export interface RecoverFlags {
  dryRun?: boolean;
  /** Send triggers even if that may start a second run, or a late one. */
  resend?: boolean;
}

/** An unresolved trigger, and how sending it again went, or why it wasn't sent. */
interface ResendResult {
  trigger: UnresolvedTrigger;
  /** The age of the trigger before it was sent again. */
  ageMs: number;
  result: TriggerResult | NotSent | ResendProblem;
}

/** Nothing was sent. */
type NotSent =
  | { kind: 'not_resent'; reason: InDoubtReason }
  /** Without `--dry-run`, it would have been sent. */
  | { kind: 'dry_run' };

/** The trigger may have been sent before this was thrown. */
interface ResendProblem {
  kind: 'problem';
  problem: Problem;
}

/**
 * Resolves the unresolved triggers. Their outcomes are made after all of them were sent, because a
 * trigger may be refused due to an active run that turns out to belong to another of them.
 */
export async function recoverAll(
  flags: RecoverFlags,
  ports: Ports,
  isSelected: (target: Target) => boolean = () => true,
): Promise<Recovery[]> {
  const results = await resendEach(flags, ports, isSelected);
  const recoveries = results.map(
    (each): Recovery => ({
      trigger: each.trigger,
      ageMs: each.ageMs,
      outcome: asReportIfResolved(outcomeOfResendOrProblem(each, flags, ports), flags),
    }),
  );
  try {
    return await withStatuses(recoveries, ports);
  } catch (error) {
    // If the journal can't be read any more, what was sent is reported nevertheless.
    problemOrThrow(error);
    return recoveries;
  }
}

/** Sends them newest first, because a trigger isn't sent if a later one has a run. */
async function resendEach(
  flags: RecoverFlags,
  ports: Ports,
  isSelected: (target: Target) => boolean,
): Promise<ResendResult[]> {
  const { journal, baseUrl, clock } = ports;
  const selected = journal.unresolved({ baseUrl }).filter(({ target }) => isSelected(target));
  const results: ResendResult[] = [];
  for (const trigger of selected) {
    const ageMs = ageOf(trigger, clock.nowMs());
    try {
      results.push({ trigger, ageMs, result: await resendOne(trigger, flags, ports) });
    } catch (error) {
      // If nothing was sent, the problem ends the command. Otherwise the triggers that were sent
      // are reported as well.
      const isAnySent = results.some(
        ({ result }) => result.kind !== 'not_resent' && result.kind !== 'dry_run',
      );
      if (!isAnySent) throw error;
      results.push({
        trigger,
        ageMs,
        result: { kind: 'problem', problem: problemOrThrow(error) },
      });
    }
  }
  return results;
}

/** Sends the same key again, which finds the run, or starts it if the trigger never arrived. */
async function resendOne(
  trigger: UnresolvedTrigger,
  { dryRun, resend }: RecoverFlags,
  ports: Ports,
): Promise<TriggerResult | NotSent | ResendProblem> {
  const account = await ports.account(trigger.idempotencyKey);
  const reason = reasonNotToResend(trigger, account, resend, ports);
  if (reason) return { kind: 'not_resent', reason };
  if (dryRun) return { kind: 'dry_run' };
  try {
    return await sendAgain(trigger, ports);
  } catch (error) {
    return { kind: 'problem', problem: problemOrThrow(error) };
  }
}

/** Why a trigger isn't sent again. Undefined if it is. */
function reasonNotToResend(
  trigger: UnresolvedTrigger,
  account: string,
  resend: boolean | undefined,
  { journal, processes, clock, ignoresKeys }: Ports,
): InDoubtReason | undefined {
  const process = senderOf(trigger, processes, clock.nowMs());
  if (process !== undefined) return { kind: 'sending', process };
  if (journal.hasLaterRun(trigger)) return { kind: 'superseded' };
  if (trigger.account !== account) return { kind: 'other_api_key' };
  if (resend) return undefined;
  const ageMs = ageOf(trigger, clock.nowMs());
  const because = reasonToWithhold(trigger, { ageMs, ignoresKeys });
  return because && { kind: 'withheld', because };
}

async function sendAgain(trigger: UnresolvedTrigger, ports: Ports): Promise<TriggerResult> {
  if (ports.signal.aborted) return { kind: 'in_doubt', reason: { kind: 'interrupted' } };
  const ageMs = ageOf(trigger, ports.clock.nowMs());
  // If the record is dated in the future, the age isn't known. `--resend` sends it all the same.
  const earlier = { ageMs: Number.isFinite(ageMs) ? ageMs : 0, attempts: trigger.sendingIds };
  const sendOptions = {
    earlier,
    resolvesEarlierAttempts: true,
    mayRepeatAfterLoss: !ports.ignoresKeys,
  };
  const { result } = await sendTrigger(trigger, sendOptions, ports);
  return result;
}

/** If the journal can't be read any more, what was sent is reported nevertheless. */
function outcomeOfResendOrProblem(
  sent: ResendResult,
  flags: RecoverFlags,
  ports: Ports,
): TriggerOutcome {
  try {
    return outcomeOfResend(sent, flags, ports);
  } catch (error) {
    return outcomeOfProblem(sent.trigger, problemOrThrow(error));
  }
}

function outcomeOfResend(
  { trigger, result }: ResendResult,
  { dryRun }: RecoverFlags,
  ports: Ports,
): TriggerOutcome {
  const { target } = trigger;
  switch (result.kind) {
    case 'has_run':
      return outcomeOfRecoveredRun(result, trigger, ports);
    case 'no_run':
      return outcomeWithoutRun(result, trigger, ports);
    case 'in_doubt':
      return outcomeInDoubt(result.reason, trigger, ports);
    case 'not_resent':
      if (result.reason.kind === 'superseded' && !dryRun) recordSuperseded(trigger, ports);
      return outcomeInDoubt(result.reason, trigger, ports);
    case 'dry_run':
      return { kind: 'dry_run', target, triggerInfo: unknownTriggerInfo(trigger) };
    case 'problem':
      return outcomeOfProblem(trigger, result.problem);
  }
}

const unknownTriggerInfo = ({ idempotencyKey }: UnresolvedTrigger) =>
  ({ attribution: 'in_doubt', idempotencyKey, isSafeToRepeat: true }) as const;

function outcomeOfProblem(trigger: UnresolvedTrigger, cause: Problem): TriggerOutcome {
  const problem = cause.with({ name: 'outcome_unknown' });
  return {
    kind: 'problem',
    target: trigger.target,
    triggerInfo: unknownTriggerInfo(trigger),
    problem,
  };
}

/** After this record the trigger counts as resolved, so no command mentions it again. */
function recordSuperseded(
  { target, idempotencyKey }: UnresolvedTrigger,
  { journal, baseUrl }: Ports,
): void {
  journal.append({ type: 'superseded', baseUrl, target, idempotencyKey });
}

/**
 * `recover` exits with 0 for a trigger that it resolved, even if that has no run. It fails for one
 * that stays unresolved.
 */
function asReportIfResolved(outcome: TriggerOutcome, { dryRun }: RecoverFlags): TriggerOutcome {
  const isResolved = outcome.kind !== 'in_doubt' || outcome.inDoubt.reason.kind === 'superseded';
  return isResolved || dryRun ? { ...outcome, isReportOnly: true } : outcome;
}

/** How many statuses are requested at once. */
const statusesAtOnce = 10;

/**
 * Requests the status of each run once, because nobody may be watching it, and the error of those
 * that didn't complete. Both are optional.
 */
async function withStatuses(recoveries: readonly Recovery[], ports: Ports): Promise<Recovery[]> {
  const current: Recovery[] = [];
  for (let index = 0; index < recoveries.length; index += statusesAtOnce) {
    const some = recoveries.slice(index, index + statusesAtOnce);
    current.push(...(await Promise.all(some.map((recovery) => withStatus(recovery, ports)))));
  }
  const withRun = current.flatMap(({ outcome }) => (outcome.kind === 'has_run' ? outcome : []));
  await readResultsOfFailed(
    withRun.flatMap(({ run, snapshot }) => (snapshot ? { run, snapshot } : [])),
    ports,
  );
  return current.map((recovery) => ({ ...recovery, error: recordedError(recovery, ports) }));
}

async function withStatus(recovery: Recovery, ports: Ports): Promise<Recovery> {
  const { outcome } = recovery;
  if (outcome.kind !== 'has_run' || outcome.snapshot?.isFinal) return recovery;
  const snapshot = await fetchAndRecordOptionalStatus(outcome.run, ports);
  if (!snapshot) return recovery;
  const current: OutcomeOf<'has_run'> & TriggerOutcome = { ...outcome, snapshot };
  return { ...recovery, outcome: current };
}

function recordedError({ outcome }: Recovery, { journal, baseUrl }: Ports): string | undefined {
  if (outcome.kind !== 'has_run' || !outcome.snapshot?.isFinal) return undefined;
  const error = journal.find(outcome.run.executionId, { baseUrl })?.error;
  return error === noError ? undefined : error;
}
