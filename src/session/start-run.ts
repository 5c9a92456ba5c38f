import type { Problem } from '../problems/problem.ts';
import { otherAccountProblem, refusedTriggerProblem, triggerProblem } from '../problems/trigger-problems.ts';
import { defaults } from '../runs/defaults.ts';
import type { Fault } from '../runs/fault.ts';
import { isFinal, type Target } from '../runs/run.ts';
import type { Execution, TriggerRequest } from '../runs/service.ts';
import type { StartedExecution, TriggerIdentity } from '../runs/trigger.ts';
import type { KnownRun } from './find-run.ts';
import { type Polled, pollKnownRun } from './poll-once.ts';
import { sendTrigger, withOpenTriggerWarning } from './send-trigger.ts';
import type { Session } from './session.ts';
import { createSlot } from './wait-for-slot.ts';

export type IfActive = 'fail' | 'skip' | 'wait' | 'attach';

export interface StartFlags {
  idempotencyKey?: string;
  ifActive?: IfActive;
  giveUpAfterMs?: number;
  /** Bounds `--if-active wait`, */
  timeoutMs?: number;
  /** which polls this often. */
  intervalMs?: number;
}

/** What is triggered, and the exact bytes of the request. */
export type StartRequest = Omit<TriggerRequest, 'idempotencyKey'>;

/** What came of a trigger. */
export type StartResult =
  | ({ kind: 'started'; execution: StartedExecution } & KnownRun)
  /** A run that was there before: its idempotency key had been used, or it is the active one. */
  | ({ kind: 'replayed' | 'attached'; polled: Polled<Execution> } & KnownRun)
  | { kind: 'skipped'; target: Target; activeId?: string }
  /** There is no run of ours, or nobody knows. */
  | { kind: 'failed'; target: Target; problem: Problem };

/** Starts one run of `target`, or does what `--if-active` says where one is active. */
export async function startRun(request: StartRequest, flags: StartFlags, session: Session): Promise<StartResult> {
  const { target } = request;
  const { ifActive = defaults.ifActive } = flags;
  const failed = (problem: Problem): StartResult => ({ kind: 'failed', target, problem });
  const slot = createSlot(target, flags, session);
  for (;;) {
    const identity = identityOf(target, flags, session);
    const start = await triggerOnce(identity, request.body, flags, session);
    if (start.kind !== 'conflict') return start;

    const { fault } = start;
    const activeId = fault.executionId ?? lastUnfinished(target, session);
    const refused = refusedTriggerProblem({ ...fault, executionId: activeId }, identity);
    if (ifActive === 'fail') return failed(refused);
    if (ifActive === 'skip') return { kind: 'skipped', target, activeId };
    const active = activeId === undefined ? undefined : { target, executionId: activeId };
    if (ifActive === 'attach') {
      if (!active) {
        const hint = 'nothing names the active run, so it cannot be attached to: try `--if-active wait`';
        return failed(refused.with({ hint }));
      }
      const attached = await pollKnownRun(active, flags, session);
      if (mayBeActive(attached)) return { kind: 'attached', ...attached };
      const hint = `the run that is known (${activeId}) is not active, and nothing names another: try again, or with \`--if-active wait\``;
      return failed(refused.with({ hint }));
    }
    const problem = await slot.wait(fault, active, identity);
    if (problem) return failed(problem);
  }
}

/** Each try has a new idempotency key, since a service may replay a stored refusal for an old one; the user's is kept. */
function identityOf(target: Target, { idempotencyKey }: StartFlags, { baseUrl, account }: Session): TriggerIdentity {
  const userProvided = idempotencyKey !== undefined;
  return { baseUrl, account, target, idempotencyKey: idempotencyKey ?? crypto.randomUUID(), userProvided };
}

type Conflict = { kind: 'conflict'; fault: Fault };

/** Sends one trigger, unless the journal knows what came of its idempotency key. */
async function triggerOnce(
  identity: TriggerIdentity,
  body: string,
  flags: StartFlags,
  session: Session,
): Promise<StartResult | Conflict> {
  const { journal, context } = session;
  const { target, idempotencyKey, userProvided } = identity;
  const earlier = userProvided ? journal.findKey(identity) : undefined;
  if (earlier?.state === 'accepted') {
    const run = { target, executionId: earlier.executionId };
    return { kind: 'replayed', ...(await pollKnownRun(run, flags, session)) };
  }
  const open = earlier?.state === 'open' ? earlier.trigger : undefined;
  if (open && open.account !== identity.account) {
    return { kind: 'failed', target, problem: otherAccountProblem(identity) };
  }
  const options = { giveUpAfterMs: flags.giveUpAfterMs, ageMs: open?.ageMs };
  session.sentKeys.add(idempotencyKey);
  // An idempotency key that was sent before goes with the bytes that it was sent with.
  const bytes = open?.body ?? body;
  const result = await sendTrigger(identity, bytes, options, withOpenTriggerWarning(target, session));
  if (result.kind === 'started') {
    const { execution } = result;
    const run = { target, executionId: execution.executionId };
    return { kind: 'started', run, execution, triggeredAtMs: context.clock.nowMs() };
  }
  if (result.kind === 'refused' && result.fault.kind === 'already_active') {
    return { kind: 'conflict', fault: result.fault };
  }
  const problem = triggerProblem(result, identity, context.signal);
  const mayHaveStarted = problem.facts.started === 'unknown';
  // `recover` can only resolve what is in the journal.
  const isRecoverable = !mayHaveStarted || journal.findKey(identity)?.state === 'open';
  const hint = `repeat it with \`--idempotency-key ${idempotencyKey}\`, which cannot start a second run`;
  return { kind: 'failed', target, problem: isRecoverable ? problem : problem.with({ hint }) };
}

/** False when the run is unknown to the service, or has finished. */
function mayBeActive({ run, polled }: KnownRun & { polled: Polled<Execution> }): boolean {
  return polled.kind === 'ok' ? !isFinal(run.target, polled.value.status) : polled.problem.facts.name !== 'not_found';
}

/** The active run, as far as this machine knows. */
function lastUnfinished(target: Target, { journal, baseUrl }: Session): string | undefined {
  for (const { executionId, status } of journal.runs({ baseUrl, target })) {
    if (executionId !== null) return status !== null && !isFinal(target, status) ? executionId : undefined;
  }
  return undefined;
}
