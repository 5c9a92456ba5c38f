import { pollRun } from '../connection/poll-once.ts';
import type { UnresolvedTrigger } from '../journal/journal.ts';
import { senderOf } from '../journal/processes.ts';
import { expiredKeyProblem, otherAccountProblem, withheldProblem } from '../problems/unknown-outcome.ts';
import type { Fault } from '../run/fault.ts';
import { defaults } from '../run/limits.ts';
import type { Problem } from '../run/problem.ts';
import { nameOf, type Target } from '../run/run.ts';
import type { StartedExecution } from '../run/service.ts';
import type { Clock } from '../system/clock.ts';
import type { EarlierUse, StartedTrigger, TriggerIdentity } from '../triggering/send-until-known.ts';
import { starts } from '../triggering/start-evidence.ts';
import type { Following } from './following.ts';
import type { Plan } from './plan.ts';
import { sendTrigger } from './send-trigger.ts';
import { type StartOutcome, withEarlierRun, withoutRun, withRun } from './start-outcome.ts';
import { problemOfTrigger, unknownTriggerOf } from './unknown-trigger.ts';

/** A trigger without a run, after which `--if-active` says what to do, or the wait for the slot continues. */
interface NoRun {
  kind: 'refused' | 'unknown';
  fault: Fault;
}

interface SendOptions {
  /** Does the command send the trigger again after this? */
  isContinuedAfter(noRun: NoRun): boolean;
  /** How long ago this command sent the same trigger, if that attempt is in doubt. */
  inDoubtMs?: number;
}

/** Sends one trigger, unless the journal knows the run of its idempotency key. */
export async function startWithKey(
  identity: TriggerIdentity,
  body: string,
  { isContinuedAfter, inDoubtMs }: SendOptions,
  plan: Plan,
  following: Following,
): Promise<StartOutcome | NoRun> {
  const { journal, context } = following;
  const { target, idempotencyKey, userProvided } = identity;
  const isInDoubt = inDoubtMs !== undefined;
  const failed = (problem: Problem) => withoutRun(target, problem, idempotencyKey);
  const known = userProvided || isInDoubt ? journal.findKey(identity) : undefined;
  if (known?.state === 'accepted') {
    const run = { target, executionId: known.executionId };
    const evidence = isInDoubt ? 'shared_key' : 'recorded_run';
    const polled = await pollRun(run, plan.giveUpAfterMs, following);
    return withEarlierRun(evidence, idempotencyKey, polled);
  }
  const open = known?.state === 'open' ? known.trigger : undefined;
  const obstacle = open && !isInDoubt && obstacleOfKey(open, identity, following);
  if (obstacle) return failed(obstacle);
  const earlierUse: EarlierUse = {
    earlier: isInDoubt ? { ageMs: Math.max(inDoubtMs, open?.ageMs ?? 0), isOwn: true } : open,
    isContinuedAfter: (fault) => isContinuedAfter({ kind: 'unknown', fault }),
  };
  following.sentKeys.add(idempotencyKey);
  warnOfOpenTriggers(target, following);
  // If an idempotency key was sent before, send the same bytes again.
  const bytes = open?.body ?? body;
  const result = await sendTrigger(identity, bytes, { giveUpAfterMs: plan.giveUpAfterMs, ...earlierUse }, following);
  if (result.kind === 'started') return startOfTrigger(result, identity, context.clock);
  if (result.kind === 'recorded') {
    const { evidence, executionId } = result;
    const polled = await pollRun({ target, executionId }, plan.giveUpAfterMs, following);
    return withEarlierRun(evidence, idempotencyKey, polled);
  }
  // An earlier command's attempt with this key stays unresolved.
  if (result.kind === 'refused' && open) reportUnresolved(target, following);
  if (result.kind !== 'interrupted' && isContinuedAfter(result)) return result;
  return failed(problemOfTrigger(result, identity, following));
}

/** Why a key whose outcome is unknown can't be sent again. */
function obstacleOfKey(
  open: UnresolvedTrigger,
  { account }: TriggerIdentity,
  following: Following,
): Problem | undefined {
  const trigger = unknownTriggerOf(open, following);
  if (open.account !== account) return otherAccountProblem(trigger);
  if (!Number.isFinite(open.ageMs)) return withheldProblem(trigger);
  if (open.ageMs > defaults.keyRetentionMs) return expiredKeyProblem(trigger);
  return trigger.ignoresKeys ? withheldProblem(trigger) : undefined;
}

function startOfTrigger(
  { run: execution, evidence, retryAfterMs }: StartedTrigger<StartedExecution>,
  { target, idempotencyKey }: TriggerIdentity,
  clock: Clock,
): StartOutcome {
  const { executionId } = execution;
  const found = { run: { target, executionId }, execution };
  const isEarlier = starts[evidence].started === 'no' || (evidence === 'shared_key' && execution.isFinal);
  if (isEarlier) return withRun(evidence, idempotencyKey, found);
  const startedMs = clock.elapsedMs();
  const sinceTriggerMs = () => clock.elapsedMs() - startedMs;
  return withRun(evidence, idempotencyKey, { ...found, known: execution, retryAfterMs, sinceTriggerMs });
}

/** Warns about the target's earlier triggers without a known outcome, but not about one that is still being sent. */
function warnOfOpenTriggers(target: Target, following: Following): void {
  const { journal, baseUrl, sentKeys, processes } = following;
  const open = journal
    .unresolvedTriggers({ baseUrl, target })
    .filter((trigger) => senderOf(trigger, processes) === undefined);
  if (open.some(({ idempotencyKey }) => !sentKeys.has(idempotencyKey))) reportUnresolved(target, following);
}

function reportUnresolved(target: Target, { context }: Following): void {
  const earlier = `an earlier trigger of ${nameOf(target)} may or may not have started a run`;
  const message = `${earlier}: resolve it with \`runctl recover\``;
  context.reporter.observe({ event: 'warning', name: 'unresolved_trigger', message, target });
}
