import { argumentOf } from '../connection/followable.ts';
import {
  noRunProblem,
  refusedTriggerProblem,
  slotTimeoutProblem,
  slotUnreadProblem,
  usedKeyProblem,
} from '../problems/trigger-problems.ts';
import type { Fault } from '../run/fault.ts';
import type { Problem } from '../run/problem.ts';
import type { Run, Target } from '../run/run.ts';
import { randomUuid } from '../run/run.ts';
import { stopwatch } from '../system/clock.ts';
import type { FailedTrigger, TriggerIdentity } from '../triggering/send-until-known.ts';
import { lastUnfinished, startOfActive } from './active-run.ts';
import type { Following } from './following.ts';
import type { Plan } from './plan.ts';
import { type StartOutcome, type StartRequest, skipped, withoutRun } from './start-outcome.ts';
import { startWithKey } from './start-with-key.ts';
import { problemOfTrigger } from './unknown-trigger.ts';
import { createSlot, type SlotEnd } from './wait-for-slot.ts';

/** Triggers a run. If one is already active, does what `--if-active` says. */
export async function startRun(request: StartRequest, plan: Plan, following: Following): Promise<StartOutcome> {
  const { signal } = following.context;
  const start = signal.aborted
    ? withoutRun(request.target, noRunProblem(signal), request.idempotencyKey ?? null)
    : await startInSlot(request, plan, following);
  if (!isRepeatable(request, start, following)) following.repeat.isSafe = false;
  return start;
}

/** Can the command line be repeated without a second run of this argument? A generated key is new each time. */
function isRepeatable(
  { target, idempotencyKey: given }: StartRequest,
  { start: { started, idempotencyKey } }: StartOutcome,
  { journal, baseUrl, ignoresKeys }: Following,
): boolean {
  if (given === undefined || idempotencyKey === null) return started === 'no';
  if (!ignoresKeys) return true;
  const recorded = journal.findKey({ baseUrl, target, idempotencyKey });
  return recorded ? recorded.state === 'accepted' : started === 'no';
}

async function startInSlot(request: StartRequest, plan: Plan, following: Following): Promise<StartOutcome> {
  const { target } = request;
  const { ifActive } = plan;
  const { watches, context } = following;
  const slot = createSlot(target, plan, following);
  /** The trigger that this command sent, if its outcome is unknown. */
  let inDoubt: { identity: TriggerIdentity; sinceMs: () => number } | undefined;
  for (;;) {
    const identity = inDoubt?.identity ?? (await identityOf(request, following));
    const { idempotencyKey } = identity;
    const failed = (problem: Problem) => withoutRun(target, problem, idempotencyKey);
    const sinceMs = stopwatch(context.clock);
    const start = await startWithKey(
      identity,
      request.body,
      {
        inDoubtMs: inDoubt?.sinceMs(),
        isContinuedAfter({ kind, fault }) {
          if (kind === 'refused') return fault.kind === 'already_active';
          return ifActive === 'wait' && fault.executionId !== undefined && !slot.hasFinished(fault.executionId);
        },
      },
      plan,
      following,
    );
    if (!('fault' in start)) return start;

    const { fault } = start;
    if (start.kind === 'unknown') inDoubt ??= { identity, sinceMs };
    const conflict = conflictOf(fault, target, following);
    if (conflict && ifActive !== 'wait') return endAtConflict(conflict, idempotencyKey, plan, following);
    if (identity.userProvided && slot.hasFinished(fault.executionId)) return failed(usedKeyProblem(identity));
    const end = await slot.wait(fault, conflict?.active);
    if (end && inDoubt) return failed(problemOfTrigger(unknownAfter(end, fault), identity, following));
    if (end?.kind === 'interrupted') return failed(noRunProblem(context.signal));
    if (end?.kind === 'gave_up') return failed(slotUnreadProblem(plan.giveUpAfterMs, identity, end.fault));
    if (end?.kind === 'timed_out') return failed(slotTimeoutProblem(watches.timeoutMs, identity, fault));
  }
}

const unknownAfter = ({ kind }: SlotEnd, fault: Fault): FailedTrigger =>
  kind === 'interrupted' ? { kind, fault, mayHaveStarted: true } : { kind: 'unknown', fault };

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

/** What `--if-active fail` and `skip` do. */
function endAtConflict(conflict: Conflict, idempotencyKey: string, plan: Plan, following: Following): StartOutcome {
  const { target, active } = conflict;
  if (plan.ifActive === 'skip') return skipped(target, idempotencyKey, active?.executionId);
  return withoutRun(target, refusalOf(conflict, following), idempotencyKey);
}

function refusalOf({ fault, target, active, isNamed }: Conflict, following: Following): Problem {
  const { journal, baseUrl } = following;
  const known = active && {
    argument: argumentOf(active, following),
    // Of a run that only the journal calls active, nobody knows whether it is.
    since: isNamed ? startOfActive(active, following) : undefined,
  };
  const problem = refusedTriggerProblem({ ...fault, executionId: active?.executionId }, { target, active: known });
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
