import { commandFor, type HookRecord } from '../hooks/on-final.ts';
import type { HookState } from '../journal/hook-states.ts';
import type { Run } from '../runs/run.ts';
import type { Connection } from '../session/connection.ts';

type Recorder = Pick<Connection, 'journal' | 'baseUrl' | 'processes' | 'context'>;

/** The record of a follower's hooks, by which each runs once at most, however many followers are ended and started. */
export function createHookRecord({ journal, baseUrl, processes, context }: Recorder): HookRecord {
  const hookOf = ({ executionId }: Run): HookState | undefined => journal.hooks({ baseUrl, executionId })[0];
  return {
    isResumed: true,
    begin(run) {
      const { state = 'due' } = hookOf(run) ?? {};
      if (state !== 'due') return false;
      if (!journal.append({ type: 'hook_begun', baseUrl, ...run, process: processes.own })) {
        const message = `${commandFor(run)} was not run: the journal can't be written`;
        context.reporter.observe({ event: 'warning', name: 'hook_failed', message, run });
        return false;
      }
      // Of two processes that begin it at once, the one whose line is the first runs it.
      return hookOf(run)?.begunBy === processes.own;
    },
    end(run, failure) {
      journal.append({ type: 'hook_ended', baseUrl, ...run, failure });
    },
  };
}

/** Records that the hook of a run is due, so that a later follower runs it if this one ends before it begins. */
export function recordDueHook(run: Run, { journal, baseUrl }: Recorder): void {
  if (journal.hooks({ baseUrl, executionId: run.executionId }).length > 0) return;
  journal.append({ type: 'hook_due', baseUrl, ...run });
}

/** The runs whose hooks an earlier follower has left to a later one. */
export function dueHooks({ journal, baseUrl }: Recorder): Run[] {
  return journal.hooks({ baseUrl }).flatMap(({ run, state }) => (state === 'due' ? run : []));
}

/** Warns of the hooks that an earlier follower began, but did not end. */
export function reportCutOffHooks({ journal, baseUrl, processes, context }: Recorder): void {
  for (const { run, state, begunBy } of journal.hooks({ baseUrl })) {
    const isCutOff = state === 'begun' && (begunBy === undefined || processes.stateOf(begunBy) !== 'running');
    if (!isCutOff) continue;
    const message = `${commandFor(run)} was cut off when its follower ended; it won't run again`;
    context.reporter.observe({ event: 'warning', name: 'hook_cut_off', message, run });
    journal.append({ type: 'hook_ended', baseUrl, ...run, failure: 'was cut off' });
  }
}
