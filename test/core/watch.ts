import { setMaxListeners } from 'node:events';
import fc from 'fast-check';
import { expect } from 'vitest';
import {
  type Answer,
  type FailureKind,
  failureOf,
  failureTable,
  rowOf,
} from '../../src/core/failure.ts';
import type { Ports } from '../../src/core/ports.ts';
import type { RunReport, StoppedReport } from '../../src/core/report.ts';
import type { RunResult, RunStatus } from '../../src/core/run.ts';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import { type WatchOptions, watchRun } from '../../src/core/watch-run.ts';
import { hours, seldom, type Value } from './histories.ts';
import { createMachine, createRandom, createTime } from './time.ts';

const own: readonly string[] = ['interrupted', 'timeout', 'out_of_time', 'not_repeated'];
/** What a service can answer. */
const failures = (Object.keys(failureTable) as FailureKind[]).filter((kind) => !own.includes(kind));

/** What requests get, one or more in a row: a failure, or RUNNING. In the end, COMPLETED. */
const replies = fc.array(
  fc.record({
    times: fc.constantFrom(1, 1, 5, 100),
    tookMs: fc.constantFrom(0, 50, 50, 5000, 29_000, hourMs),
    failure: fc.oneof(fc.constant(undefined), {
      weight: 3,
      arbitrary: fc.constantFrom(...failures),
    }),
    retryAfterMs: seldom(hours(0.001, 0.02, 0.15, 0.2, 2)),
  }),
  { maxLength: 6 },
);

export const watches = fc.record({
  seed: fc.nat(),
  statuses: replies,
  results: replies,
  countsSleep: fc.boolean(),
  sleeps: fc.array(fc.record({ atMs: fc.nat(hourMs), ms: hours(0.01, 1, 9) }), { maxLength: 3 }),
  options: fc.record<WatchOptions>({
    patienceMs: fc.constantFrom(0, 1000, 30_000, 10 * minuteMs),
    isPatienceGiven: fc.boolean(),
    deadlineMs: fc.constantFrom(minuteMs, hourMs, 3 * hourMs, Number.POSITIVE_INFINITY),
    isAccepted: fc.boolean(),
    isRecorded: fc.boolean(),
  }),
});
type Watch = Value<typeof watches>;
type Reply = Value<typeof replies>[number];

/** One request. The two clocks differ by the time asleep, if the machine counts it. */
interface Request {
  answer: Answer<RunStatus & RunResult>;
  started: Moment;
  ended: Moment;
}
interface Moment {
  elapsedMs: number;
  awakeMs: number;
}
type Report = RunReport | StoppedReport;

const requestTimeoutMs = 30_000;
const maxRetryAfterMs = 10 * minuteMs;
/** What is kept of the patience for a last attempt. */
const lastAttemptMs = 1000;
/** Sums of fractions aren't exact. */
const blurMs = 0.001;

/** Watches a run in simulated time, and checks what must hold whatever the service does. */
export async function checkWatch(watch: Watch): Promise<void> {
  const time = createTime();
  const machine = createMachine(time, watch.countsSleep);
  const { clock } = machine;
  const { signal } = new AbortController();
  setMaxListeners(0, signal);
  const now = () => ({ elapsedMs: clock.elapsedMs(), awakeMs: time.nowMs() - machine.sleptMs });
  const ask = (replies: Reply[], requests: Request[]) => {
    const script = replies.flatMap((reply) => Array<Reply>(reply.times).fill(reply));
    return async (_: unknown, timeoutMs: number) => {
      const reply = script[requests.length];
      const started = now();
      await clock.sleep(Math.min(reply?.tookMs ?? 50, timeoutMs), signal);
      const answer = answerOf(reply, timeoutMs);
      requests.push({ answer, started, ended: now() });
      return answer;
    };
  };
  const statuses: Request[] = [];
  const results: Request[] = [];
  const ports = {
    service: { status: ask(watch.statuses, statuses), result: ask(watch.results, results) },
    recorder: { appendStatus() {} },
    clock,
    random: createRandom(watch.seed),
    signal,
    requestTimeoutMs,
    turn: async () => {},
    emit() {},
  };
  for (const { atMs, ms } of watch.sleeps) time.after(atMs, () => machine.sleep(ms));
  const run = { automation: { projectId: 'project', name: 'nightly' }, executionId: 'run-1' };
  const watched = watchRun(run, watch.options, ports as unknown as Ports).then((report) => ({
    report,
    endedMs: now().elapsedMs,
  }));
  await time.pass();
  const { report, endedMs } = await watched;
  checkTimes(watch, report, statuses, endedMs);
  checkEnd(watch, report, statuses);
  if (report.kind === 'run') checkResult(watch, report, results, endedMs);
}

function answerOf(reply: Reply | undefined, timeoutMs: number): Request['answer'] {
  const value = { status: 'COMPLETED', isFinal: true, output: null, document: {} };
  if (!reply) return { ok: true, value };
  const { tookMs, retryAfterMs } = reply;
  if (tookMs > timeoutMs) return { ok: false, failure: failureOf('no_response') };
  if (reply.failure) return { ok: false, failure: failureOf(reply.failure, { retryAfterMs }) };
  return { ok: true, value: { ...value, status: 'RUNNING', isFinal: false, retryAfterMs } };
}

const retryAfterOf = ({ answer }: Request) =>
  (answer.ok ? answer.value : answer.failure).retryAfterMs ?? 0;
const sleptMs = ({ countsSleep, sleeps }: Watch, maxMs: number) =>
  countsSleep ? sleeps.reduce((sum, { ms }) => sum + Math.min(ms, maxMs), 0) : 0;

/** No poll comes before `Retry-After`, the last one comes at the deadline, and there are few. */
function checkTimes(watch: Watch, report: Report, statuses: Request[], endedMs: number): void {
  const nextMs = statuses.map(
    (each) => each.ended.elapsedMs + Math.min(retryAfterOf(each), maxRetryAfterMs) - blurMs,
  );
  for (const [index, { started }] of statuses.slice(1).entries()) {
    expect(started.elapsedMs).toBeGreaterThanOrEqual(nextMs[index] ?? 0);
  }
  expect(statuses.length, 'a busy loop').toBeLessThan(20 + endedMs / 1000);
  const { deadlineMs } = watch.options;
  const requests = report.kind === 'run' ? 2 : 1;
  const lateMs = endedMs - deadlineMs - sleptMs(watch, Number.POSITIVE_INFINITY);
  expect(lateMs, 'too late').toBeLessThanOrEqual(requests * requestTimeoutMs);
  if (report.kind !== 'stopped' || report.failure.kind !== 'timeout') return;
  expect(endedMs + blurMs, 'too early').toBeGreaterThanOrEqual(deadlineMs);
  expect((nextMs.at(-1) ?? 0) + 2 * blurMs, 'no last poll').toBeGreaterThanOrEqual(deadlineMs);
}

/** After the first valid answer an outage ends nothing. */
function checkEnd(watch: Watch, report: Report, statuses: Request[]): void {
  const { isAccepted, isPatienceGiven, isRecorded } = watch.options;
  const isFinal = statuses.map(({ answer }) => answer.ok && answer.value.isFinal);
  const lastIndex = statuses.length - 1;
  expect(isFinal.indexOf(true)).toBe(report.kind === 'run' ? lastIndex : -1);

  const firstValid = statuses.findIndex(({ answer }) => answer.ok);
  const isHeard = (index: number) => isAccepted || (firstValid >= 0 && firstValid < index);
  const isFree = ({ answer }: Request, index: number) =>
    answer.ok || (isHeard(index) && rowOf(answer.failure).retry && !isPatienceGiven);
  const mayPass = ({ answer }: Request, index: number) =>
    answer.ok ||
    isHeard(index) ||
    rowOf(answer.failure).retry ||
    (isRecorded && answer.failure.kind === 'not_found');
  const isEnded = statuses.map((request, index) => !mayPass(request, index));
  expect(isEnded.indexOf(true), 'asked again').toBeOneOf([-1, lastIndex]);
  const hasFailed = report.kind === 'stopped' && report.failure.kind !== 'timeout';
  if (hasFailed) expect(isFree(statuses[lastIndex] as Request, lastIndex)).toBe(false);
  checkPatience(watch, statuses, isFree, hasFailed && !isEnded[lastIndex]);
}

/** Once final, always final, whatever the result is. */
function checkResult(watch: Watch, report: RunReport, results: Request[], endedMs: number): void {
  const { status, result, resultFailure } = report;
  expect(status?.status).toBe('COMPLETED');
  expect(result?.isFinal ?? resultFailure).toBeTruthy();
  const hasGivenUp = resultFailure !== undefined && endedMs < watch.options.deadlineMs;
  checkPatience(watch, results, ({ answer }) => answer.ok && answer.value.isFinal, hasGivenUp);
}

/** Silence lasts for the patience, and the time asleep doesn't count. */
function checkPatience(
  watch: Watch,
  requests: Request[],
  isFree: (request: Request, index: number) => boolean,
  hasGivenUp: boolean,
): void {
  const { patienceMs } = watch.options;
  let sinceMs: number | undefined;
  for (const [index, request] of requests.entries()) {
    const { awakeMs } = request.started;
    const silentMs = awakeMs - (sinceMs ?? awakeMs);
    expect(silentMs, 'too long').toBeLessThanOrEqual(patienceMs + blurMs);
    sinceMs = isFree(request, index) ? undefined : (sinceMs ?? awakeMs);
  }
  const last = requests.at(-1);
  if (!hasGivenUp || !last) return;
  // An attempt or a pause in which the machine slept counts for what it was meant to take.
  const longestMs = Math.max(requestTimeoutMs, ...requests.map(retryAfterOf));
  const silentMs = last.ended.awakeMs - (sinceMs ?? 0) + sleptMs(watch, longestMs) + blurMs;
  expect(silentMs + retryAfterOf(last)).toBeGreaterThanOrEqual(patienceMs - lastAttemptMs);
}
