import { nearest } from '../nearest.ts';
import type { Problem } from '../problems/problem.ts';
import { shellWord } from '../problems/quote.ts';
import {
  expiredKeyProblem,
  otherAccountProblem,
  refusedTriggerProblem,
  triggerProblem,
  usedKeyProblem,
} from '../problems/trigger-problems.ts';
import { defaults } from '../runs/defaults.ts';
import { deliveryOf, type Fault, isRetryable } from '../runs/fault.ts';
import { isFinal, type Run, type Target } from '../runs/run.ts';
import type { Execution, TriggerRequest } from '../runs/service.ts';
import { automationsIn } from '../session/find-run.ts';
import { type KnownRun, knownRun } from '../session/known-run.ts';
import { type PolledOnce, pollKnownRun } from '../session/poll-once.ts';
import type { Session } from '../session/session.ts';
import type { StartedTrigger, TriggerIdentity, TriggerResult } from '../triggering/trigger.ts';
import type { StartedExecution } from '../triggering/trigger-record.ts';
import { earlierAttemptsOf, sendTrigger, withOpenTriggerWarning } from './send-trigger.ts';
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
  /** The run is then followed: only then an active one is polled before it is attached to. */
  watch?: boolean;
}

/** What is triggered, and the exact bytes of the request. */
export type StartRequest = Omit<TriggerRequest, 'idempotencyKey'>;

/** A run that was there before, with its status where that was asked for. */
export type FoundRun = KnownRun & { polled?: PolledOnce<Execution> };

/** What came of a trigger. */
export type StartResult = {
  /** The one that was sent, given or minted; undefined where none was. */
  idempotencyKey?: string;
} & (
  | ({ kind: 'started' } & Pick<StartedTrigger, 'started' | 'isByTime'> & {
        /** `recovered`: by an earlier attempt, whose answer was lost. */
        how: 'started' | 'recovered';
        execution: StartedExecution;
      } & KnownRun)
  /** A run that was there before: its idempotency key had been used, or it is the active one. */
  | ({ kind: 'replayed' | 'attached' } & FoundRun)
  | { kind: 'skipped'; target: Target; activeId?: string }
  /** There is no run of ours, or nobody knows. */
  | { kind: 'failed'; target: Target; problem: Problem }
);

/** Starts one run of `target`, or does what `--if-active` says where one is active. */
export async function startRun(request: StartRequest, flags: StartFlags, session: Session): Promise<StartResult> {
  const { target } = request;
  const { ifActive = defaults.ifActive } = flags;
  const slot = createSlot(target, flags, session);
  for (let isWaiting = false; ; isWaiting = true) {
    const identity = await identityOf(target, flags, session);
    const { idempotencyKey } = identity;
    const failed = (problem: Problem): StartResult => ({ kind: 'failed', target, problem, idempotencyKey });
    const start = await triggerOnce(identity, request.body, flags, session, isWaiting);
    if (start.kind !== 'refused') return { ...start, idempotencyKey };

    const { fault } = start;
    const isConflict = fault.kind === 'already_active';
    const activeId = isConflict ? (fault.executionId ?? lastUnfinished(target, session)) : undefined;
    const refused = refusedTriggerProblem({ ...fault, executionId: activeId }, identity);
    if (isConflict && ifActive === 'fail') return failed(refused);
    if (isConflict && ifActive === 'skip') return { kind: 'skipped', target, activeId, idempotencyKey };
    const active = activeId === undefined ? undefined : { target, executionId: activeId };
    if (isConflict && ifActive === 'attach') {
      if (!active) {
        const hint = 'the service did not say which run is active; use `--if-active wait`';
        return failed(refused.with({ hint }));
      }
      const attached = await foundRun(active, flags, session);
      if (mayBeActive(attached)) return { kind: 'attached', ...attached, idempotencyKey };
      const hint = `the known run ${activeId} is not active any more; try again, or use \`--if-active wait\``;
      return failed(refused.with({ hint }));
    }
    if (identity.userProvided && slot.hasFinished(fault.executionId)) return failed(usedKeyProblem(identity));
    const problem = await slot.wait(fault, active, identity);
    if (problem) return failed(problem);
  }
}

/** Each try has a new idempotency key, since a service may replay a stored refusal for an old one; a given one is kept. */
async function identityOf(target: Target, flags: StartFlags, { baseUrl, account }: Session): Promise<TriggerIdentity> {
  const { idempotencyKey = crypto.randomUUID() } = flags;
  const userProvided = flags.idempotencyKey !== undefined;
  return { baseUrl, account: await account(idempotencyKey), target, idempotencyKey, userProvided };
}

/** A refusal after which `--if-active` says what to do, or the wait for the slot continues. */
type Refusal = { kind: 'refused'; fault: Fault };

/** Sends one trigger, unless the journal knows what came of its idempotency key. */
async function triggerOnce(
  identity: TriggerIdentity,
  body: string,
  flags: StartFlags,
  session: Session,
  isWaiting: boolean,
): Promise<StartResult | Refusal> {
  const { journal, context } = session;
  const { target, idempotencyKey, userProvided } = identity;
  const failed = (problem: Problem): StartResult => ({ kind: 'failed', target, problem });
  const known = userProvided ? journal.findKey(identity) : undefined;
  if (known?.state === 'accepted') {
    const run = { target, executionId: known.executionId };
    return { kind: 'replayed', ...(await pollKnownRun(run, flags, session)) };
  }
  const open = known?.state === 'open' ? known.trigger : undefined;
  if (open && open.account !== identity.account) return failed(otherAccountProblem(identity));
  if (open && open.ageMs > defaults.keyRetentionMs) return failed(expiredKeyProblem(identity));
  const options = { giveUpAfterMs: flags.giveUpAfterMs, earlier: open && earlierAttemptsOf(open) };
  session.sentKeys.add(idempotencyKey);
  // An idempotency key that was sent before is sent with the same bytes again.
  const bytes = open?.body ?? body;
  const result = await sendTrigger(identity, bytes, options, withOpenTriggerWarning(target, session));
  if (result.kind === 'started') return startOf(result, target, context.clock.nowMs());
  if (result.kind === 'refused' && (result.fault.kind === 'already_active' || (isWaiting && mayPass(result.fault)))) {
    return { kind: 'refused', fault: result.fault };
  }
  return failed(failureOf(result, identity, session));
}

/** 429, or surely never sent, and worth another try. */
const mayPass = (fault: Fault) => isRetryable(fault) && deliveryOf(fault) !== 'unknown';

function startOf({ how, ...start }: StartedTrigger, target: Target, triggeredAtMs: number): StartResult {
  const { execution } = start;
  const run = { target, executionId: execution.executionId };
  if (how === 'replayed') return { kind: 'replayed', run, polled: { kind: 'ok', value: execution } };
  // Agents are discontinued: an answer that says otherwise may not mean what it said once.
  const started = target.family === 'agent' ? 'unknown' : start.started;
  return { ...start, started, how, run, triggeredAtMs };
}

function failureOf(result: Exclude<TriggerResult, StartedTrigger>, identity: TriggerIdentity, session: Session) {
  const { journal, context } = session;
  const problem = triggerProblem(result, identity, context.signal);
  const mayHaveStarted = problem.facts.started === 'unknown';
  // `recover` can only resolve what is in the journal.
  const meant = problem.facts.name === 'not_found' && nearestAutomation(identity.target, session);
  if (meant) return problem.with({ hint: `did you mean \`runctl trigger ${shellWord(meant)}\`?` });
  const isRecoverable = !mayHaveStarted || journal.findKey(identity)?.state === 'open';
  const hint = `repeat it with \`${commandOf(identity)}\`, which finds the run if there is one`;
  return isRecoverable ? problem : problem.with({ hint });
}

function nearestAutomation(target: Target, session: Session): string | undefined {
  if (target.family === 'agent') return undefined;
  const others = automationsIn(session);
  others.delete(target.automationName);
  return nearest(target.automationName, others);
}

function commandOf({ target, idempotencyKey }: TriggerIdentity): string {
  const what = target.family === 'agent' ? target.agentId : `${target.projectId}/${target.automationName}`;
  const command = target.family === 'agent' ? 'agent trigger' : 'trigger';
  return `runctl ${command} ${shellWord(what)} --idempotency-key ${shellWord(idempotencyKey)}`;
}

/** The active run. Where nobody follows it, the refusal is word enough that it is running. */
async function foundRun(run: Run, flags: StartFlags, session: Session): Promise<FoundRun> {
  if (flags.watch) return pollKnownRun(run, flags, session);
  return knownRun(session.journal.find(run.executionId, session), run);
}

/** False when the run is unknown to the service, or has finished. */
function mayBeActive({ run, polled }: FoundRun): boolean {
  if (!polled) return true;
  return polled.kind === 'ok' ? !isFinal(run.target, polled.value.status) : polled.problem.facts.name !== 'not_found';
}

/** The active run, as far as this machine knows. */
function lastUnfinished(target: Target, { journal, baseUrl }: Session): string | undefined {
  for (const { executionId, status } of journal.runs({ baseUrl, target })) {
    if (executionId !== null) return status !== null && !isFinal(target, status) ? executionId : undefined;
  }
  return undefined;
}
