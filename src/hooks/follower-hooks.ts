import type { Connection } from '../connection/connection.ts';
import type { followerOf } from '../journal/follower-claim.ts';
import type { HookState } from '../journal/hook-states.ts';
import { Problem } from '../problems/problem.ts';
import { count } from '../problems/quote.ts';
import type { Run } from '../runs/run.ts';
import { commandFor, type HookRecord } from './on-final.ts';

type FollowerRecorder = Pick<Connection, 'journal' | 'baseUrl' | 'processes' | 'context'>;

/** The record of a follower's hooks. It makes each hook run at most once, however often followers are restarted. */
export function createHookRecord({ journal, baseUrl, processes, context }: FollowerRecorder): HookRecord {
  const hookOf = ({ executionId }: Run): HookState | undefined => journal.hooks({ baseUrl, executionId })[0];
  const leave = (run: Run, why: string): false => {
    const message = `${commandFor(run)} was not run: ${why}; the next follower runs or reports it`;
    context.reporter.observe({ event: 'warning', name: 'hook_failed', message, run });
    return false;
  };
  return {
    isResumed: true,
    begin(run) {
      try {
        const { state = 'due' } = hookOf(run) ?? {};
        if (state !== 'due') return false;
        if (!journal.append({ type: 'hook_begun', baseUrl, ...run, process: processes.own }))
          return leave(run, "the journal can't be written");
        // If two processes begin it at once, the one whose line comes first runs it.
        return hookOf(run)?.begunBy === processes.own;
      } catch (error) {
        // A follower continues if a disk is unavailable for a while.
        if (error instanceof Problem) return leave(run, error.message);
        throw error;
      }
    },
    end(run, failure) {
      journal.append({ type: 'hook_ended', baseUrl, ...run, failure });
    },
  };
}

/** Records that a run's hook is due, so that a later follower runs it if this one exits before it begins. */
export function recordDueHook(run: Run, { journal, baseUrl }: FollowerRecorder): void {
  if (journal.hooks({ baseUrl, executionId: run.executionId }).length > 0) return;
  journal.append({ type: 'hook_due', baseUrl, ...run });
}

/** The runs whose hooks earlier followers left. A later one runs those that are due. Those that were cut off don't run again. */
export function leftHooks({ journal, baseUrl, processes }: Omit<FollowerRecorder, 'context'>): {
  due: Run[];
  cutOff: Run[];
} {
  const open = journal.hooks({ baseUrl });
  const isCutOff = ({ state, begunBy }: HookState) =>
    state === 'begun' && (begunBy === undefined || processes.stateOf(begunBy) !== 'running');
  return {
    due: open.filter(({ state }) => state === 'due').map(({ run }) => run),
    cutOff: open.filter(isCutOff).map(({ run }) => run),
  };
}

/** How many hooks somebody has to see to: a running follower runs what is due to it, and has reported what was cut off. */
export function owedHooks(
  recorder: Omit<FollowerRecorder, 'context'>,
  follower: ReturnType<typeof followerOf>,
): { due: number; cutOff: number } {
  const { due, cutOff } = leftHooks(recorder);
  return {
    due: follower?.isAlive && follower.hasHook ? 0 : due.length,
    // A running follower may run hooks in another container.
    cutOff: follower?.isAlive ? 0 : cutOff.length,
  };
}

export const dueText = (due: number): string =>
  `${count(due, '--on-final command')} of an earlier follower ${due > 1 ? 'are' : 'is'} due`;

/** Warns about hooks that an earlier follower began but didn't finish. */
export function reportCutOffHooks(recorder: FollowerRecorder): void {
  const { journal, baseUrl, context } = recorder;
  for (const run of leftHooks(recorder).cutOff) {
    // After a `kill -9` of the follower, the command itself may have continued.
    const message = `${commandFor(run)} may be incomplete: its end was never recorded. It won't run again`;
    context.reporter.observe({ event: 'warning', name: 'hook_cut_off', message, run });
    journal.append({ type: 'hook_ended', baseUrl, ...run, failure: 'may be incomplete' });
  }
}
