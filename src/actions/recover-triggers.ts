import type { Connection } from '../connection/connection.ts';
import type { UnresolvedTrigger } from '../journal/journal.ts';
import { senderOf } from '../journal/processes.ts';
import { triggerProblem } from '../problems/trigger-problems.ts';
import { otherAccountProblem, whyWithheld, withheldProblem } from '../problems/unknown-outcome.ts';
import type { Fault } from '../run/fault.ts';
import { interrupted } from '../run/fault.ts';
import { inDoubtProblem, Problem } from '../run/problem.ts';
import type { Target } from '../run/run.ts';
import type { StartedExecution } from '../run/service.ts';
import type { Evidence } from '../triggering/start-evidence.ts';
import { sendTrigger } from './send-trigger.ts';
import { unknownTriggerOf } from './unknown-trigger.ts';

export interface RecoverFlags {
  dryRun?: boolean;
  /** Send triggers even if that may start a second run, or a late one. */
  resend?: boolean;
  giveUpAfter?: number; // milliseconds
}

export type Recovery = { trigger: UnresolvedTrigger } & (
  | { kind: 'found'; execution: StartedExecution; evidence: Evidence }
  /** The trigger definitely started no run. */
  | { kind: 'refused'; fault: Fault }
  /** A later trigger of the automation has a run. */
  | { kind: 'superseded' }
  /** The process that sends the trigger is still running, or may be. */
  | { kind: 'left'; sender: string }
  /** The trigger would be sent without `--dry-run`. */
  | { kind: 'unresolved' }
  /** The trigger wasn't sent, or its outcome is still unknown. */
  | { kind: 'other_api_key' | 'withheld' | 'failed'; problem: Problem }
);

/** Resolves the triggers whose outcome is unknown, newest first: if that one has a run, earlier ones aren't sent. */
export async function* recoverTriggers(
  flags: RecoverFlags,
  connection: Connection,
  isSelected: (target: Target) => boolean = () => true,
): AsyncGenerator<Recovery> {
  const { journal, baseUrl } = connection;
  for (const trigger of journal.unresolvedTriggers({ baseUrl })) {
    if (!isSelected(trigger.target)) continue;
    try {
      yield await recoverTrigger(trigger, flags, connection);
    } catch (error) {
      // If nothing was sent, the problem ends the command. Otherwise the triggers that were sent are reported as well.
      if (!(error instanceof Problem) || connection.sentKeys.size === 0) throw error;
      const { message, hint } = error.facts;
      const problem = inDoubtProblem({ message, hint });
      yield { trigger, kind: 'failed', problem };
    }
  }
}

async function recoverTrigger(
  trigger: UnresolvedTrigger,
  { dryRun, resend, giveUpAfter: giveUpAfterMs }: RecoverFlags,
  connection: Connection,
): Promise<Recovery> {
  const { journal, baseUrl } = connection;
  const { target, idempotencyKey, userProvided, body } = trigger;
  const account = await connection.account(idempotencyKey);
  const { signal } = connection.context;
  const sender = senderOf(trigger, connection.processes);
  if (sender) return { trigger, kind: 'left', sender };
  if (journal.hasLaterRun({ baseUrl, target }, trigger.at)) {
    if (!dryRun) journal.append({ type: 'superseded', baseUrl, target, idempotencyKey });
    return { trigger, kind: 'superseded' };
  }
  const unknown = unknownTriggerOf(trigger, connection);
  if (trigger.account !== account) return { trigger, kind: 'other_api_key', problem: otherAccountProblem(unknown) };
  if (whyWithheld(unknown) && !resend) return { trigger, kind: 'withheld', problem: withheldProblem(unknown) };
  if (dryRun) return { trigger, kind: 'unresolved' };
  connection.sentKeys.add(idempotencyKey);
  const identity = { baseUrl, account, target, idempotencyKey, userProvided };
  // A record that is dated in the future has no age. It is only sent because the user says so.
  const ageMs = Number.isFinite(trigger.ageMs) ? trigger.ageMs : 0;
  const earlierUse = { earlier: { ageMs }, isRecovery: true };
  const result = signal.aborted
    ? ({ kind: 'interrupted', fault: interrupted, mayHaveStarted: true } as const)
    : await sendTrigger(identity, body, { giveUpAfterMs, ...earlierUse }, connection);
  if (result.kind === 'started') return { trigger, kind: 'found', execution: result.run, evidence: result.evidence };
  if (result.kind === 'recorded') {
    const { executionId, evidence } = result;
    const { status, isFinal = false } = journal.find(executionId, { baseUrl }) ?? {};
    const known = { executionId, status: status ?? 'RUNNING' };
    return { trigger, kind: 'found', execution: { ...known, isFinal, document: known }, evidence };
  }
  if (result.kind === 'refused') return { trigger, kind: 'refused', fault: result.fault };
  // What this attempt met is in the journal by now.
  const [latest = trigger] = journal.unresolvedTriggers({ baseUrl, target }).filter(isSameKey(trigger));
  return { trigger, kind: 'failed', problem: triggerProblem(result, unknownTriggerOf(latest, connection), signal) };
}

const isSameKey = (trigger: UnresolvedTrigger) => (other: UnresolvedTrigger) =>
  other.idempotencyKey === trigger.idempotencyKey;
