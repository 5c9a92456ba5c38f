import { isInterruptName } from '../problems/exit-codes.ts';
import { defaults } from '../runs/defaults.ts';
import { nameOf, type Run } from '../runs/run.ts';
import { type FollowedArgument, triggeredEvent } from './argument-result.ts';
import { type FollowFlags, followRun } from './follow-run.ts';
import type { Session } from './session.ts';
import { type StartFlags, type StartRequest, type StartResult, startRun } from './start-run.ts';
import { leastForTriggerMs } from './wait-for-slot.ts';

export interface RerunFlags extends StartFlags, FollowFlags {
  /** Error types after which a watched run is started again. */
  rerunOn?: string[];
  maxReruns?: number;
}

/** A trigger that has a run. */
export type RunStart = Exclude<StartResult, { kind: 'skipped' | 'failed' }>;

/** Follows a run; one that ended with an error type of `--rerun-on` is started again, with a new idempotency key. */
export async function followWithReruns(
  request: StartRequest,
  first: RunStart,
  options: RerunFlags,
  session: Session,
): Promise<FollowedArgument> {
  const { reporter, context } = session;
  const { clock } = context;
  const { idempotencyKey, maxReruns = defaults.maxReruns } = options;
  const found = first.kind === 'started' ? undefined : first.kind;
  let start: RunStart = first;
  let hasStarted = false;
  for (let reruns = 1; ; reruns++) {
    const { run, triggeredAtMs, kind } = start;
    const startedMs = clock.elapsedMs();
    const sinceTriggerMs = kind === 'started' ? () => clock.elapsedMs() - startedMs : undefined;
    hasStarted ||= kind === 'started' && start.started === 'yes';
    const known = kind === 'started' ? start.execution : undefined;
    // `--give-up-after` is the trigger's: the watch keeps its own.
    const followFlags = { ...options, giveUpAfterMs: undefined };
    const followed = await followRun({ run, triggeredAtMs, sinceTriggerMs, known }, followFlags, session, {
      hasStarted,
      isTriggered: true,
    });
    const result = { kind: 'followed', ...followed, found } as const;
    const { watched, problem } = followed;
    const errorType = watched.kind === 'finished' ? watched.result?.error?.type : undefined;
    const again = !problem && errorType !== undefined && options.rerunOn?.includes(errorType);
    if (!again || reruns > maxReruns || !isSurelyOurs(start)) return result;
    // A given idempotency key gets the number of the rerun, so that the whole command can be repeated safely.
    const flags = { ...options, ...ofRerun(options), idempotencyKey: idempotencyKey && `${idempotencyKey}/${reruns}` };
    if (session.watches.leftMs() < leastForTriggerMs)
      return withoutRerun('`--timeout` has passed', run, result, session);
    reporter.observe({ event: 'rerun', run, errorType });
    const next = await startRun(request, flags, session);
    reporter.observe(triggeredEvent(next, true, session));
    if (next.kind === 'skipped') return result;
    if (next.kind === 'failed') {
      const { facts, message } = next.problem;
      const isSurelyNone = facts.started === 'no' && !isInterruptName(facts.name);
      if (isSurelyNone) return withoutRerun(message, run, result, session);
      // A rerun whose outcome is unknown does not undo that an earlier run was started.
      return { ...result, problem: hasStarted ? next.problem.with({ started: 'yes' }) : next.problem };
    }
    start = next;
  }
}

/** `skip` and `attach` are for the first trigger: another run that is active now is none of ours. */
const ofRerun = ({ ifActive }: RerunFlags): StartFlags => ({ ifActive: ifActive === 'wait' ? 'wait' : 'fail' });

/** A rerun that does not start leaves the command the end of the run that has finished. */
function withoutRerun(why: string, run: Run, result: FollowedArgument, { reporter }: Session): FollowedArgument {
  const message = `${nameOf(run.target)} was not started again: ${why}`;
  reporter.observe({ event: 'warning', name: 'not_rerun', message, run });
  return result;
}

/** Did an idempotency key of ours start the run? One that was only attached to, or found by its time, is left alone. */
function isSurelyOurs(start: RunStart): boolean {
  return start.kind === 'replayed' || (start.kind === 'started' && !start.isByTime);
}
