import type { Run } from '../runs/run.ts';
import { isOfFollowerHook, type JournalRecord, runIdOf } from './records.ts';

/** The state of a follower's `--on-final` command for a run. */
export interface HookState {
  run: Run;
  state: 'due' | 'begun' | 'ended';
  begunBy?: string; // the process that runs it (its name from `Processes`): the first one that recorded the start
  at: string; // when it was first recorded, ISO 8601
}

/** By `runIdOf`, in the order of their first records. */
export function hookStatesIn(records: Iterable<JournalRecord>): Map<string, HookState> {
  const states = new Map<string, HookState>();
  for (const record of records) {
    if (!isOfFollowerHook(record)) continue;
    const run = { target: record.target, executionId: record.executionId };
    const hook: HookState = states.get(runIdOf(record)) ?? { run, state: 'due', at: record.at };
    states.set(runIdOf(record), hook);
    if (record.type === 'hook_ended') hook.state = 'ended';
    if (record.type === 'hook_begun' && hook.state === 'due') {
      hook.state = 'begun';
      hook.begunBy = record.process;
    }
  }
  return states;
}
