import type { Ports } from '../ports.ts';
import { type Fault, interruptedFault, isRetryable, isTooEarly } from '../run/fault.ts';
import type { RunHandle } from '../run/outcome.ts';
import type { Run } from '../run/run.ts';
import type { Answer, RunResource, RunResult, RunSnapshot } from '../run/service.ts';
import { endpoints } from '../service/endpoints.ts';
import { withPermit } from '../service/rate-limiter.ts';
import { type LastAnswer, retry } from '../service/retry.ts';
import { stopwatch } from '../system/clock.ts';

interface Values {
  status: RunSnapshot;
  result: RunResult;
}

// The ways to read a status or a result:
// - `fetchResource` retries, for a command that needs the answer.
// - `fetchStatusOnce` makes a single attempt, to poll many runs at once.
// - `fetchOptional` doesn't wait long, for output that is complete without the answer.
// - `Poller` outlives outages, for a watch.
// - `probeService` (connection/connection.ts) only asks whether the service accepts the API key.

/**
 * Fetches the status or the result of a run, for a command that can't do without it. Retries until
 * `--give-up-after`.
 */
export async function fetchResource<Resource extends RunResource>(
  resource: Resource,
  { run, sinceTriggerMs, lastConfirmed }: RunHandle,
  ports: Ports,
): Promise<Answer<Values[Resource]>> {
  const isEarly = (fault: Fault) => isTooEarly(fault, sinceTriggerMs?.());
  const isMissingPath = (fault: Fault) => fault.kind === 'path_not_found' && !isEarly(fault);
  let missingPaths = 0;
  const attempt = async (timeoutMs: number) => {
    const answer = await sendRequest(resource, run, ports, timeoutMs);
    if (answer.kind === 'fault' && isMissingPath(answer.fault)) missingPaths += 1;
    return answer;
  };
  // A gateway may return 404 instead of the service for a moment, so only the second 404 counts.
  const isFirstMissingPath = (fault: Fault) => isMissingPath(fault) && missingPaths < 2;
  const answer = await retry(attempt, {
    ...ports,
    priority: endpoints[resource].priority,
    isRetryable: (fault) => isEarly(fault) || isRetryable(fault) || isFirstMissingPath(fault),
    onRetry: (failed) =>
      ports.emit({
        event: 'attempt_failed',
        resource,
        run,
        lastConfirmed: lastConfirmed?.(),
        ...failed,
      }),
  });
  return asInterruptedFault(answer);
}

/**
 * Fetches the status of a run for a command that asks for many. It isn't retried, unless the API
 * key was refused and there is another one.
 */
export async function fetchStatusOnce(run: Run, ports: Ports): Promise<Answer<RunSnapshot>> {
  const { service, signal } = ports;
  const once = { ...ports, priority: endpoints.status.priority, isRetryable: () => false };
  return asInterruptedFault(await retry(() => service.status(run, signal), once));
}

/** The last answer, but if a signal came, the fault that says so. */
function asInterruptedFault<T>(answer: LastAnswer<T>): Answer<T> {
  return answer.isInterrupted ? { kind: 'fault', fault: interruptedFault } : answer;
}

/** Fetches the status of a run as `fetchResource` does, and records it. */
export async function fetchAndRecordStatus(
  handle: RunHandle,
  ports: Ports,
): Promise<Answer<RunSnapshot>> {
  const answer = await fetchResource('status', handle, ports);
  if (answer.kind === 'ok') ports.journal.recordStatus(ports.baseUrl, handle.run, answer.value);
  return answer;
}

const sendRequest = <Resource extends RunResource>(
  resource: Resource,
  run: Run,
  { service, signal }: Ports,
  timeoutMs: number,
) => service[resource](run, signal, { timeoutMs }) as Promise<Answer<Values[Resource]>>;

/**
 * Records that the service doesn't know the run, if it is unfinished and was started with this API
 * key. Returns whether it is such a run. Only the service itself says `not_found`: another 404 or
 * 410 may come from a router.
 */
export async function recordNotFoundIfOwn(
  run: Run,
  { kind }: Fault,
  { journal, baseUrl, account }: Ports,
): Promise<boolean> {
  return kind === 'not_found' && journal.markNotFound(baseUrl, run, await account());
}

// The output is complete without the answer, so the user must not wait longer for it.
const optionalRequestMs = 3_000;

/**
 * Makes one optional request, without retries and for at most three seconds. Returns undefined if
 * it fails, because the output of the command is complete without it.
 */
export async function fetchOptional<Resource extends RunResource>(
  resource: Resource,
  run: Run,
  ports: Ports,
): Promise<Values[Resource] | undefined> {
  const elapsedMs = stopwatch(ports.clock);
  const { priority } = endpoints[resource];
  const permit = { priority, signal: ports.signal, leftMs: () => optionalRequestMs - elapsedMs() };
  const answer = await withPermit(ports.limiter, permit, () =>
    sendRequest(resource, run, ports, optionalRequestMs),
  );
  return answer?.kind === 'ok' ? answer.value : undefined;
}

/** Fetches the status of a run as `fetchOptional` does, and records it. */
export async function fetchAndRecordOptionalStatus(
  run: Run,
  ports: Ports,
): Promise<RunSnapshot | undefined> {
  const snapshot = await fetchOptional('status', run, ports);
  if (snapshot) ports.journal.recordStatus(ports.baseUrl, run, snapshot);
  return snapshot;
}
