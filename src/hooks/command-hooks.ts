import type { Connection } from '../connection/connection.ts';
import { journalOf } from '../connection/open-journal.ts';
import type { Context } from '../context.ts';
import { createProcesses } from '../journal/processes.ts';
import { pathOf } from '../journal/records.ts';
import type { JsonObject } from '../runs/json.ts';
import { subjectOf } from '../runs/subject.ts';
import type { HookRecord } from './on-final.ts';

type Recorder = Pick<Connection, 'journal' | 'baseUrl' | 'processes'>;

/** Records a watch's `--on-final` commands. Unlike a follower's, no later process uses the record. */
export function finalHookRecord({ journal, baseUrl, processes }: Recorder): HookRecord {
  const hook = '--on-final';
  return {
    isResumed: false,
    begin({ target, executionId: run }) {
      journal.append({ type: 'command_hook_begun', hook, baseUrl, target, run, process: processes.own });
      return true;
    },
    end({ target, executionId: run }, failure) {
      journal.append({ type: 'command_hook_ended', hook, baseUrl, target, run, failure });
    },
  };
}

/** Records the `--on-exit` command of a command with these documents, once for each automation in them. */
export function exitHookRecord(documents: readonly JsonObject[], baseUrl: string | undefined, context: Context) {
  if (baseUrl === undefined) return undefined;
  const hook = '--on-exit';
  const journal = journalOf(context, { quiet: true });
  const subjects = documents.map(subjectOf);
  const targets = new Map(subjects.flatMap(({ target }) => (target ? [[pathOf(target), target] as const] : [])));
  const run = documents.length === 1 ? subjects[0]?.executionId : undefined;
  const belonging = [...targets.values()].map((target) => ({ hook, baseUrl, target, run }) as const);
  return {
    begin() {
      const process = createProcesses().own;
      for (const each of belonging) journal.append({ type: 'command_hook_begun', ...each, process });
    },
    end(failure: string | undefined) {
      for (const each of belonging) journal.append({ type: 'command_hook_ended', ...each, failure });
    },
  };
}
