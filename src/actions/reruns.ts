import { isInterruptName } from '../problems/exit-codes.ts';
import { anyFailure } from '../problems/next-step.ts';
import { defaults } from '../runs/defaults.ts';
import { durationMsOf, finalStatusOf } from '../runs/run.ts';
import { formatDuration } from '../runs/time-text.ts';
import type { ActionFlags } from './action-flags.ts';
import { followRun } from './follow-run.ts';
import type { Following } from './following.ts';
import { startRun } from './if-active.ts';
import type { Followed } from './outcome.ts';
import {
  outcomeOfStart,
  type StartRequest,
  type StartResult,
  type TriggerOutcome,
  triggeredEvent,
  withRerun,
} from './outcome.ts';
import { leastForTriggerMs } from './wait-for-slot.ts';

interface RerunOptions {
  onStart(rerun: StartResult): void;
}

type RunStart = Exclude<StartResult, { kind: 'skipped' | 'failed' }>;

/**
 * Follows a run, and starts a new one after a failure that `--rerun-on` names. A user's idempotency key gets the number of
 * the rerun, so that the same runs count as its tries on every machine (docs/reference.md, Reruns).
 */
export async function followWithReruns(
  request: StartRequest,
  first: RunStart,
  { isSafeToRepeat, onStart, ...options }: ActionFlags & Pick<TriggerOutcome, 'isSafeToRepeat'> & RerunOptions,
  following: Following,
): Promise<Followed> {
  const { context } = following;
  const { reporter } = context;
  const { maxReruns = defaults.maxReruns } = options;
  let start: RunStart = first;
  let trigger = outcomeOfStart(first, isSafeToRepeat);
  for (let reruns = 1; ; reruns++) {
    const { run, sinceTriggerMs } = start;
    const known = start.kind === 'started' ? start.execution : undefined;
    const retryAfterMs = start.kind === 'started' ? start.retryAfterMs : undefined;
    // `--give-up-after` is for the trigger; the watch has its own limit.
    const followFlags = { ...options, giveUpAfterMs: undefined };
    const followed = await followRun({ run, sinceTriggerMs, known, retryAfterMs }, followFlags, following, { trigger });
    const failure = failureOf(followed, options.rerunOn);
    if (failure === undefined || start.kind === 'attached' || context.signal.aborted) return followed;
    const notStarted = (why: string) => {
      const message = `the rerun didn't start: ${why}`;
      reporter.observe({ event: 'warning', name: 'rerun_not_started', message, run });
      return followed;
    };
    if (reruns > maxReruns) return request.idempotencyKey ? reportUsedTries(followed, reruns, following) : followed;
    const obstacle = obstacleTo(followed, first, following);
    if (obstacle) return notStarted(obstacle);
    reporter.observe({ event: 'rerun', run, errorType: failure });
    const idempotencyKey = request.idempotencyKey && `${request.idempotencyKey}/${reruns}`;
    // `--if-active skip` and `attach` are for the first trigger only.
    const ifActive = options.ifActive === 'wait' ? 'wait' : 'fail';
    const next = await startRun({ ...request, idempotencyKey }, { ...options, ifActive }, following);
    reporter.observe(triggeredEvent(next, { ...options, watch: true }, following));
    onStart(next);
    trigger = withRerun(trigger, next);
    if (next.kind === 'skipped') return followed;
    if (next.kind === 'failed') {
      const { facts, message } = next.problem;
      const isEnd = facts.started === 'unknown' || isInterruptName(facts.name);
      return isEnd ? { ...followed, trigger, problem: next.problem } : notStarted(message.replace(noRun, ''));
    }
    start = next;
    trigger = { ...trigger, reruns: [...trigger.reruns, run.executionId] };
  }
}

/** What a refusal says of its trigger, which isn't the only one of this command. */
const noRun = '; no run was started';

/** The failure after which `--rerun-on` starts a new run: an error type or a status. The run's status decides. */
function failureOf({ watched, problem }: Followed, rerunOn: readonly string[] = []): string | undefined {
  if (problem || watched.kind !== 'finished' || watched.disagreement) return undefined;
  const status = finalStatusOf(watched.execution.status);
  if (status !== 'FAILED' && status !== 'TIMED_OUT') return undefined;
  const errorType = watched.result?.error?.type;
  const isNamed = rerunOn.includes(anyFailure) || (errorType !== undefined && rerunOn.includes(errorType));
  return isNamed ? (errorType ?? status) : undefined;
}

/** Why there is no rerun after a failed run, if there isn't. */
function obstacleTo({ watched }: Followed, first: RunStart, { watches }: Following): string | undefined {
  const leftMs = watches.leftMs();
  if (leftMs < leastForTriggerMs) return '`--timeout` has expired';
  const tookMs = durationMsOf(watched.execution ?? {}) ?? 0;
  if (tookMs > leftMs) return `a run takes ${formatDuration(tookMs)}, longer than what is left of \`--timeout\``;
  const { key } = first.kind === 'earlier' ? first : {};
  // Another machine may have used the next key. The service may have forgotten it, or know it under another API key.
  if (key?.isOfOtherAccount) return 'its idempotency key was used with another API key; give a new one';
  const isOld = key !== undefined && key.ageMs > defaults.keyRetentionMs;
  return isOld ? 'its idempotency key is more than 24h old; give a new one' : undefined;
}

function reportUsedTries(followed: Followed, tries: number, { context: { reporter } }: Following): Followed {
  const { run } = followed.watched;
  const used = tries === 1 ? 'the only try' : `all ${tries} tries`;
  const message = `${used} of this idempotency key failed; give a new one, or a larger \`--max-reruns\``;
  reporter.observe({ event: 'warning', name: 'tries_used', message, run });
  return followed;
}
