import { senderOf } from '../journal/processes.ts';
import { ageOf, type UnresolvedTrigger } from '../run/entry.ts';
import { interrupted } from '../run/fault.ts';
import { defaults } from '../run/limits.ts';
import type { Recovery, TriggerOutcome, WhyInDoubt } from '../run/outcome.ts';
import { Problem } from '../run/problem.ts';
import type { Target } from '../run/run.ts';
import type { RunStatus } from '../run/service.ts';
import { inDoubt, withoutRun } from './outcome-of-trigger.ts';
import type { StartPorts } from './ports.ts';
import type { RecordedTrigger, StartedTrigger, TriggerResult } from './send-until-known.ts';
import { sendTrigger } from './start-run.ts';

export interface RecoverFlags {
  dryRun?: boolean;
  resend?: boolean; // send triggers even if that may start a second run, or a late one
}

/** Resolves the triggers whose outcome is unknown, newest first: if that one has a run, earlier ones aren't sent. */
export async function* recoverAll(
  flags: RecoverFlags,
  ports: StartPorts,
  isSelected: (target: Target) => boolean = () => true,
): AsyncGenerator<Recovery> {
  let hasSent = false;
  const onSend = () => {
    hasSent = true;
  };
  for (const trigger of ports.journal.unresolved({ baseUrl: ports.baseUrl })) {
    if (!isSelected(trigger.target)) continue;
    const about = { trigger, ageMs: ageOf(trigger, ports.clock.nowMs()) };
    try {
      yield { ...about, outcome: asAnswer(await recover(trigger, flags, onSend, ports), flags) };
    } catch (error) {
      // If nothing was sent, the problem ends the command. Otherwise the triggers that were sent are reported as well.
      if (!(error instanceof Problem) || !hasSent) throw error;
      const problem = error.with({ name: 'outcome_unknown' });
      const start = { evidence: 'in_doubt', idempotencyKey: trigger.idempotencyKey, isRepeatable: true } as const;
      yield { ...about, outcome: { kind: 'failed', target: trigger.target, start, problem } };
    }
  }
}

/** The same key finds the run, or starts it if the trigger never arrived. */
async function recover(
  trigger: UnresolvedTrigger,
  { dryRun, resend }: RecoverFlags,
  onSend: () => void,
  ports: StartPorts,
): Promise<TriggerOutcome> {
  const { target, idempotencyKey } = trigger;
  const account = await ports.account(idempotencyKey);
  const why = whyLeftAlone(trigger, account, resend, ports);
  if (why?.kind === 'superseded' && !dryRun) {
    const { journal, baseUrl } = ports;
    journal.append({ type: 'superseded', baseUrl, target, idempotencyKey });
  }
  if (why) return inDoubt(why, trigger, ports).outcome;
  const start = { evidence: 'in_doubt', idempotencyKey, isRepeatable: true } as const;
  if (dryRun) return { kind: 'shown', target, start };
  onSend();
  const result = await send(trigger, ports);
  if (result.kind === 'started' || result.kind === 'recorded') return foundBy(result, trigger, ports);
  return withoutRun(result, { trigger }, ports).outcome;
}

/** Why a trigger isn't sent again, if it isn't. */
function whyLeftAlone(
  trigger: UnresolvedTrigger,
  account: string,
  resend: boolean | undefined,
  { journal, processes, clock, ignoresKeys }: StartPorts,
): WhyInDoubt | undefined {
  const process = senderOf(trigger, processes, clock.nowMs());
  if (process !== undefined) return { kind: 'sending', process };
  if (journal.hasLaterRun(trigger)) return { kind: 'superseded' };
  if (trigger.account !== account) return { kind: 'other_api_key' };
  const isRisky = ignoresKeys || ageOf(trigger, clock.nowMs()) > defaults.recoverMaxAgeMs;
  return isRisky && !resend ? { kind: 'withheld' } : undefined;
}

async function send(trigger: UnresolvedTrigger, ports: StartPorts): Promise<TriggerResult> {
  if (ports.signal.aborted) return { kind: 'interrupted', fault: interrupted, mayHaveStarted: true };
  const ageMs = ageOf(trigger, ports.clock.nowMs());
  // A record that is dated in the future has no age. It is only sent because the user says so.
  const earlier = { ageMs: Number.isFinite(ageMs) ? ageMs : 0 };
  return sendTrigger(trigger, { earlier, isRecovery: true }, ports);
}

/** The run that the key has. A service may repeat its first response, in which the run is RUNNING. */
function foundBy(
  result: StartedTrigger | RecordedTrigger,
  trigger: UnresolvedTrigger,
  ports: StartPorts,
): TriggerOutcome {
  const { target, idempotencyKey } = trigger;
  const status = result.kind === 'started' ? result.run : recordedStatus(result, ports);
  const run = { target, executionId: status.executionId };
  const start = { evidence: result.evidence, idempotencyKey, isRepeatable: true };
  return { kind: 'started', target, run, start, status };
}

function recordedStatus({ executionId }: RecordedTrigger, { journal, baseUrl }: StartPorts): RunStatus {
  const known = journal.find(executionId, { baseUrl });
  const { status, isFinal } = known?.kind === 'run' ? known : { status: 'RUNNING', isFinal: false };
  return { executionId, status, isFinal, document: { executionId, status } };
}

/** What was resolved, however it ended, is a success of `recover`; only a doubt that remains is not. */
function asAnswer(outcome: TriggerOutcome, { dryRun }: RecoverFlags): TriggerOutcome {
  const isResolved = outcome.kind !== 'in_doubt' || outcome.doubt.why.kind === 'superseded';
  return isResolved || dryRun ? { ...outcome, isAnswer: true } : outcome;
}
