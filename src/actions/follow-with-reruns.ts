import { isInterruptName } from '../problems/exit-codes.ts';
import { defaults } from '../runs/defaults.ts';
import type { Session } from '../session/session.ts';
import type { Followed } from './argument-result.ts';
import type { ActionFlags } from './flags.ts';
import { followRun } from './follow-run.ts';
import { outcomeOfStart, type StartResult, startedOf, triggeredEvent } from './start-result.ts';
import { leastForTriggerMs, type StartRequest, startRun } from './start-run.ts';

type RunStart = Exclude<StartResult, { kind: 'skipped' | 'failed' }>;

/** Follows a run; one that ended with an error type of `--rerun-on` is started again, with a new idempotency key. */
export async function followWithReruns(
  request: StartRequest,
  first: RunStart,
  options: ActionFlags,
  session: Session,
): Promise<Followed> {
  const { reporter } = session;
  const { maxReruns = defaults.maxReruns } = options;
  let start: RunStart = first;
  let trigger = outcomeOfStart(first);
  for (let reruns = 1; ; reruns++) {
    const { run, sinceTriggerMs } = start;
    const known = start.kind === 'started' ? start.execution : undefined;
    const retryAfterMs = start.kind === 'started' ? start.retryAfterMs : undefined;
    // `--give-up-after` is for the trigger; the watch has its own limit.
    const followFlags = { ...options, giveUpAfterMs: undefined };
    const followed = await followRun({ run, sinceTriggerMs, known, retryAfterMs }, followFlags, session, { trigger });
    const { watched, problem } = followed;
    const errorType = watched.kind === 'finished' ? watched.result?.error?.type : undefined;
    const again = !problem && errorType !== undefined && options.rerunOn?.includes(errorType);
    if (!again || reruns > maxReruns || !isSurelyOurs(start)) return followed;
    // A given idempotency key gets the number of the rerun, so that the whole command can be repeated safely.
    const idempotencyKey = request.idempotencyKey && `${request.idempotencyKey}/${reruns}`;
    // `--if-active skip` and `attach` are for the first trigger only.
    const ifActive = options.ifActive === 'wait' ? 'wait' : 'fail';
    const notStarted = (why: string) => {
      const message = `the rerun did not start: ${why}`;
      reporter.observe({ event: 'warning', name: 'rerun_not_started', message, run });
      return followed;
    };
    if (session.watches.leftMs() < leastForTriggerMs) return notStarted('`--timeout` has passed');
    reporter.observe({ event: 'rerun', run, errorType });
    const next = await startRun({ ...request, idempotencyKey }, { ...options, ifActive }, session);
    reporter.observe(triggeredEvent(next, true, session));
    if (next.kind === 'skipped') return followed;
    if (next.kind === 'failed') {
      const { facts, message } = next.problem;
      if (facts.started === 'unknown' || isInterruptName(facts.name)) return { ...followed, problem: next.problem };
      return notStarted(message);
    }
    start = next;
    const started = startedOf(next) === 'no' ? trigger.started : startedOf(next);
    trigger = { ...trigger, started, reruns: [...trigger.reruns, run.executionId] };
  }
}

/** Did our idempotency key start the run? A run that was attached to, or found by its time, is not started again. */
function isSurelyOurs(start: RunStart): boolean {
  return start.kind === 'replayed' || (start.kind === 'started' && !start.isByTime);
}
