import { setMaxListeners } from 'node:events';
import { expect } from 'vitest';
import {
  type Answer,
  type Failure,
  type FailureKind,
  failure,
  rowOf,
} from '../../src/run/failure.ts';
import type { Ports } from '../../src/run/ports.ts';
import type { RunReport, StoppedReport } from '../../src/run/report.ts';
import type { RunStatus } from '../../src/run/run.ts';
import { type WatchOptions, watchRun } from '../../src/run/watch-run.ts';
import { createMachine, createRandom, createTime, minuteMs } from './time.ts';

/** What one request gets, or some requests in a row. After the last of a script it is COMPLETED. */
export interface Reply {
  tookMs: number;
  /** Undefined: RUNNING. */
  failure: FailureKind | undefined;
  retryAfterMs: number | undefined;
  times: number;
}

export interface Watch {
  seed: number;
  statuses: Reply[];
  results: Reply[];
  sleeps: { atMs: number; ms: number }[];
  countsSleep: boolean;
  options: WatchOptions;
}

interface Moment {
  elapsedMs: number;
  /** Without the time asleep. */
  awakeMs: number;
}

interface Request {
  answer: Answer<RunStatus>;
  started: Moment;
  ended: Moment;
}

export const requestTimeoutMs = 30_000;
const maxRetryAfterMs = 10 * minuteMs;
/** What is kept of the patience for a last attempt. */
export const lastAttemptMs = 1000;

/** One machine, and the ports of a command on it that only asks. */
export function createAsker(seed: number, countsSleep: boolean) {
  const time = createTime();
  const machine = createMachine(time, countsSleep);
  const { signal } = new AbortController();
  setMaxListeners(0, signal);
  const { clock } = machine;
  const ports = {
    journal: { appendStatus() {} },
    clock,
    random: createRandom(seed),
    signal,
    requestTimeoutMs,
    turn: async () => {},
    emit() {},
  } as unknown as Ports;
  const now = (): Moment => ({
    elapsedMs: clock.elapsedMs(),
    awakeMs: time.nowMs() - machine.sleptMs,
  });
  const wait = (ms: number) => clock.sleep(ms, signal);
  return { time, machine, ports, now, wait };
}

/** Watches a run in simulated time, and checks what must hold whatever the service does. */
export async function checkWatch(watch: Watch): Promise<void> {
  const { time, machine, ports, now, wait } = createAsker(watch.seed, watch.countsSleep);

  const ask = (replies: Reply[], requests: Request[]) => {
    const script = replies.flatMap((reply) => Array<Reply>(reply.times).fill(reply));
    return async (_: unknown, timeoutMs: number) => {
      const reply = script[requests.length];
      const started = now();
      await wait(Math.min(reply?.tookMs ?? 50, timeoutMs));
      const answer = answerOf(reply, timeoutMs);
      requests.push({ answer, started, ended: now() });
      return answer;
    };
  };
  const statuses: Request[] = [];
  const results: Request[] = [];
  ports.service = {
    ...ports.service,
    status: ask(watch.statuses, statuses),
    result: ask(watch.results, results) as Ports['service']['result'],
  };
  for (const { atMs, ms } of watch.sleeps) time.after(atMs, () => machine.sleep(ms));
  const run = { automation: { projectId: 'project', name: 'nightly' }, executionId: 'run-1' };
  let ended: { report: RunReport | StoppedReport; elapsedMs: number } | undefined;
  watchRun(run, watch.options, ports).then((report) => {
    ended = { report, ...now() };
  });
  await time.pass();

  if (!ended) return expect.unreachable('the watch has an end');
  const { report, elapsedMs } = ended;
  checkRetryAfter(statuses);
  checkDeadline(watch, report, statuses, elapsedMs);
  checkStatuses(watch, report, statuses);
  const hasTime = elapsedMs < watch.options.deadlineMs;
  if (report.kind === 'run') checkResults(watch, report, results, hasTime);
}

function answerOf(reply: Reply | undefined, timeoutMs: number): Answer<RunStatus> {
  if (!reply) return { ok: true, value: { status: 'COMPLETED', isFinal: true, document: {} } };
  const { tookMs, retryAfterMs } = reply;
  if (tookMs > timeoutMs) return { ok: false, failure: failure('no_response') };
  if (reply.failure) return { ok: false, failure: failure(reply.failure, { retryAfterMs }) };
  return { ok: true, value: { status: 'RUNNING', isFinal: false, retryAfterMs, document: {} } };
}

const retryAfterOf = ({ answer }: Request) =>
  Math.min((answer.ok ? answer.value : answer.failure).retryAfterMs ?? 0, maxRetryAfterMs);

function checkRetryAfter(requests: Request[]): void {
  for (const [index, request] of requests.slice(0, -1).entries()) {
    const pauseMs = (requests[index + 1]?.started.elapsedMs ?? 0) - request.ended.elapsedMs;
    expect(pauseMs, 'the pause').toBeGreaterThanOrEqual(retryAfterOf(request) - 0.001);
  }
}

/** How much of the time asleep may count, if the machine's clock goes on. */
const blurMs = ({ countsSleep, sleeps }: Watch, maxMs = Number.POSITIVE_INFINITY) =>
  0.001 + (countsSleep ? sleeps.reduce((sum, { ms }) => sum + Math.min(ms, maxMs), 0) : 0);

function checkDeadline(
  watch: Watch,
  report: RunReport | StoppedReport,
  statuses: Request[],
  elapsedMs: number,
): void {
  const { deadlineMs } = watch.options;
  const requests = report.kind === 'run' ? 2 : 1;
  const lateMs = elapsedMs - deadlineMs;
  expect(lateMs, 'too late').toBeLessThanOrEqual(requests * requestTimeoutMs + blurMs(watch));
  if (report.kind !== 'stopped' || report.failure.kind !== 'timeout') return;
  expect(lateMs, 'too early').toBeGreaterThanOrEqual(-0.001);
  const last = statuses.at(-1) as Request;
  const nextMs = last.ended.elapsedMs + retryAfterOf(last) + 0.001;
  expect(nextMs, 'the last poll').toBeGreaterThanOrEqual(deadlineMs);
}

/** After the first valid answer an outage ends nothing. */
function checkStatuses(watch: Watch, report: RunReport | StoppedReport, statuses: Request[]): void {
  const { isAccepted, isPatienceGiven, isRecorded } = watch.options;
  const firstHeard = isAccepted ? -1 : statuses.findIndex(({ answer }) => answer.ok);
  const isHeard = (index: number) => firstHeard < index && (isAccepted || firstHeard >= 0);
  const isFree = (why: Failure, index: number) =>
    isHeard(index) && rowOf(why).retry && !isPatienceGiven;
  const isFinal = statuses.map(({ answer }) => answer.ok && answer.value.isFinal);
  expect(isFinal.indexOf(true), 'once final, always final').toBe(
    report.kind === 'run' ? statuses.length - 1 : -1,
  );
  const why = report.kind === 'stopped' ? report.failure : undefined;
  const hasGivenUp = why !== undefined && why.kind !== 'timeout';
  if (hasGivenUp) expect(isFree(why, statuses.length - 1), 'ended by an outage').toBe(false);
  const mayPass =
    why !== undefined &&
    (isHeard(statuses.length - 1) || rowOf(why).retry || (isRecorded && why.kind === 'not_found'));
  checkPatience(watch, statuses, isFree, hasGivenUp && mayPass);
}

function checkResults(watch: Watch, report: RunReport, results: Request[], hasTime: boolean): void {
  expect(report.status?.status).toBe('COMPLETED');
  expect(report.result === undefined).toBe(report.resultFailure !== undefined);
  const requests = results.map((each): Request => {
    const { answer } = each;
    return answer.ok && !answer.value.isFinal
      ? { ...each, answer: { ok: false, failure: failure('in_progress') } }
      : each;
  });
  checkPatience(watch, requests, () => false, report.resultFailure !== undefined && hasTime);
}

/** Silence lasts for the patience, neither longer nor less. */
function checkPatience(
  watch: Watch,
  requests: Request[],
  isFree: (why: Failure, index: number) => boolean,
  hasGivenUp: boolean,
): void {
  const { patienceMs } = watch.options;
  let sinceMs: number | undefined;
  for (const [index, { answer, started }] of requests.entries()) {
    if (sinceMs !== undefined) {
      expect(started.awakeMs - sinceMs, 'silence').toBeLessThanOrEqual(patienceMs);
    }
    if (answer.ok || isFree(answer.failure, index)) sinceMs = undefined;
    else sinceMs ??= started.awakeMs;
  }
  const last = requests.at(-1);
  if (!hasGivenUp || !last || last.answer.ok) return;
  const silentMs = last.ended.awakeMs - (sinceMs ?? last.started.awakeMs);
  const askedMs = last.answer.failure.retryAfterMs ?? 0;
  // An attempt or a pause in which the machine slept counts for what it was meant to take.
  const longestMs = Math.max(requestTimeoutMs, ...requests.map(retryAfterOf));
  const spentMs = silentMs + askedMs + blurMs(watch, longestMs);
  expect(spentMs, 'given up').toBeGreaterThanOrEqual(patienceMs - lastAttemptMs);
}
