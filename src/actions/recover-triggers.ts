import type { UnresolvedTrigger } from '../journal/journal.ts';
import { Problem } from '../problems/problem.ts';
import { otherAccountProblem, tooOldProblem, triggerProblem } from '../problems/trigger-problems.ts';
import { defaults } from '../runs/defaults.ts';
import type { Fault } from '../runs/fault.ts';
import type { Session } from '../session/session.ts';
import type { StartedTrigger, TriggerIdentity } from '../triggering/trigger.ts';
import { earlierAttemptsOf, sendTrigger } from './send-trigger.ts';

export interface RecoverFlags {
  dryRun?: boolean;
  /** Older triggers are not sent. */
  maxAgeMs?: number;
  forget?: boolean;
  giveUpAfterMs?: number;
}

export type Recovery = { trigger: UnresolvedTrigger } & (
  | { kind: 'found'; start: StartedTrigger }
  /** It surely started no run. */
  | { kind: 'refused'; fault: Fault }
  /** A later trigger of the automation has a run. */
  | { kind: 'superseded' | 'forgotten' }
  /** The process that sends it still runs, or may. */
  | { kind: 'left' }
  /** It would be sent, but for `--dry-run`. */
  | { kind: 'unresolved' }
  /** Not sent, or sent in vain. */
  | { kind: 'too_old' | 'other_api_key' | 'failed'; problem: Problem }
);

/** Resolves the triggers whose outcome is unknown: for each automation the newest first, as later ones make it superfluous. */
export async function* recoverTriggers(flags: RecoverFlags, session: Session): AsyncGenerator<Recovery> {
  const { journal, baseUrl } = session;
  for (const trigger of journal.unresolvedTriggers({ baseUrl })) {
    try {
      yield await recoverTrigger(trigger, flags, session);
    } catch (error) {
      // It ends the command where nothing was sent before; else what came of the others has to be said as well.
      if (!(error instanceof Problem) || session.sentKeys.size === 0) throw error;
      const { message, hint } = error.facts;
      const problem = new Problem({ name: 'outcome_unknown', message, hint, started: 'unknown' });
      yield { trigger, kind: 'failed', problem };
    }
  }
}

async function recoverTrigger(
  trigger: UnresolvedTrigger,
  { dryRun, forget, maxAgeMs = defaults.recoverMaxAgeMs, giveUpAfterMs }: RecoverFlags,
  session: Session,
): Promise<Recovery> {
  const { journal, baseUrl } = session;
  const { target, idempotencyKey, userProvided, body, ageMs } = trigger;
  const account = await session.account(idempotencyKey);
  const { signal } = session.context;
  const identity: TriggerIdentity = { baseUrl, account, target, idempotencyKey, userProvided };
  const close = (type: 'superseded' | 'forgotten'): Recovery => {
    if (!dryRun) journal.append({ type, baseUrl, target, idempotencyKey });
    return { trigger, kind: type };
  };
  if (isStillSent(trigger, session)) return { trigger, kind: 'left' };
  if (journal.hasLaterRun({ baseUrl, target }, trigger.at)) return close('superseded');
  if (ageMs > maxAgeMs) {
    return forget && !dryRun
      ? close('forgotten')
      : { trigger, kind: 'too_old', problem: tooOldProblem(identity, ageMs) };
  }
  if (trigger.account !== account) return { trigger, kind: 'other_api_key', problem: otherAccountProblem(identity) };
  if (dryRun) return { trigger, kind: 'unresolved' };
  session.sentKeys.add(idempotencyKey);
  const result = signal.aborted
    ? ({ kind: 'interrupted', mayHaveStarted: true } as const)
    : await sendTrigger(
        identity,
        body,
        { giveUpAfterMs, earlier: earlierAttemptsOf(trigger), isRecovery: true },
        session,
      );
  if (result.kind === 'started') return { trigger, kind: 'found', start: result };
  if (result.kind === 'refused') return { trigger, kind: 'refused', fault: result.fault };
  return { trigger, kind: 'failed', problem: triggerProblem(result, identity, signal) };
}

/** Longer than the retries of a trigger take. */
const otherHostMs = 180_000;

/** Does the process that sends it still run? Of one on another host or in another container only its age says. */
function isStillSent({ senders }: UnresolvedTrigger, { processes }: Session): boolean {
  return senders.some(({ process, ageMs }) => {
    const state = processes.stateOf(process);
    return state === 'running' || (state === 'unknown' && ageMs < otherHostMs);
  });
}
