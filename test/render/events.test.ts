import { describe, expect, test } from 'vitest';
import { Problem } from '../../src/problems/problem.ts';
import { createEventReporter } from '../../src/render/events.ts';
import type { ReportedEvent } from '../../src/render/reporter.ts';
import { createMemory } from '../helpers/memory-context.ts';
import { executionId, fault, projectId, run } from '../helpers/scripted-service.ts';

const execution = (status: string) => ({ executionId, status, document: { executionId, status } });
const told = (...events: ReportedEvent[]) => {
  const memory = createMemory();
  const { observe } = createEventReporter(memory, 2);
  for (const event of events) observe(event);
  return linesOf(memory.out());
};
const linesOf = (text: string) =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));

const failing = {
  run,
  failures: 2,
  silentMs: 750.4,
  retryInMs: 412.7,
  execution: execution('RUNNING'),
  ageMs: 9_000.2,
};
const { fault: gateway } = fault('unavailable', { httpStatus: 502, message: 'the service answered 502' });
const identity = { projectId, automationName: 'nightly' };
const problem = new Problem({ name: 'watch_timeout', message: 'the limit of 1m passed', started: 'yes' });

test.each<[string, ReportedEvent, object]>([
  [
    'triggered',
    { event: 'triggered', run, execution: execution('RUNNING'), replayed: false },
    { ...identity, status: 'RUNNING', replayed: false },
  ],
  ['triggered', { event: 'triggered', run, replayed: true }, { ...identity, status: null, replayed: true }],
  ['status', { event: 'status', run, execution: execution('RUNNING'), changed: true }, { status: 'RUNNING' }],
  [
    'poll_failed',
    { event: 'poll_failed', fault: gateway, ...failing },
    {
      ...{ reason: 'unavailable', message: 'the service answered 502', httpStatus: 502 },
      ...{ failures: 2, quietMs: 750, retryInMs: 413, status: 'RUNNING', confirmedAgeMs: 9_000 },
    },
  ],
  [
    'poll_failed',
    { event: 'poll_failed', fault: fault('lost').fault, run, failures: 1, silentMs: 0, retryInMs: 500 },
    {
      ...{ reason: 'lost', message: 'lost', httpStatus: null },
      ...{ failures: 1, quietMs: 0, retryInMs: 500, status: null, confirmedAgeMs: null },
    },
  ],
  ['recovered', { event: 'service_back', run, afterMs: 1_234.5 }, { afterMs: 1_235 }],
  [
    'waiting',
    { event: 'waiting', run, nextPollMs: 999.6, execution: execution('RUNNING'), ageMs: 3 },
    { nextLookMs: 1_000, status: 'RUNNING', confirmedAgeMs: 3 },
  ],
  ['final', { event: 'final', run, execution: execution('FAILED') }, { status: 'FAILED' }],
  ['problem', { event: 'problem', run, problem }, { problem: problem.toJSON() }],
])('%s is one line with its own fields: %j', (event, given, fields) => {
  const head = { schema: 1, seq: 1, at: '2026-01-02T03:04:05.000Z', event, executionId };
  expect(told(given)).toEqual([JSON.parse(JSON.stringify({ ...head, ...fields }))]);
});

test.each([
  [1, []],
  [2, [{ event: 'problem', executionId: null, ...identity, problem: { name: 'watch_timeout' } }]],
])('of %i that are started, one that is not is told at once where the last line does not: %j', (runs, lines) => {
  const memory = createMemory();
  createEventReporter(memory, runs).notStarted?.(run.target, problem);
  expect(linesOf(memory.out())).toMatchObject(lines);
});

test('lines are numbered, and polls that change nothing are none', () => {
  const poll = { event: 'status', run, execution: execution('RUNNING') } as const;
  const lines = told(
    { ...poll, changed: true },
    { ...poll, changed: false },
    { event: 'service_back', run, afterMs: 1 },
  );
  expect(lines.map(({ seq, event }) => `${seq} ${event}`)).toEqual(['1 status', '2 recovered']);
});

test('a wait is told once a minute, of each run', async () => {
  const memory = createMemory();
  const { observe } = createEventReporter(memory, 2);
  const other = { ...run, executionId: executionId.replace(/^./, '0') };
  for (let second = 0; second < 150; second += 10) {
    observe({ event: 'waiting', run, nextPollMs: 10_000 });
    observe({ event: 'waiting', run: other, nextPollMs: 10_000 });
    await memory.clock.sleep(10_000);
  }
  const lines = linesOf(memory.out());
  expect(lines.filter((line) => line.executionId === executionId)).toHaveLength(3);
  expect(lines).toHaveLength(6);
});

test('the last line carries the document', () => {
  const memory = createMemory();
  createEventReporter(memory, 1).last?.({ status: 'COMPLETED' }, false);
  expect(linesOf(memory.out())).toMatchObject([{ event: 'final', document: { status: 'COMPLETED' } }]);
});

test('a secret that the service echoed is in no problem', () => {
  const memory = createMemory();
  memory.secrets.protect('key-4f1b7c9d2e');
  const echo = problem.with({ message: 'refused: key-4f1b7c9d2e', serviceCode: 'key-4f1b7c9d2e' });
  createEventReporter(memory, 2).observe({ event: 'problem', run, problem: echo });
  expect(memory.out()).not.toContain('key-4f1b7c9d2e');
});

test('text is harmless on a terminal and unchanged in a pipe', () => {
  const status = 'RUN\u202ENING\u009B31m';
  for (const isTTY of [true, false]) {
    const memory = createMemory();
    Object.assign(memory.stdout, { isTTY });
    createEventReporter(memory, 2).observe({ event: 'final', run, execution: execution(status) });
    expect(linesOf(memory.out())).toMatchObject([{ status }]);
    expect(memory.out().includes('\u202E')).toBe(!isTTY);
  }
});

describe('of a single run the last line', () => {
  const final = { event: 'final', run, execution: execution('COMPLETED') } as const;
  const lastOf = (isProblem: boolean, ...events: ReportedEvent[]) => {
    const memory = createMemory();
    const reporter = createEventReporter(memory, 1);
    for (const event of events) reporter.observe(event);
    reporter.last?.({ status: 'COMPLETED', ...(isProblem && { problem: { name: 'result_unavailable' } }) }, isProblem);
    return linesOf(memory.out());
  };

  test('is its end, with the document', () => {
    expect(lastOf(false, final)).toMatchObject([{ event: 'final', executionId, document: { status: 'COMPLETED' } }]);
  });

  test('is the problem, after the end that it does not undo', () => {
    const lines = lastOf(true, final, { event: 'problem', run, problem });
    expect(lines.map(({ event }) => event)).toEqual(['final', 'problem']);
    expect(lines[1]).toMatchObject({ executionId, problem: { name: 'result_unavailable' }, document: {} });
  });

  test('is that of the last rerun', () => {
    const lines = lastOf(false, final, { event: 'triggered', run, replayed: false }, final);
    expect(lines.map(({ event }) => event)).toEqual(['final', 'triggered', 'final']);
  });
});
