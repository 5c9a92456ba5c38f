import type { Ports } from '../ports.ts';
import { noError } from '../run/entry.ts';
import type { Run } from '../run/run.ts';
import { errorTextOf, type RunResult, type RunSnapshot } from '../run/service.ts';
import { isSuccess } from '../run/statuses.ts';
import { fetchOptional } from './fetch-run.ts';

const maxError = 200;

/**
 * What the journal keeps of an error: the start of its first line, or `noError`. Undefined for a
 * run that completed.
 */
export function recordedErrorOf(result: RunResult): string | undefined {
  const [line = ''] = errorTextOf(result).split('\n');
  const error = line.slice(0, maxError);
  if (error !== '') return error;
  return isSuccess(result.status) ? undefined : noError;
}

/**
 * Reads the result of a run that finished with this status, and records its error. Undefined if it
 * can't be read now.
 */
export async function readError(
  run: Run,
  snapshot: RunSnapshot,
  ports: Ports,
): Promise<RunResult | undefined> {
  const result = await fetchOptional('result', run, ports);
  // The result may lag behind the status.
  if (result?.isFinal)
    ports.journal.recordStatus(ports.baseUrl, run, snapshot, recordedErrorOf(result));
  return result;
}

const maxErrors = 10;

/**
 * Reads the errors of runs that didn't complete, so that `list` has them, for commands that see
 * runs finish without watching them. Reads ten at most, and none that the journal has. Returns the
 * results by the id of their run.
 */
export async function readResultsOfFailed(
  finished: readonly { run: Run; snapshot: RunSnapshot }[],
  ports: Ports,
): Promise<ReadonlyMap<string, RunResult>> {
  const { journal, baseUrl } = ports;
  const failed = finished.filter(({ snapshot }) => snapshot.isFinal && !isSuccess(snapshot.status));
  const unread = failed.filter(
    ({ run }) => journal.find(run.executionId, { baseUrl })?.error === undefined,
  );
  const results = new Map<string, RunResult>();
  const read = async ({ run, snapshot }: { run: Run; snapshot: RunSnapshot }) => {
    const result = await readError(run, snapshot, ports);
    if (result) results.set(run.executionId, result);
  };
  await Promise.all(unread.slice(0, maxErrors).map(read));
  return results;
}
