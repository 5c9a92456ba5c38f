import type { HistoryEvent } from '../runs/history-event.ts';
import { durationMsOf } from '../runs/run.ts';
import { isFinalStatus } from '../runs/statuses.ts';
import { type JournalRecord, type RecordOf, runIdOf, triggerIdOf } from './records.ts';

type HookEventRecord = RecordOf<'hook_begun' | 'hook_ended' | 'command_hook_begun' | 'command_hook_ended'>;

/** The events that the records show, in their order, without repetitions. */
export function historyIn(records: Iterable<JournalRecord>): HistoryEvent[] {
  const processes = new Map<string, string | undefined>(); // by attempt
  const doubts = new Map<string, RecordOf<'in_doubt'>>(); // the last one of each trigger
  const finished = new Set<string>();
  const open = new Map<string, Set<string>>(); // the attempts of each trigger that weren't refused
  const keys = new Map<string, string>(); // of the runs that were started here
  const openAttempts = (record: RecordOf<'triggered' | 'accepted' | 'refused'>) =>
    open.get(triggerIdOf(record)) ?? new Set();
  /** Was the same just reported about this attempt? */
  const isRepeated = (record: RecordOf<'in_doubt' | 'refused'>) => {
    const doubt = doubts.get(triggerIdOf(record));
    return doubt?.attempt === record.attempt && doubt?.reason === record.reason;
  };

  return Array.from(records, (record): HistoryEvent | undefined => {
    const { at, baseUrl, by } = record;
    const event = { at, baseUrl, target: record.target, by };
    const key = 'idempotencyKey' in record ? { idempotencyKey: record.idempotencyKey } : {};
    const ofRun = (executionId: string) => ({
      executionId,
      idempotencyKey: keys.get(runIdOf({ baseUrl, executionId })),
    });
    const ofHook = (hook: HookEventRecord) =>
      'hook' in hook
        ? { ...(hook.run !== undefined && ofRun(hook.run)), hook: hook.hook }
        : { ...ofRun(hook.executionId), hook: '--on-final' };
    switch (record.type) {
      case 'triggered':
        processes.set(record.attempt, record.process);
        open.set(triggerIdOf(record), openAttempts(record).add(record.attempt));
        return { ...event, ...key, what: record.first ? 'sent' : 'sent_again', process: record.process };
      case 'in_doubt': {
        const { reason, activeExecutionId: executionId } = record;
        const isKnown = isRepeated(record);
        doubts.set(triggerIdOf(record), record);
        return isKnown ? undefined : { ...event, ...key, what: 'response_lost', executionId, reason };
      }
      case 'accepted': {
        const { executionId, status, attempt = '' } = record;
        keys.set(runIdOf(record), record.idempotencyKey);
        const isAfterOpen = [...openAttempts(record)].indexOf(attempt) > 0;
        const what = isAfterOpen || doubts.has(triggerIdOf(record)) ? 'resolved' : 'accepted';
        open.delete(triggerIdOf(record));
        return { ...event, ...key, what, executionId, status, process: processes.get(attempt) };
      }
      case 'refused': {
        const { name: refusal, reason, activeExecutionId: executionId, attempt, ifActive } = record;
        openAttempts(record).delete(record.attempt);
        const isOpen = openAttempts(record).size > 0;
        if (isOpen && isRepeated(record)) return undefined;
        if (!isOpen) doubts.delete(triggerIdOf(record));
        const what = isOpen ? 'repeat_refused' : 'refused';
        const refused = { what, executionId, refusal, reason, ifActive } as const;
        return { ...event, ...key, ...refused, process: processes.get(attempt) };
      }
      case 'superseded':
        return { ...event, ...key, what: 'superseded', process: record.process };
      case 'reused_key':
        return { ...event, ...key, what: 'untracked' };
      case 'status': {
        const { executionId, status, first } = record;
        const isEnd = isFinalStatus(status, event.target);
        if (finished.has(runIdOf(record)) || (!isEnd && !first && status === 'RUNNING')) return undefined;
        if (isEnd) finished.add(runIdOf(record));
        const durationMs = isEnd ? durationMsOf(record) : undefined;
        const what = first ? 'looked_at' : isEnd ? 'finished' : 'status';
        return { ...event, ...ofRun(executionId), what, status, durationMs };
      }
      case 'not_found':
        return { ...event, ...ofRun(record.executionId), what: 'forgotten' };
      case 'hook_due':
        return { ...event, ...ofRun(record.executionId), what: 'hook_due', hook: '--on-final' };
      case 'hook_begun':
      case 'command_hook_begun':
        return { ...event, ...ofHook(record), what: 'hook_begun', process: record.process };
      case 'hook_ended':
      case 'command_hook_ended':
        return { ...event, ...ofHook(record), what: 'hook_ended', failure: record.failure };
      default:
        return { ...event, what: record.treatment === 'ignored' ? 'keys_ignored' : 'keys_honored' };
    }
  }).filter((event) => event !== undefined);
}
