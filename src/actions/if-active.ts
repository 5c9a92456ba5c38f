import { argumentOf } from '../connection/run-to-poll.ts';
import type { Problem } from '../problems/problem.ts';
import {
  noRunProblem,
  refusedTriggerProblem,
  slotTimeoutProblem,
  usedKeyProblem,
} from '../problems/trigger-problems.ts';
import { stopwatch } from '../runs/clock.ts';
import { defaults } from '../runs/defaults.ts';
import { deliveryOf, type Fault, isRetryable } from '../runs/fault.ts';
import type { Run, Target } from '../runs/run.ts';
import { randomUuid } from '../runs/run.ts';
import type { FailedTrigger, TriggerIdentity } from '../triggering/send-until-known.ts';
import type { ActionFlags } from './action-flags.ts';
import { activeRun, lastUnfinished, mayBeActive, startOfActive } from './active-run.ts';
import type { Following } from './following.ts';
import type { StartRequest, StartResult } from './outcome.ts';
import { startWithKey } from './start-with-key.ts';
import { problemOfTrigger } from './unknown-trigger.ts';
import { createSlot } from './wait-for-slot.ts';

/** Triggers a run. If one is already active, does what `--if-active` says. */
export async function startRun(request: StartRequest, flags: ActionFlags, following: Following): Promise<StartResult> {
  const { target } = request;
  const { ifActive = defaults.ifActive } = flags;
  const { watches, context } = following;
  const slot = createSlot(target, flags, following);
  /** The trigger that this command sent, if its outcome is unknown. */
  let inDoubt: { identity: TriggerIdentity; sinceMs: () => number } | undefined;
  for (let isWaiting = false; ; isWaiting = true) {
    const identity = inDoubt?.identity ?? (await identityOf(request, following));
    const { idempotencyKey } = identity;
    const failed = (problem: Problem): StartResult => ({ kind: 'failed', target, problem, idempotencyKey });
    const sinceMs = stopwatch(context.clock);
    const start = await startWithKey(
      identity,
      request.body,
      {
        giveUpAfterMs: flags.giveUpAfterMs,
        ifActive: flags.ifActive,
        inDoubtMs: inDoubt?.sinceMs(),
        isContinuedAfter({ kind, fault }) {
          const isRepeated = isWaiting && isWorthRetrying(fault);
          if (kind === 'refused') return fault.kind === 'already_active' || isRepeated;
          if (ifActive !== 'wait' || following.keyTreatment() !== 'honored') return false;
          return isRepeated || (fault.executionId !== undefined && !slot.hasFinished(fault.executionId));
        },
      },
      following,
    );
    if (!('fault' in start)) return { ...start, idempotencyKey };

    const { fault } = start;
    if (start.kind === 'unknown') inDoubt ??= { identity, sinceMs };
    const conflict = conflictOf(fault, target, following);
    if (conflict && ifActive !== 'wait')
      return { ...(await endAtConflict(conflict, flags, following)), idempotencyKey };
    if (identity.userProvided && slot.hasFinished(fault.executionId)) return failed(usedKeyProblem(identity));
    const end = await slot.wait(fault, conflict?.active);
    if (end && inDoubt) return failed(problemOfTrigger(unknownAfter(end, fault), identity, following));
    if (end === 'interrupted') return failed(noRunProblem(context.signal));
    if (end === 'timed_out') return failed(slotTimeoutProblem(watches.timeoutMs, identity, fault));
  }
}

const unknownAfter = (end: 'timed_out' | 'interrupted', fault: Fault): FailedTrigger =>
  end === 'interrupted' ? { kind: end, fault, mayHaveStarted: true } : { kind: 'unknown', fault };

/** A 429, or a trigger that definitely wasn't sent. */
const isWorthRetrying = (fault: Fault) => isRetryable(fault) && deliveryOf(fault) !== 'unknown';

/** The automation is already running. */
interface Conflict {
  fault: Fault;
  target: Target;
  active: Run | undefined; // the run that the refusal names, else the journal's last run if it is unfinished
  isNamed: boolean;
}

function conflictOf(fault: Fault, target: Target, following: Following): Conflict | undefined {
  if (fault.kind !== 'already_active') return undefined;
  const executionId = fault.executionId ?? lastUnfinished(target, following);
  const active = executionId === undefined ? undefined : { target, executionId };
  return { fault, target, active, isNamed: fault.executionId !== undefined };
}

/** What `--if-active fail`, `skip` and `attach` do. */
async function endAtConflict(conflict: Conflict, flags: ActionFlags, following: Following): Promise<StartResult> {
  const { target, active, isNamed } = conflict;
  if (flags.ifActive === 'skip') return { kind: 'skipped', target, activeId: active?.executionId };
  if (flags.ifActive !== 'attach') {
    const since = active && isNamed ? await startOfActive(active, following) : undefined;
    return { kind: 'failed', target, problem: refusalOf(conflict, following, since) };
  }
  const cannotAttach = (hint: string): StartResult => {
    return { kind: 'failed', target, problem: refusalOf(conflict, following).with({ hint }) };
  };
  if (!active) return cannotAttach("the service didn't say which run is active; use `--if-active wait`");
  const attached = await activeRun(active, flags, following);
  if (mayBeActive(attached, { isNamed })) return { kind: 'attached', ...attached };
  const isUnknown = attached.polled?.kind === 'failed';
  const why = isUnknown
    ? `the service doesn't know run ${active.executionId}`
    : `run ${active.executionId} has finished`;
  return cannotAttach(`${why}; try again, or use \`--if-active wait\``);
}

function refusalOf({ fault, target, active }: Conflict, following: Following, since?: string): Problem {
  const { journal, baseUrl } = following;
  const argument = active && argumentOf(active, following);
  const problem = refusedTriggerProblem(
    { ...fault, executionId: active?.executionId },
    { target, active: argument === undefined ? undefined : { argument, since } },
  );
  const isUnresolved = !active && journal.unresolvedTriggers({ baseUrl, target }).length > 0;
  const hint = 'an earlier trigger whose response was lost may have started that run: `runctl recover`';
  return isUnresolved ? problem.with({ hint }) : problem;
}

/** Each try has a new idempotency key, unless the user set one, because a service may replay an old key's refusal. */
async function identityOf(request: StartRequest, { baseUrl, account }: Following): Promise<TriggerIdentity> {
  const { target, idempotencyKey = randomUuid() } = request;
  const userProvided = request.idempotencyKey !== undefined;
  return { baseUrl, account: await account(idempotencyKey), target, idempotencyKey, userProvided };
}
