// What is printed of finished commands: reports in, texts out.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Context } from '../src/context.ts';
import { type Output, print, printProblem } from '../src/output/print.ts';
import { createProgress } from '../src/output/progress.ts';
import { table } from '../src/output/table.ts';
import { loadStyle } from '../src/output/style.ts';
import { widthOf } from '../src/output/width.ts';
import { failure } from '../src/run/failure.ts';
import type { RunEvent } from '../src/run/ports.ts';
import { Problem, type Report, type RunReport } from '../src/run/report.ts';
import type { RunResult, RunStatus } from '../src/run/run.ts';

const projectId = '00000000-0000-4000-8000-000000000001';
const otherProjectId = '00000000-0000-4000-8000-000000000002';
const executionId = '4b7c19e2-65a1-4c49-a73d-3512aa99cd94';
const idempotencyKey = 'key-1';
const nowMs = Date.UTC(2026, 10, 28, 2, 5, 3);
const startedAtMs = nowMs - 302_000;
const automation = { projectId, name: 'nightly' };
const trigger = { started: 'unknown', idempotencyKey, isKeyGiven: false } as const;

const status = (word: string, facts: Partial<RunStatus> = {}): RunStatus => {
  const isFinal = word !== 'RUNNING';
  const ended = isFinal ? { completedAtMs: nowMs, creditsCharged: 12 } : {};
  const document = { executionId, status: word, startedAt: '2026-11-28T02:00:01Z' };
  return { status: word, isFinal, startedAtMs, ...ended, document, ...facts };
};

const result = (word: string, facts: Partial<RunResult> = {}): RunResult => {
  const document = { status: word, output: facts.output ?? null, steps: [{ name: 'Send' }] };
  const steps = { count: 3, succeeded: 3, failed: 0, skipped: 0 };
  return { status: word, isFinal: true, output: null, steps, document, ...facts };
};

const completed: RunReport = {
  kind: 'run',
  automation,
  executionId,
  status: status('COMPLETED'),
  result: result('COMPLETED', { output: 'The report was sent to 3 people.' }),
};
const error = { type: 'step_failed', message: 'Step "Send": the mail server said no' };
const failed: RunReport = {
  kind: 'run',
  automation: { projectId, name: 'import-eu' },
  executionId,
  status: status('FAILED'),
  result: result('FAILED', { error, steps: { count: 3, succeeded: 2, failed: 1, skipped: 0 } }),
};
const running: RunReport = { kind: 'run', automation, executionId, status: status('RUNNING') };
const notStarted: Report = {
  kind: 'not_started',
  automation,
  trigger: { ...trigger, started: 'no' },
  failure: failure('already_active', { httpStatus: 422, code: 'runAlreadyActive' }),
};
const unknown: Report = {
  kind: 'unknown',
  automation,
  trigger,
  failure: failure('connection_lost'),
  attempts: 3,
  tookMs: 600_000,
};
const stopped: Report = { kind: 'stopped', automation, executionId, failure: failure('timeout') };
const unreadable: Report = {
  kind: 'unreadable',
  automation,
  executionId,
  failure: failure('server_error', { httpStatus: 502 }),
};

interface Given extends Pick<Context['flags'], 'json' | 'field' | 'quiet' | 'profile'> {
  isTTY?: boolean;
  columns?: number;
  command?: string;
  env?: Record<string, string>;
}

/** A command in a pipe, unless it is on a terminal. Its project is in force. */
function given({ isTTY = false, columns = 80, command = 'trigger', env, ...flags }: Given = {}) {
  const texts = { stdout: '', stderr: '' };
  const clock = { elapsed: 0 };
  const sink = (name: keyof typeof texts) => ({
    write: (text: string) => void (texts[name] += text),
    isTTY,
    columns: () => columns,
    hasColors: false,
  });
  const context = {
    command,
    flags,
    stdout: sink('stdout'),
    stderr: sink('stderr'),
    env: { HOME: '/nowhere', RUNCTL_PROJECT: projectId, ...env },
    clock: { nowMs: () => nowMs + clock.elapsed, elapsedMs: () => clock.elapsed },
    signal: new AbortController().signal,
    terminalStyle: { hasUnicode: true, canRedraw: true },
  } as unknown as Context;
  return { context, texts, clock };
}

async function printed(output: Partial<Output>, options: Given = {}) {
  const { context, texts } = given(options);
  await print({ reports: [], show: 'text', ...output }, context);
  return texts;
}

async function documentOf(report: Report, options: Given & Pick<Output, 'show'>) {
  const { stdout } = await printed({ reports: [report], show: options.show }, { ...options, json: true });
  return JSON.parse(stdout);
}

const onTerminal = { isTTY: true };

test('a failure says what happened, why, and what to type', async () => {
  const { stdout, stderr } = await printed({ reports: [notStarted], show: 'ids' }, onTerminal);

  expect(stdout).toBe('');
  expect(stderr).toBe(
    `runctl: nightly wasn't started: it is already running (HTTP 422 runAlreadyActive)
  → runctl trigger nightly --if-active wait
`,
  );
});

test('a lost response has its attempts on a line of their own', async () => {
  const { stderr } = await printed({ reports: [unknown], show: 'summaries' }, onTerminal);

  expect(stderr).toBe(
    `runctl: nightly may have been started: the connection broke before the response
  (3 attempts in 10m)
  → runctl recover nightly --watch
`,
  );
});

const given422 = { ...notStarted, trigger: { ...trigger, isKeyGiven: true } } as Report;
const withLast = (kind: Parameters<typeof failure>[0]) => ({ ...unknown, last: failure(kind) });
const path = `${projectId}/nightly/${executionId}`;

test.each<[string, Report, Given, string | undefined]>([
  ['a trigger in a mail', unknown, {}, `trigger nightly --idempotency-key key-1 --project ${projectId}`],
  ['a sweep in a mail', unknown, { command: 'recover' }, `recover nightly --project ${projectId}`],
  ['no journal', { ...unknown, isRecorded: false }, onTerminal, 'trigger nightly --idempotency-key key-1'],
  ['a redirect', withLast('redirected'), onTerminal, 'doctor'],
  ['ignored keys', unknown, { ...onTerminal, env: { RUNCTL_IDEMPOTENCY_KEYS: 'ignored' } }, undefined],
  ['too old', { ...unknown, isRecoverable: false }, onTerminal, undefined],
  ['too old for recover', { ...unknown, isRecoverable: false, isRepeatable: true }, onTerminal, 'trigger nightly --idempotency-key key-1'],
  ['a key of its own', given422, onTerminal, 'trigger nightly --if-active wait --idempotency-key key-1'],
  ['another project', { ...notStarted, automation: { projectId: otherProjectId, name: "it's" } }, onTerminal, `trigger '${otherProjectId}/it'\\''s' --if-active wait`],
  ['a profile', notStarted, { ...onTerminal, profile: 'eu west' }, "trigger nightly --if-active wait --profile 'eu west'"],
  ['a profile in a mail', notStarted, { profile: 'eu' }, `trigger ${projectId}/nightly --if-active wait --profile eu`],
  ['a run of its name', { ...stopped, isLastRun: true }, onTerminal, 'watch nightly'],
  ['a run of an id', stopped, onTerminal, `watch ${path}`],
  ['a result that is lost', { ...completed, resultFailure: failure('no_response') }, onTerminal, `result ${path}`],
])('the command after %s', async (_, report, options, command) => {
  const { stderr } = await printed({ reports: [report], show: 'ids' }, options);

  const [, typed] = /\n {2}→ runctl (.*)\n$/.exec(stderr) ?? [];
  expect(typed).toBe(command);
});
