import { pollRun } from '../connection/poll-once.ts';
import type { UnresolvedTrigger } from '../journal/journal.ts';
import type { Problem } from '../problems/problem.ts';
import { expiredKeyProblem, otherAccountProblem, withheldProblem } from '../problems/unknown-outcome.ts';
import type { Clock } from '../runs/clock.ts';
import { defaults } from '../runs/defaults.ts';
import type { Fault } from '../runs/fault.ts';
import { nameOf, type Target } from '../runs/run.ts';
import type { Service, StartedExecution } from '../runs/service.ts';
import type { EarlierUse, StartedTrigger, TriggerIdentity } from '../triggering/send-until-known.ts';
import { starts } from '../triggering/start-evidence.ts';
import type { ActionFlags } from './action-flags.ts';
import type { Following } from './following.ts';
import type { StartResult } from './outcome.ts';
import { sendTrigger } from './send-trigger.ts';
import { problemOfTrigger, unknownTriggerOf } from './unknown-trigger.ts';

/** A trigger without a run, after which `--if-active` says what to do, or the wait for the slot continues. */
export interface NoRun {
  kind: 'refused' | 'unknown';
  fault: Fault;
}

interface SendOptions extends Pick<ActionFlags, 'giveUpAfterMs' | 'ifActive'> {
  /** Does the command send the trigger again after this? */
  isContinuedAfter(noRun: NoRun): boolean;
  /** How long ago this command sent the same trigger, if that attempt is in doubt. */
  inDoubtMs?: number;
}

/** Sends one trigger, unless the journal knows the run of its idempotency key. */
export async function startWithKey(
  identity: TriggerIdentity,
  body: string,
  { isContinuedAfter, inDoubtMs, ...flags }: SendOptions,
  following: Following,
): Promise<StartResult | NoRun> {
  const { journal, context } = following;
  const { target, idempotencyKey, userProvided } = identity;
  const isInDoubt = inDoubtMs !== undefined;
  const failed = (problem: Problem): StartResult => ({ kind: 'failed', target, problem });
  const known = userProvided || isInDoubt ? journal.findKey(identity) : undefined;
  if (known?.state === 'accepted') {
    const run = { target, executionId: known.executionId };
    const isOfOtherAccount = known.account !== undefined && known.account !== identity.account;
    const key = { ageMs: known.ageMs, isOfOtherAccount };
    const evidence = isInDoubt ? 'shared_key' : 'recorded_run';
    return { kind: 'earlier', evidence, key, ...(await pollRun(run, flags, following)) };
  }
  const open = known?.state === 'open' ? known.trigger : undefined;
  const obstacle = open && !isInDoubt && obstacleOfKey(open, identity, following);
  if (obstacle) return failed(obstacle);
  const earlierUse: EarlierUse = {
    earlier: isInDoubt ? { ageMs: Math.max(inDoubtMs, open?.ageMs ?? 0), isOwn: true } : open,
    isContinuedAfter: (fault) => isContinuedAfter({ kind: 'unknown', fault }),
  };
  following.sentKeys.add(idempotencyKey);
  // If an idempotency key was sent before, send the same bytes again.
  const bytes = open?.body ?? body;
  const result = await sendTrigger(
    identity,
    bytes,
    { ...flags, ...earlierUse },
    withOpenTriggerWarning(target, following),
  );
  if (result.kind === 'started') return startOfTrigger(result, target, context.clock);
  if (result.kind === 'recorded') {
    const { evidence, executionId } = result;
    return { kind: 'earlier', evidence, ...(await pollRun({ target, executionId }, flags, following)) };
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
  if (open.ageMs > defaults.keyRetentionMs) return expiredKeyProblem(trigger);
  return trigger.keys === 'ignored' ? withheldProblem(trigger) : undefined;
}

function startOfTrigger(
  { run: execution, ...start }: StartedTrigger<StartedExecution>,
  target: Target,
  clock: Clock,
): StartResult {
  const { executionId } = execution;
  const run = { target, executionId };
  const { started } = starts[start.evidence];
  if (started === 'no' || (start.evidence === 'shared_key' && execution.isFinal))
    return { kind: 'earlier', evidence: start.evidence, run, polled: { kind: 'ok', value: execution } };
  const startedMs = clock.elapsedMs();
  return { ...start, execution, run, sinceTriggerMs: () => clock.elapsedMs() - startedMs };
}

/** A following whose next trigger also warns about the target's earlier triggers without a known outcome. */
function withOpenTriggerWarning(target: Target, following: Following): Following {
  const { service } = following;
  let isFirst = true;
  const trigger: Service['trigger'] = (...request) => {
    const answer = service.trigger(...request);
    // Read the journal while the service is working, so that it costs no time.
    if (isFirst) warnOfOpenTriggers(target, following);
    isFirst = false;
    return answer;
  };
  return { ...following, service: { ...service, trigger } };
}

const justSentMs = 5_000;

function warnOfOpenTriggers(target: Target, following: Following): void {
  const { journal, baseUrl, sentKeys } = following;
  const open = journal
    .unresolvedTriggers({ baseUrl, target })
    // Another process may still be sending a new trigger.
    .filter(({ reason, ageMs }) => reason !== undefined || ageMs > justSentMs);
  if (open.some(({ idempotencyKey }) => !sentKeys.has(idempotencyKey))) reportUnresolved(target, following);
}

function reportUnresolved(target: Target, { context }: Following): void {
  const earlier = `an earlier trigger of ${nameOf(target)} may or may not have started a run`;
  const message = `${earlier}: resolve it with \`runctl recover\``;
  context.reporter.observe({ event: 'warning', name: 'unresolved_trigger', message, target });
}
