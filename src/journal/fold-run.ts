import type { KnownRun, RunEntry } from '../run/entry.ts';
import { graverStatus, hasFinished } from '../run/statuses.ts';
import type { FieldsOf, RecordOf } from './records.ts';

// What the records say of one run.

export type RunRecord = RecordOf<'accepted' | 'status' | 'not_found'>;

/**
 * Adds a record to what is known of its run, whose id is `runRefOf`. A final status stays, unless a
 * graver one comes. Returns whether the run was unknown before.
 */
export function updateRun(runs: Map<string, RunEntry>, id: string, record: RunRecord): boolean {
  const earlier = runs.get(id);
  if (record.type === 'not_found') {
    runs.set(id, notFoundRun(record, earlier));
    return earlier === undefined;
  }
  // There may be a hundred thousand of them, so a run that is known is changed in place.
  const run = earlier?.kind === 'run' ? earlier : newRun(record, earlier);
  applyReport(run, record, record.at);
  if (record.type === 'accepted' && run.idempotencyKey === undefined) {
    run.idempotencyKey = record.idempotencyKey;
    run.at = record.at;
    run.account = record.account;
  }
  if (run !== earlier) runs.set(id, run);
  return earlier === undefined;
}

function notFoundRun(
  { baseUrl, target, executionId, at }: RunRecord,
  earlier: RunEntry | undefined,
): RunEntry {
  if (!earlier) return { kind: 'not_found', baseUrl, target, executionId, at };
  if (earlier.kind === 'not_found' || earlier.isFinal) return earlier;
  const { status: _, isFinal: __, statusAt: ___, ...rest } = earlier;
  return { ...rest, kind: 'not_found' };
}

/** With every optional field, so that the compiler asks for a new one. */
export type Complete<T> = { [Name in keyof Required<T>]: T[Name] };

// Copying the fields in a loop or with a spread would make reading a large journal several times
// slower.
function newRun(first: RunEntry | RunRecord, earlier?: RunEntry): Complete<KnownRun> {
  const { baseUrl, target, executionId, at } = earlier ?? first;
  return {
    kind: 'run',
    baseUrl,
    target,
    executionId,
    at,
    status: 'RUNNING',
    isFinal: false,
    statusAt: at,
    idempotencyKey: earlier?.idempotencyKey,
    account: earlier?.account,
    startedAt: earlier?.startedAt,
    completedAt: earlier?.completedAt,
    creditsCharged: earlier?.creditsCharged,
    error: earlier?.error,
  };
}

type StatusReport = Partial<FieldsOf<'status'>>;

/**
 * Adds what was reported of a run at this time (ISO 8601). A report without a status means RUNNING.
 */
function applyReport(run: KnownRun, report: StatusReport, at: string): void {
  const status = report.status ?? 'RUNNING';
  run.startedAt = report.startedAt ?? run.startedAt;
  const isFinal = hasFinished({
    status,
    startedAt: run.startedAt,
    completedAt: report.completedAt,
  });
  if (!run.isFinal) run.status = status;
  else if (isFinal) run.status = graverStatus(run.status, status);
  run.isFinal ||= isFinal;
  run.statusAt = at;
  run.completedAt = report.completedAt ?? run.completedAt;
  run.creditsCharged = report.creditsCharged ?? run.creditsCharged;
  run.error = report.error ?? run.error;
}

/** The run after this report, which isn't recorded. */
export function withReport(entry: RunEntry, report: StatusReport, at: string): KnownRun {
  const run = entry.kind === 'run' ? { ...entry } : newRun(entry, entry);
  applyReport(run, report, at);
  return run;
}
