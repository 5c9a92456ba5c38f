import { expect, test } from 'vitest';
import { createEventReporter } from '../../src/render/event-reporter.ts';
import { createReporter } from '../../src/render/reporter.ts';
import type { RunEvent } from '../../src/runs/events.ts';
import { isFinalStatus } from '../../src/runs/statuses.ts';
import { createMemory } from '../helpers/memory-context.ts';
import { executionId, fault, projectId, run, target } from '../helpers/scripted-service.ts';

const execution = (status: string) => ({
  executionId,
  status,
  isFinal: isFinalStatus(status, { family: 'automation' }),
  document: { executionId, status },
});
const printed = (...events: RunEvent[]) => {
  const memory = createMemory();
  const { observe } = createEventReporter(memory);
  for (const event of events) observe(event);
  return linesOf(memory.out());
};
const linesOf = (text: string) =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));

const failing = { failures: 2, silentMs: 750.4, retryInMs: 412.7 };
const confirmed = { run, execution: execution('RUNNING'), ageMs: 9_000.2 };
const { fault: gateway } = fault('unavailable', { httpStatus: 502, message: 'the service answered 502' });
const ofAutomation = { projectId, automationName: 'nightly' };
const ofRun = { executionId, ...ofAutomation };
const ofNoRun = { executionId: null, ...ofAutomation };
const ofCommand = { executionId: null };
const document = { status: 'FAILED' };

test.each<[string, RunEvent, object]>([
  [
    'triggered',
    { event: 'triggered', run, execution: execution('RUNNING'), how: 'started', isWatched: true },
    { ...ofRun, how: 'started', status: 'RUNNING' },
  ],
  [
    'triggered',
    { event: 'triggered', run, how: 'replayed', isWatched: false },
    { ...ofRun, how: 'replayed', status: null },
  ],
  [
    'triggered',
    { event: 'triggered', target, how: 'unknown', isWatched: true },
    { ...ofNoRun, how: 'unknown', status: null },
  ],
  ['status', { event: 'status', run, execution: execution('RUNNING'), changed: true }, { ...ofRun, status: 'RUNNING' }],
  [
    'attempt_failed',
    { event: 'attempt_failed', operation: 'status', fault: gateway, ...failing, ...confirmed },
    {
      ...{ ...ofRun, operation: 'status', reason: 'unavailable', message: 'the service answered 502', httpStatus: 502 },
      ...{ failures: 2, silentMs: 750, retryInMs: 413, lastConfirmed: { status: 'RUNNING', ageMs: 9_000 } },
    },
  ],
  [
    'attempt_failed',
    { event: 'attempt_failed', operation: 'result', fault: fault('lost').fault, run, ...failing },
    {
      ...{ ...ofRun, operation: 'result', reason: 'lost', message: 'lost', httpStatus: null },
      ...{ failures: 2, silentMs: 750, retryInMs: 413, lastConfirmed: null },
    },
  ],
  [
    'attempt_failed',
    { event: 'attempt_failed', operation: 'trigger', fault: gateway, target, ...failing },
    {
      ...{ ...ofNoRun, operation: 'trigger', reason: 'unavailable', message: 'the service answered 502' },
      ...{ httpStatus: 502, failures: 2, silentMs: 750, retryInMs: 413 },
    },
  ],
  ['service_back', { event: 'service_back', run, afterMs: 1_234.5 }, { ...ofRun, afterMs: 1_235 }],
  [
    'waiting',
    { event: 'waiting', for: 'poll', nextMs: 999.6, ...confirmed },
    { ...ofRun, for: 'poll', nextMs: 1_000, lastConfirmed: { status: 'RUNNING', ageMs: 9_000 } },
  ],
  ['waiting', { event: 'waiting', for: 'slot', target, nextMs: 5_000 }, { ...ofNoRun, for: 'slot', nextMs: 5_000 }],
  ['waiting', { event: 'waiting', for: 'rate', nextMs: 5_000 }, { ...ofCommand, for: 'rate', nextMs: 5_000 }],
  [
    'warning',
    { event: 'warning', name: 'hook_failed', message: 'it ended with 1', run },
    { ...ofRun, name: 'hook_failed', message: 'it ended with 1' },
  ],
  [
    'warning',
    { event: 'warning', name: 'journal_unavailable', message: 'the disk is full' },
    { ...ofCommand, name: 'journal_unavailable', message: 'the disk is full' },
  ],
  ['final', { event: 'final', run, execution: execution('FAILED') }, { ...ofRun, status: 'FAILED' }],
  ['run_done', { event: 'run_done', run, document, pending: 0 }, { ...ofRun, document }],
  ['run_done', { event: 'run_done', target, document, pending: 0 }, { ...ofNoRun, document }],
  ['done', { event: 'done', exitCode: 1 }, { ...ofCommand, exitCode: 1, signal: null }],
  ['done', { event: 'done', exitCode: 130, signal: 'SIGINT' }, { ...ofCommand, exitCode: 130, signal: 'SIGINT' }],
  ['done', { event: 'done', exitCode: 2, document }, { ...ofCommand, exitCode: 2, signal: null, document }],
])('%s is one line with the identity and its own fields: %j', (event, given, fields) => {
  const head = { schema: 1, seq: 1, at: '2026-01-02T03:04:05.000Z', event };
  expect(printed(given)).toEqual([{ ...head, ...fields }]);
});

test('lines are numbered, and polls that change nothing are none', () => {
  const poll = { event: 'status', run, execution: execution('RUNNING') } as const;
  const lines = printed(
    { ...poll, changed: true },
    { ...poll, changed: false },
    { event: 'service_back', run, afterMs: 1 },
  );
  expect(lines.map(({ seq, event }) => `${seq} ${event}`)).toEqual(['1 status', '2 service_back']);
});

test('a wait is printed once a minute, of each run', async () => {
  const memory = createMemory();
  const { observe } = createEventReporter(memory);
  const other = { ...run, executionId: executionId.replace(/^./, '0') };
  for (let second = 0; second < 150; second += 10) {
    observe({ event: 'waiting', for: 'poll', run, nextMs: 10_000 });
    observe({ event: 'waiting', for: 'poll', run: other, nextMs: 10_000 });
    await memory.clock.sleep(10_000);
  }
  const lines = linesOf(memory.out());
  expect(lines.filter((line) => line.executionId === executionId)).toHaveLength(3);
  expect(lines).toHaveLength(6);
});

test('what stderr warns of is an event, too', () => {
  const memory = createMemory();
  const { observe } = createReporter({ events: true }, memory);
  observe({ event: 'warning', name: 'journal_unavailable', message: 'the disk is full' });
  expect(linesOf(memory.out())).toMatchObject([{ event: 'warning', name: 'journal_unavailable' }]);
  expect(memory.err()).toBe('runctl: the disk is full\n');
});

test('a secret that the service echoed is in no line', () => {
  const memory = createMemory();
  memory.secrets.protect('key-4f1b7c9d2e');
  const { observe } = createEventReporter(memory);
  const message = 'refused: key-4f1b7c9d2e';
  observe({ event: 'warning', name: 'hook_failed', message });
  observe({ event: 'attempt_failed', operation: 'status', fault: { ...gateway, message }, ...failing, ...confirmed });
  expect(linesOf(memory.out())).toHaveLength(2);
  expect(memory.out()).not.toContain('key-4f1b7c9d2e');
});

test('text is harmless on a terminal and unchanged in a pipe', () => {
  const status = 'RUN\u202ENING\u009B31m';
  for (const isTTY of [true, false]) {
    const memory = createMemory();
    Object.assign(memory.stdout, { isTTY });
    createEventReporter(memory).observe({ event: 'final', run, execution: execution(status) });
    expect(linesOf(memory.out())).toMatchObject([{ status }]);
    expect(memory.out().includes('\u202E')).toBe(!isTTY);
  }
});
