import { isUnfinished } from '../journal/fold.ts';
import type { Problem } from '../problems/problem.ts';
import {
  noRunProblem,
  refusedTriggerProblem,
  slotTimeoutProblem,
  usedKeyProblem,
} from '../problems/trigger-problems.ts';
import { randomUuid } from '../random-uuid.ts';
import { pause } from '../runs/clock.ts';
import { defaults } from '../runs/defaults.ts';
import type { Fault } from '../runs/fault.ts';
import { isFinal, type Run, type Target } from '../runs/run.ts';
import { argumentOf, knownRun } from '../session/known-run.ts';
import { pollKnownRun } from '../session/poll-once.ts';
import type { Session } from '../session/session.ts';
import { beganAfter, type Moment, momentOf } from '../triggering/moments.ts';
import type { TriggerIdentity } from '../triggering/trigger.ts';
import { hostSkewMs } from '../triggering/whose-run.ts';
import { createPollSchedule, jitter } from '../watching/poll-schedule.ts';
import type { ActionFlags } from './flags.ts';
import { waitForOther } from './follow-run.ts';
import { triggerOnce } from './send-trigger.ts';
import type { FoundRun, StartResult } from './start-result.ts';

/** What is to be triggered. */
export interface StartRequest {
  target: Target;
  body: string; // the exact bytes
  idempotencyKey?: string; // given by the user
}

/** Triggers a run; if one is active already, does as `--if-active` says. */
export async function startRun(request: StartRequest, flags: ActionFlags, session: Session): Promise<StartResult> {
  const { target } = request;
  const { ifActive = defaults.ifActive } = flags;
  const slot = createSlot(target, flags, session);
  for (let isWaiting = false; ; isWaiting = true) {
    const identity = await identityOf(request, session);
    const { idempotencyKey } = identity;
    const sent = momentOf(session.context.clock);
    const failed = (problem: Problem): StartResult => ({ kind: 'failed', target, problem, idempotencyKey });
    const start = await triggerOnce(identity, request.body, flags, session, isWaiting);
    if (start.kind !== 'refused') return { ...start, idempotencyKey };

    const { fault } = start;
    const isConflict = fault.kind === 'already_active';
    const activeId = isConflict ? (fault.executionId ?? lastUnfinished(target, session)) : undefined;
    const active = activeId === undefined ? undefined : { target, executionId: activeId };
    const refused = (since?: string) =>
      refusedTriggerProblem(
        { ...fault, executionId: activeId },
        { target, active: active && { argument: argumentOf(active, session), since } },
      );
    const isNamed = fault.executionId !== undefined;
    if (isConflict && ifActive === 'fail') {
      return failed(refused(active && isNamed ? await startOfActive(active, session) : undefined));
    }
    if (isConflict && ifActive === 'skip') return { kind: 'skipped', target, activeId, idempotencyKey };
    if (isConflict && ifActive === 'attach') {
      if (!active) {
        const hint = 'the service did not say which run is active; use `--if-active wait`';
        return failed(refused().with({ hint }));
      }
      const attached = await activeRun(active, flags, session);
      if (isNamed ? !hadFinished(attached, sent, session) : mayBeActive(attached)) {
        return { kind: 'attached', ...attached, idempotencyKey };
      }
      const hint = `run ${activeId} has finished; try again, or use \`--if-active wait\``;
      return failed(refused().with({ hint }));
    }
    if (identity.userProvided && slot.hasFinished(fault.executionId)) return failed(usedKeyProblem(identity));
    const problem = await slot.wait(fault, active, identity);
    if (problem) return failed(problem);
  }
}

/** Each try has a new idempotency key, unless the user gave one: a service may replay the refusal of an old key. */
async function identityOf(request: StartRequest, { baseUrl, account }: Session): Promise<TriggerIdentity> {
  const { target, idempotencyKey = randomUuid() } = request;
  const userProvided = request.idempotencyKey !== undefined;
  return { baseUrl, account: await account(idempotencyKey), target, idempotencyKey, userProvided };
}

/** The active run. It is polled only if it will be followed, as the refusal says that it is running. */
async function activeRun(run: Run, flags: ActionFlags, session: Session): Promise<FoundRun> {
  if (flags.watch) return pollKnownRun(run, flags, session);
  return knownRun(run, session.journal.find(run.executionId, session), session.context.clock);
}

/** Had the run that a refusal names finished before our request, by the service's clock? Then the refusal is an old one. */
function hadFinished({ run, polled }: FoundRun, sent: Moment, { context }: Session): boolean {
  if (polled?.kind !== 'ok') return polled !== undefined && polled.problem.facts.name === 'not_found';
  const { status, completedAt } = polled.value;
  if (!isFinal(run.target, status) || completedAt === undefined) return false;
  const received = momentOf(context.clock);
  const finishedAtMs = Date.parse(completedAt);
  const dated = { beganAtMs: finishedAtMs, serviceTimeMs: polled.serviceTimeMs, sent: received, received };
  const afterSent = beganAfter(sent, dated);
  return afterSent !== undefined && afterSent.mostMs < -hostSkewMs;
}

/** When the active run began: the journal knows, or one poll does, for which nobody waits long. */
async function startOfActive(run: Run, { journal, baseUrl, service, context, limiter }: Session) {
  const recorded = journal.find(run.executionId, { baseUrl })?.startedAt;
  if (recorded) return recorded;
  const { signal } = context;
  const answer = await limiter.send({ signal }, (onWrite) =>
    service.status(run, signal, { timeoutMs: shortPollMs, onWrite }),
  );
  return answer?.kind === 'ok' ? answer.value.startedAt : undefined;
}

const shortPollMs = 2_000;

/** A run that only the journal takes for the active one must be unfinished. */
function mayBeActive({ run, polled }: FoundRun): boolean {
  if (!polled) return true;
  return polled.kind === 'ok' ? !isFinal(run.target, polled.value.status) : polled.problem.facts.name !== 'not_found';
}

function lastUnfinished(target: Target, { journal, baseUrl }: Session): string | undefined {
  for (const run of journal.runs({ baseUrl, target })) {
    if (run.executionId !== null) return isUnfinished(run) ? run.executionId : undefined;
  }
  return undefined;
}

/** The one place that an Automation has for an active run. */
interface Slot {
  /** Waits, after this refusal, until it is worth trying again; returns a problem when a limit ends the wait first. */
  wait(fault: Fault, active: Run | undefined, identity: TriggerIdentity): Promise<Problem | undefined>;
  hasFinished(executionId: string | undefined): boolean;
}

/** A trigger that is sent with less time left could not be answered in time. */
export const leastForTriggerMs = 1_000;
/** Triggers are not sent more often than this while nobody knows which run is active. */
const leastBetweenTriggersMs = 5_000;

export function createSlot(target: Target, flags: Pick<ActionFlags, 'intervalMs'>, session: Session): Slot {
  const { reporter, context, watches } = session;
  const { clock, random, signal } = context;
  const { timeoutMs } = watches;
  const startMs = clock.elapsedMs();
  const schedule = createPollSchedule({ durationsMs: [] });
  /** An active run that has finished or cannot be polled: if it is named again, the wait goes by time alone. */
  let passedId: string | undefined;
  let finishedId: string | undefined;

  return {
    hasFinished: (executionId) => executionId !== undefined && executionId === finishedId,
    async wait(fault, active, identity) {
      const { retryAfterMs = 0 } = fault;
      const refusedAtMs = clock.elapsedMs();
      const leftMs = watches.leftMs();
      if (leftMs < leastForTriggerMs || retryAfterMs > leftMs) return slotTimeoutProblem(timeoutMs, identity, fault);
      let waitMs = 0;
      if (!active || active.executionId === passedId) {
        const gapMs = flags.intervalMs ?? jitter(schedule.gapMs(refusedAtMs - startMs), random);
        waitMs = Math.min(Math.max(leastBetweenTriggersMs, gapMs), leftMs);
        reporter.observe({ event: 'waiting', for: 'slot', target, nextMs: waitMs });
      } else {
        const watched = await waitForOther(active, flags, session);
        if (watched.kind === 'timed_out') return slotTimeoutProblem(timeoutMs, identity, fault);
        // If the run cannot be polled, the answer to the next trigger decides.
        passedId = active.executionId;
        if (watched.kind === 'finished') finishedId = passedId;
      }
      const restMs = Math.max(waitMs, refusedAtMs + retryAfterMs - clock.elapsedMs());
      if (await pause(restMs, clock, signal, retryAfterMs)) watches.woke();
      if (signal.aborted) return noRunProblem(signal);
      return watches.leftMs() < leastForTriggerMs ? slotTimeoutProblem(timeoutMs, identity, fault) : undefined;
    },
  };
}
