import { senderOf } from '../journal/processes.ts';
import { ageOf, type UnresolvedTrigger } from '../run/entry.ts';
import { defaults } from '../run/limits.ts';
import type { InDoubtReason, OutcomeOf, Recovery, TriggerOutcome } from '../run/outcome.ts';
import { type Problem, problemOrThrow } from '../run/problem.ts';
import type { Target } from '../run/run.ts';
import { fetchOptional, readErrors } from '../watch/fetch-run.ts';
import type { Ports } from '../watch/ports.ts';
import { outcomeOfRecoveredRun } from './outcome-with-run.ts';
import { outcomeInDoubt, outcomeWithoutRun } from './outcome-without-run.ts';
import { sendTrigger } from './send-trigger.ts';
import type { TriggerResult } from './trigger-result.ts';

export interface RecoverFlags {
  dryRun?: boolean;
  /** Send triggers even if that may start a second run, or a late one. */
  resend?: boolean;
}

/** An unresolved trigger, and what `recover` did about it. */
interface Recovered {
  trigger: UnresolvedTrigger;
  /** Before it was sent. */
  ageMs: number;
  result: TriggerResult | NotSent;
}

type NotSent =
  | { kind: 'left_alone'; reason: InDoubtReason }
  | { kind: 'dry_run' } // it would have been sent
  | { kind: 'problem'; problem: Problem };

/**
 * Resolves the triggers whose outcome is unknown. Their outcomes are only made once all are
 * answered, because the active run that caused the refusal of one may turn out to be the run of
 * another one.
 */
export async function recoverAll(
  flags: RecoverFlags,
  ports: Ports,
  isSelected: (target: Target) => boolean = () => true,
): Promise<Recovery[]> {
  const recovered = await recoverEach(flags, ports, isSelected);
  const recoveries = recovered.map(
    (each): Recovery => ({
      trigger: each.trigger,
      ageMs: each.ageMs,
      outcome: withExitsZero(outcomeOrProblem(each, flags, ports), flags),
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

/** Sends them newest first: if that one has a run, earlier ones aren't sent. */
async function recoverEach(
  flags: RecoverFlags,
  ports: Ports,
  isSelected: (target: Target) => boolean,
): Promise<Recovered[]> {
  const { journal, baseUrl, clock } = ports;
  const recovered: Recovered[] = [];
  for (const trigger of journal
    .unresolved({ baseUrl })
    .filter(({ target }) => isSelected(target))) {
    const ageMs = ageOf(trigger, clock.nowMs());
    try {
      recovered.push({ trigger, ageMs, result: await recoverOne(trigger, flags, ports) });
    } catch (error) {
      // If nothing was sent, the problem ends the command. Otherwise the triggers that were sent
      // are reported as well.
      const isAnySent = recovered.some(
        ({ result }) => result.kind !== 'left_alone' && result.kind !== 'dry_run',
      );
      if (!isAnySent) throw error;
      recovered.push({
        trigger,
        ageMs,
        result: { kind: 'problem', problem: problemOrThrow(error) },
      });
    }
  }
  return recovered;
}

/** The same key finds the run, or starts it if the trigger never arrived. */
async function recoverOne(
  trigger: UnresolvedTrigger,
  { dryRun, resend }: RecoverFlags,
  ports: Ports,
): Promise<TriggerResult | NotSent> {
  const account = await ports.account(trigger.idempotencyKey);
  const reason = reasonNotToResend(trigger, account, resend, ports);
  if (reason) return { kind: 'left_alone', reason };
  if (dryRun) return { kind: 'dry_run' };
  try {
    return await send(trigger, ports);
  } catch (error) {
    return { kind: 'problem', problem: problemOrThrow(error) };
  }
}

/** Why a trigger isn't sent again, if it isn't. */
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
  // With `--if-active skip` it was to start no run while another one was active, and one was.
  const isSkipped = trigger.ifActive === 'skip' && trigger.conflict !== undefined;
  const isRisky =
    ignoresKeys || isSkipped || ageOf(trigger, clock.nowMs()) > defaults.recoverMaxAgeMs;
  return isRisky && !resend ? { kind: 'withheld' } : undefined;
}

async function send(trigger: UnresolvedTrigger, ports: Ports): Promise<TriggerResult> {
  if (ports.signal.aborted) return { kind: 'in_doubt', reason: { kind: 'signal' } };
  const ageMs = ageOf(trigger, ports.clock.nowMs());
  // A record that is dated in the future has no age. It is only sent because the user says so.
  const earlier = { ageMs: Number.isFinite(ageMs) ? ageMs : 0, attempts: trigger.attempts };
  return sendTrigger(trigger, { earlier, isRecovery: true, honorsKeys: !ports.ignoresKeys }, ports);
}

/** If the journal can't be read any more, what was sent is reported nevertheless. */
function outcomeOrProblem(recovered: Recovered, flags: RecoverFlags, ports: Ports): TriggerOutcome {
  try {
    return outcomeOf(recovered, flags, ports);
  } catch (error) {
    return outcomeOfProblem(recovered.trigger, problemOrThrow(error));
  }
}

function outcomeOf(
  { trigger, result }: Recovered,
  { dryRun }: RecoverFlags,
  ports: Ports,
): TriggerOutcome {
  const { target } = trigger;
  switch (result.kind) {
    case 'has_run':
      return outcomeOfRecoveredRun(result, trigger, ports);
    case 'no_run':
    case 'in_doubt':
      return outcomeWithoutRun(result, trigger, ports);
    case 'left_alone':
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
 * `recover` succeeds with whatever it resolved, even if that started no run. It fails with what
 * stays in doubt.
 */
function withExitsZero(outcome: TriggerOutcome, { dryRun }: RecoverFlags): TriggerOutcome {
  const isResolved = outcome.kind !== 'in_doubt' || outcome.inDoubt.reason.kind === 'superseded';
  return isResolved || dryRun ? { ...outcome, exitsZero: true } : outcome;
}

/** So many statuses are requested at once. */
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
  await readErrors(
    withRun.flatMap(({ run, snapshot }) => (snapshot ? { run, snapshot } : [])),
    ports,
  );
  return current.map((recovery) => ({ ...recovery, error: recordedError(recovery, ports) }));
}

async function withStatus(recovery: Recovery, ports: Ports): Promise<Recovery> {
  const { outcome } = recovery;
  if (outcome.kind !== 'has_run' || outcome.snapshot?.isFinal) return recovery;
  const snapshot = await fetchOptional('status', outcome.run, ports);
  if (!snapshot) return recovery;
  ports.journal.recordStatus(ports.baseUrl, outcome.run, snapshot);
  const current: OutcomeOf<'has_run'> & TriggerOutcome = { ...outcome, snapshot };
  return { ...recovery, outcome: current };
}

function recordedError({ outcome }: Recovery, { journal, baseUrl }: Ports): string | undefined {
  if (outcome.kind !== 'has_run' || !outcome.snapshot?.isFinal) return undefined;
  return journal.find(outcome.run.executionId, { baseUrl })?.error || undefined;
}
