import { isInterruptName } from '../problems/exit-codes.ts';
import { anyFailure } from '../problems/next-step.ts';
import { defaults } from '../runs/defaults.ts';
import { durationMsOf } from '../runs/run.ts';
import { canRerun, finalStatusOf } from '../runs/statuses.ts';
import { formatDuration } from '../runs/time-text.ts';
import { type FollowedRun, followRun } from './follow-run.ts';
import type { Following } from './following.ts';
import { startRun } from './if-active.ts';
import type { Plan } from './plan.ts';
import { hasRun, type RunStart, type StartRequest, triggeredEvent } from './start-outcome.ts';
import { leastForTriggerMs } from './wait-for-slot.ts';

/**
 * Follows a run, and starts a new one after a failure that `--rerun-on` names. A user's idempotency key gets the number of
 * the rerun, so that the same runs count as its tries on every machine (docs/reference.md, Reruns).
 */
export async function followWithReruns(
  request: StartRequest,
  first: RunStart,
  plan: Plan,
  following: Following,
): Promise<FollowedRun> {
  const { context } = following;
  const { reporter } = context;
  let { start } = first;
  let followed = await followRun(first, plan, following, { start });
  for (let reruns = 1; ; reruns++) {
    const { run } = followed;
    const failure = failureOf(followed, plan.rerunOn);
    if (failure === undefined || first.start.how === 'attached' || context.signal.aborted) return followed;
    const notStarted = (why: string) => {
      const message = `the rerun didn't start: ${why}`;
      reporter.observe({ event: 'warning', name: 'rerun_not_started', message, run });
      return followed;
    };
    if (reruns > plan.maxReruns)
      return request.idempotencyKey ? reportUsedTries(followed, reruns, following) : followed;
    const obstacle = obstacleTo(followed, first, following);
    if (obstacle) return notStarted(obstacle);
    reporter.observe({ event: 'rerun', run, errorType: failure });
    const idempotencyKey = request.idempotencyKey && `${request.idempotencyKey}/${reruns}`;
    // `--if-active skip` and `attach` are for the first trigger only.
    const ifActive = plan.ifActive === 'wait' ? 'wait' : 'fail';
    const next = await startRun({ ...request, idempotencyKey }, { ...plan, ifActive }, following);
    reporter.observe(triggeredEvent(next, { ...plan, watch: true }, following));
    // A rerun in doubt leaves it unknown whether the command started a run.
    if (next.start.started !== 'no') start = { ...start, started: next.start.started };
    const { problem } = next;
    if (!hasRun(next)) {
      const isEnd = problem?.facts.started === 'unknown' || (problem && isInterruptName(problem.facts.name));
      return isEnd ? { ...followed, start, problem } : notStarted(problem?.message.replace(noRun, '') ?? '');
    }
    start = { ...start, reruns: [...start.reruns, run.executionId] };
    followed = await followRun(next, plan, following, { start });
  }
}

/** What a refusal says of its trigger, which isn't the only one of this command. */
const noRun = '; no run was started';

/** The failure after which `--rerun-on` starts a new run: an error type or a status. The run's status decides. */
function failureOf({ watched, problem }: FollowedRun, rerunOn: readonly string[] = []): string | undefined {
  if (problem || watched.kind !== 'finished' || watched.disagreement) return undefined;
  const { status } = watched.execution;
  if (!canRerun(status)) return undefined;
  const errorType = watched.result?.error?.type;
  const isNamed = rerunOn.includes(anyFailure) || (errorType !== undefined && rerunOn.includes(errorType));
  return isNamed ? (errorType ?? finalStatusOf(status)) : undefined;
}

/** Why there is no rerun after a failed run, if there isn't. */
function obstacleTo({ watched }: FollowedRun, { keyUse }: RunStart, { watches }: Following): string | undefined {
  const leftMs = watches.leftMs();
  if (leftMs < leastForTriggerMs) return '`--timeout` has expired';
  const tookMs = durationMsOf(watched.execution ?? {}) ?? 0;
  if (tookMs > leftMs) return `a run takes ${formatDuration(tookMs)}, longer than what is left of \`--timeout\``;
  // Another machine may have used the next key. The service may have forgotten it, or know it under another API key.
  if (keyUse?.isOfOtherAccount) return 'its idempotency key was used with another API key; give a new one';
  const isOld = keyUse !== undefined && keyUse.ageMs > defaults.keyRetentionMs;
  return isOld ? 'its idempotency key is more than 24h old; give a new one' : undefined;
}

function reportUsedTries(followed: FollowedRun, tries: number, { context: { reporter } }: Following): FollowedRun {
  const { run } = followed;
  const used = tries === 1 ? 'the only try' : `all ${tries} tries`;
  const message = `${used} of this idempotency key failed; give a new one, or a larger \`--max-reruns\``;
  reporter.observe({ event: 'warning', name: 'tries_used', message, run });
  return followed;
}
