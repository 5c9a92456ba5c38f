import type { Target } from '../run/run.ts';
import { isOpen, openMs } from './age.ts';
import { fold, type State, type Trigger, type UnresolvedTrigger, unresolvedOf } from './fold.ts';
import type { Log } from './log.ts';
import { type JournalRecord, type RecordOf, type TriggerKey, triggerIdOf } from './records.ts';
import { isMatch, type RunFilter, textsOf } from './run-filter.ts';

type KeyState = { state: 'accepted'; executionId: string } | { state: 'open'; trigger: UnresolvedTrigger };

export interface TargetFilter {
  baseUrl: string;
  target: Target;
}

/** Not a run that an earlier use of the key had started. */
const isOwnRun = ({ executionId, how }: Trigger) => executionId !== undefined && how !== 'replayed';

/** Questions that are answered from the files each time, with nothing remembered between them. */
export function createQueries(log: Log, nowMs: () => number) {
  return { read, conflicts, unresolvedTriggers, hasLaterRun, findKey };

  function* read(filter: RunFilter): Generator<JournalRecord> {
    for (const records of log.read({ ...filter, texts: textsOf(filter) }))
      for (const record of records) if (isMatch(record, filter)) yield record;
  }

  /** The target's triggers that were refused because another run was active, oldest first. */
  function conflicts({ sinceMs, ...filter }: TargetFilter & { sinceMs: number }): RecordOf<'refused'>[] {
    return [...read({ ...filter, sinceMs })].filter(
      (record): record is RecordOf<'refused'> =>
        record.type === 'refused' && record.name === 'already_active' && Date.parse(record.at) >= sinceMs,
    );
  }

  /** Newest first. */
  function unresolvedTriggers(filter: { baseUrl?: string; target?: Target }): UnresolvedTrigger[] {
    const { triggers } = foldAll({ ...filter, sinceMs: nowMs() - openMs });
    const open = [...triggers.values()].filter(
      ({ attempts: [oldest] }) => oldest !== undefined && isOpen(oldest, nowMs()),
    );
    return open.map((trigger) => unresolvedOf(trigger, nowMs())).reverse();
  }

  /** Does a trigger that was first sent after this time (ISO 8601) have a run of its own? */
  function hasLaterRun(filter: TargetFilter, at: string): boolean {
    const { triggers } = foldAll({ ...filter, sinceMs: Date.parse(at) });
    return [...triggers.values()].some((trigger) => isOwnRun(trigger) && trigger.at > at);
  }

  function foldAll(filter: RunFilter): State {
    return fold(read(filter));
  }

  /** How an idempotency key was used, however long ago. */
  function findKey({ baseUrl, target, idempotencyKey }: TriggerKey): KeyState | undefined {
    const files = [...log.read({ texts: [JSON.stringify(idempotencyKey)] })];
    const id = triggerIdOf({ baseUrl, idempotencyKey, target });
    const trigger = fold(files.flat()).triggers.get(id);
    if (!trigger) return undefined;
    if (trigger.executionId !== undefined) return { state: 'accepted', executionId: trigger.executionId };
    const { attempts, superseded = [] } = trigger;
    const unknown = attempts.length > 0 ? attempts : superseded;
    if (unknown.length === 0) return undefined;
    return { state: 'open', trigger: unresolvedOf({ ...trigger, attempts: unknown }, nowMs()) };
  }
}
