import type { Invocation } from '../context.ts';
import { isForgotten, reportedOf } from '../journal/fold.ts';
import type { JournalRun } from '../journal/journal.ts';
import { documentOf } from '../output/document.ts';
import type { CommandResult } from '../output/output.ts';
import { interruptedProblem, pollProblem } from '../problems/watch-problems.ts';
import { type Fault, isRetryable, isTooEarly } from '../run/fault.ts';
import { defaults } from '../run/limits.ts';
import type { Problem } from '../run/problem.ts';
import { type Run, randomUuid } from '../run/run.ts';
import { type Answer, type DatedAnswer, type Execution, errorTextOf, type RunResult } from '../run/service.ts';
import { inTurn, type Lane } from '../service/rate-limiter.ts';
import { retry } from '../service/retry.ts';
import type { Followable } from '../watching/watch-run.ts';
import { type Connection, outageOf, retryPortsOf } from './connection.ts';
import { argumentOf, followableOf } from './followable.ts';
import { hasJournal } from './open-journal.ts';

interface Answers {
  status: Execution;
  result: RunResult;
}

interface PollFlags {
  giveUpAfter?: number; // milliseconds
}

export type PolledOnce<T> = { kind: 'ok'; value: T } | { kind: 'failed'; problem: Problem };

/** Asks for the status or the result of a run, with retries. */
export async function pollOnce<Operation extends keyof Answers>(
  operation: Operation,
  { run, sinceTriggerMs, seenBefore }: Followable,
  { giveUpAfter: giveUpAfterMs = defaults.readGiveUpAfterMs }: PollFlags,
  connection: Connection,
): Promise<PolledOnce<Answers[Operation]>> {
  const { context } = connection;
  const { signal, reporter } = context;
  let missingPaths = 0;
  /** A gateway may return 404 instead of the service for a moment, so only the second 404 counts. */
  const isFirstMissingPath = ({ kind }: Fault) => kind === 'path_not_found' && ++missingPaths < 2;
  const polled = await retry((timeoutMs) => ask(operation, run, connection, timeoutMs), {
    ...retryPortsOf(connection, giveUpAfterMs),
    lane: laneOf(operation),
    isRetryable: (fault) => isTooEarly(fault, sinceTriggerMs?.()) || isRetryable(fault) || isFirstMissingPath(fault),
    onRetry: (failed) => reporter.observe({ event: 'attempt_failed', operation, run, ...failed, ...seenBefore?.() }),
  });
  if (polled.kind === 'ok') return polled;
  const argument = argumentOf(run, connection);
  if (polled.kind === 'interrupted') return { kind: 'failed', problem: interruptedProblem(signal, run, argument) };
  const isForgotten = await isNowForgotten(run, polled.fault, connection);
  const seen = { run, ...seenBefore?.() };
  const voice = { argument, hasJournal: hasJournal(context), isForgotten };
  const problem = pollProblem(polled.fault, { ...seen, operation, ...voice });
  const outage = outageOf(polled.fault, connection);
  const hint = `${outage}; try again with \`runctl ${operation} ${argument}\``;
  return { kind: 'failed', problem: outage ? problem.with({ hint }) : problem };
}

/** Records it if the service doesn't know an unfinished run of this API key. A 404 or 410 may come from a router. */
export async function isNowForgotten(
  run: Run,
  { kind }: Fault,
  { journal, baseUrl, account }: Connection,
): Promise<boolean> {
  return kind === 'not_found' && journal.markNotFound(baseUrl, run, await account());
}

export function resultOfFailure(problem: Problem, { run, seenBefore }: Followable, context: Invocation): CommandResult {
  return {
    exitNames: [problem.facts.name],
    documents: [documentOf({ run, problem, lastConfirmed: seenBefore?.() }, context)],
    problems: [{ problem }],
  };
}

/** Asks for a run's status and records it. The answer names the run even if that fails. */
export async function pollRun(
  run: Run,
  giveUpAfterMs: number,
  connection: Connection,
): Promise<Followable & { polled: PolledOnce<Execution> }> {
  const { journal, baseUrl, context } = connection;
  const recorded = followableOf(run, journal.find(run.executionId, { baseUrl }), context.clock);
  const polled = await pollOnce('status', recorded, { giveUpAfter: giveUpAfterMs }, connection);
  if (polled.kind === 'ok') journal.recordStatus(baseUrl, run, polled.value);
  return { ...recorded, polled };
}

/** Asks for a run that can't exist. If it isn't found, the service is there and accepts the API key. */
export function pollUnknownRun({ service, settings, context }: Connection): Promise<DatedAnswer<Execution>> {
  const { value: projectId = randomUuid() } = settings.project;
  const target = { projectId, automationName: 'runctl-settings-check' };
  return service.status({ target, executionId: randomUuid() }, context.signal);
}

// What only decorates the answer must not keep the user waiting for it.
const longestRefreshMs = 3_000;

/** Asks once, for what the answer is more useful with, but complete without. Undefined if there is no response in time. */
export async function pollBeside<Operation extends keyof Answers>(
  operation: Operation,
  run: Run,
  connection: Connection,
): Promise<Answers[Operation] | undefined> {
  const request = { lane: laneOf(operation), signal: connection.context.signal, leftMs: () => longestRefreshMs };
  const answer = await inTurn(connection.limiter, request, () => ask(operation, run, connection, longestRefreshMs));
  return answer?.kind === 'ok' ? answer.value : undefined;
}

const ask = <Operation extends keyof Answers>(
  operation: Operation,
  run: Run,
  { service, context }: Connection,
  timeoutMs: number,
) => service[operation](run, context.signal, { timeoutMs }) as Promise<Answer<Answers[Operation]>>;

const laneOf = (operation: keyof Answers): Lane => (operation === 'result' ? 'result' : 'poll');

const longestError = 200;

/** What the journal keeps of an error: one line, in which the service may have repeated the API key. */
export const recordedErrorOf = (result: RunResult, { secrets }: Invocation): string | undefined =>
  secrets.scrub(errorTextOf(result).split('\n')[0] ?? '').slice(0, longestError) || undefined;

export interface Refreshed {
  current: Map<string, JournalRun>;
  fault?: Fault;
}

/** Polls each run once, for at most three seconds, and records the results. */
export async function refreshRuns(runs: readonly JournalRun[], connection: Connection): Promise<Refreshed> {
  const { context, service, limiter, journal, baseUrl } = connection;
  const end = new AbortController();
  const signal = AbortSignal.any([end.signal, context.signal]);
  const current: Refreshed['current'] = new Map();
  let fault: Fault | undefined;
  const polls = runs.map(async ({ executionId, target, ...record }) => {
    const { status } = record;
    if (executionId === null) return;
    const run = { target, executionId };
    const answer = await inTurn(limiter, { lane: 'poll', signal }, () => service.status(run, signal));
    if (!answer) return;
    if (answer.kind === 'ok') {
      journal.recordStatus(baseUrl, run, answer.value);
      const known = { ...record, ...run };
      current.set(executionId, { ...known, ...reportedOf(known, answer.value) });
    } else if (!signal.aborted && !isForgotten({ status, executionId })) fault ??= answer.fault;
  });
  const timer = context.clock.sleep(longestRefreshMs, end.signal);
  await Promise.race([Promise.all(polls), timer]);
  end.abort();
  await Promise.all(polls);
  return { current, fault };
}
