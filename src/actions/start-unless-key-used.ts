import type { Problem } from '../problems/problem.ts';
import { expiredKeyProblem, needsResend, otherAccountProblem, withheldProblem } from '../problems/unknown-outcome.ts';
import type { Clock } from '../runs/clock.ts';
import { defaults } from '../runs/defaults.ts';
import { deliveryOf, type Fault, isRetryable } from '../runs/fault.ts';
import { nameOf, type Target } from '../runs/run.ts';
import type { Service } from '../runs/service.ts';
import type { Following } from '../session/following.ts';
import { pollRun } from '../session/poll-once.ts';
import type { StartedTrigger } from '../triggering/answer-meaning.ts';
import type { TriggerIdentity } from '../triggering/send-until-known.ts';
import type { ActionFlags } from './flags.ts';
import { earlierAttemptsOf, sendRecorded } from './send-recorded.ts';
import type { StartResult } from './start-result.ts';
import { problemOfTrigger, unknownTriggerOf } from './unknown-trigger.ts';

/** A refusal after which `--if-active` says what to do, or the wait for the slot continues. */
type Refusal = { kind: 'refused'; fault: Fault };

/** Sends one trigger, unless the journal knows the run of its idempotency key. */
export async function startUnlessKeyUsed(
  identity: TriggerIdentity,
  body: string,
  flags: Pick<ActionFlags, 'giveUpAfterMs' | 'ifActive'>,
  following: Following,
  isWaiting: boolean,
): Promise<StartResult | Refusal> {
  const { journal, context } = following;
  const { target, idempotencyKey, userProvided } = identity;
  const failed = (problem: Problem): StartResult => ({ kind: 'failed', target, problem });
  const known = userProvided ? journal.findKey(identity) : undefined;
  if (known?.state === 'accepted') {
    const run = { target, executionId: known.executionId };
    const { isByTime } = known;
    const isOfOtherAccount = known.account !== undefined && known.account !== identity.account;
    return { kind: 'replayed', isByTime, isOfOtherAccount, ...(await pollRun(run, flags, following)) };
  }
  const open = known?.state === 'open' ? known.trigger : undefined;
  const unknown = open && unknownTriggerOf(open, following);
  if (unknown && open.account !== identity.account) return failed(otherAccountProblem(unknown));
  if (unknown && open.ageMs > defaults.keyRetentionMs) return failed(expiredKeyProblem(unknown));
  if (unknown && needsResend(unknown)) return failed(withheldProblem(unknown));
  const { giveUpAfterMs, ifActive } = flags;
  const options = { giveUpAfterMs, ifActive, earlier: open && earlierAttemptsOf(open) };
  following.sentKeys.add(idempotencyKey);
  // If an idempotency key was sent before, send the same bytes again.
  const bytes = open?.body ?? body;
  const result = await sendRecorded(identity, bytes, options, withOpenTriggerWarning(target, following));
  if (result.kind === 'started') return startOf(result, target, context.clock);
  if (
    result.kind === 'refused' &&
    (result.fault.kind === 'already_active' || (isWaiting && isWorthRetrying(result.fault)))
  ) {
    return { kind: 'refused', fault: result.fault };
  }
  return failed(problemOfTrigger(result, identity, following));
}

/** A 429, or a trigger that definitely wasn't sent. */
const isWorthRetrying = (fault: Fault) => isRetryable(fault) && deliveryOf(fault) !== 'unknown';

function startOf({ how, ...start }: StartedTrigger, target: Target, clock: Clock): StartResult {
  const { execution } = start;
  const run = { target, executionId: execution.executionId };
  if (how === 'replayed')
    return { kind: 'replayed', isByTime: start.isByTime, run, polled: { kind: 'ok', value: execution } };
  // Agents are discontinued, so a response that says otherwise may not mean that a run was started.
  const started = target.family === 'agent' ? 'unknown' : start.started;
  const startedMs = clock.elapsedMs();
  return { ...start, started, how, run, sinceTriggerMs: () => clock.elapsedMs() - startedMs };
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
  const { journal, baseUrl, sentKeys, context } = following;
  const open = journal
    .unresolvedTriggers({ baseUrl, target })
    // Another process may still be sending a new trigger.
    .filter(({ reason, ageMs }) => reason !== undefined || ageMs > justSentMs);
  if (open.every(({ idempotencyKey }) => sentKeys.has(idempotencyKey))) return;
  const earlier = `an earlier trigger of ${nameOf(target)} may or may not have started a run`;
  const message = `${earlier}: resolve it with \`runctl recover\``;
  context.reporter.observe({ event: 'warning', name: 'unresolved_trigger', message, target });
}
