// What is printed of finished commands, and while they work: reports and events in, texts out.
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Context } from '../src/context.ts';
import { type FailureKind, failureOf } from '../src/core/failure.ts';
import type { RunEvent } from '../src/core/ports.ts';
import type {
  NotStartedReport,
  Report,
  RunReport,
  StoppedReport,
  UnknownReport,
  UnreadableReport,
} from '../src/core/report.ts';
import type { RunResult, RunStatus } from '../src/core/run.ts';
import { type Output, print } from '../src/output/print.ts';
import { createProgress } from '../src/output/progress.ts';
import { logTime, plainStyle, widthOf } from '../src/output/style.ts';
import { table } from '../src/output/table.ts';

const projectId = '00000000-0000-4000-8000-000000000001';
const otherProjectId = '00000000-0000-4000-8000-000000000002';
const executionId = '4b7c19e2-65a1-4c49-a73d-3512aa99cd94';
const idempotencyKey = 'key-1';
const nowMs = Date.UTC(2026, 10, 28, 2, 5, 3);
const startedAtMs = nowMs - 302_000;
const automation = { projectId, name: 'nightly' };
const trigger = { started: 'unknown', idempotencyKey, isKeyGiven: false } as const;
const error = { type: 'step_failed', message: 'Step "Send": the mail server said no' };

function status(word: string, facts: Partial<RunStatus> = {}): RunStatus {
  const isFinal = word !== 'RUNNING';
  const ended = isFinal ? { completedAtMs: nowMs, creditsCharged: 12 } : {};
  const document = { executionId, status: word, startedAt: '2026-11-28T02:00:01Z' };
  return { status: word, isFinal, startedAtMs, ...ended, document, ...facts };
}

function result(word: string, facts: Partial<RunResult> = {}): RunResult {
  const document = { status: word, output: facts.output ?? null, steps: [{ name: 'Send' }] };
  const steps = { count: 3, succeeded: 3, skipped: 0 };
  return { status: word, isFinal: true, output: null, steps, document, ...facts };
}

const running: RunReport = { kind: 'run', automation, executionId, status: status('RUNNING') };
const completed: RunReport = {
  ...running,
  status: status('COMPLETED'),
  result: result('COMPLETED', { output: 'The report was sent to 3 people.' }),
};
const failed: RunReport = {
  ...running,
  automation: { projectId, name: 'import-eu' },
  status: status('FAILED'),
  result: result('FAILED', { error, steps: { count: 3, succeeded: 2, skipped: 0 } }),
};
const isActive = failureOf('already_active', { httpStatus: 422, code: 'runAlreadyActive' });
const notStarted: NotStartedReport = { kind: 'not_started', automation, failure: isActive };
const lost = failureOf('connection_lost');
const history = { attempts: 3, tookMs: 600_000 };
const unknown: UnknownReport = { kind: 'unknown', automation, trigger, failure: lost, ...history };
const timeout = failureOf('timeout');
const unseen: StoppedReport = { kind: 'stopped', automation, executionId, failure: timeout };
const stopped: StoppedReport = { ...unseen, status: status('RUNNING') };
const badGateway = failureOf('server_error', { httpStatus: 502 });
const unreadable: UnreadableReport = { kind: 'unreadable', automation, failure: badGateway };
const recorded = { status: status('RUNNING'), statusAgeMs: 720_000 };
const old: UnreadableReport = { ...unreadable, executionId, ...recorded };

type Flags = Context['flags'];
interface Given extends Flags {
  isTTY?: boolean;
  command?: string;
  env?: Record<string, string>;
}
const terminal = { isTTY: true };

/** A command in a pipe, unless it is on a terminal of 80 columns. The project is in force. */
function given({ isTTY = false, command = 'trigger', env, ...flags }: Given = {}) {
  const texts = { stdout: '', stderr: '' };
  const clock = { elapsed: 0 };
  const sink = (name: keyof typeof texts) => ({
    write(text: string) {
      texts[name] += text;
    },
    isTTY,
    columns: () => 80,
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

async function printed(show: Output['show'], reports: readonly Report[], options: Given = {}) {
  const { context, texts } = given(options);
  await print({ reports, show }, context, { warnings: [], project: projectId });
  return texts;
}

async function documentOf(report: Report) {
  const { stdout } = await printed('summaries', [report], { json: true });
  return JSON.parse(stdout);
}

test('a failure says what happened, why, and what to type, wrapped on a terminal', async () => {
  const refused = await printed('ids', [notStarted], terminal);
  const lostResponse = await printed('summaries', [unknown], terminal);

  expect(refused).toEqual({
    stdout: '',
    stderr: `\
runctl: nightly wasn't started: it is already running (HTTP 422
  runAlreadyActive)
  → runctl trigger nightly --if-active wait
`,
  });
  expect(lostResponse.stderr).toBe(`\
runctl: nightly may have been started: the connection broke before the
  response (3 attempts in 10m)
  → runctl recover nightly --watch
`);
});

const withKey = { ...notStarted, trigger: { ...trigger, isKeyGiven: true } };
const foreign = { ...notStarted, automation: { projectId: otherProjectId, name: "it's" } };
const withLast = (kind: FailureKind) => ({ ...unknown, last: failureOf(kind) });
const withoutResult = { ...completed, result: undefined, resultFailure: failureOf('no_response') };
const path = `${projectId}/nightly/${executionId}`;
const keyFlag = '--idempotency-key key-1';
// A mail is read in a shell without this one's variables.
const ofMail = `RUNCTL_PROJECT=${projectId}`;

// biome-ignore format: a table
test.each<[string, Report, Given, string | undefined]>([
  ['a trigger in a mail', unknown, {}, `${ofMail} trigger nightly ${keyFlag}`],
  ['a sweep in a mail', unknown, { command: 'recover' }, `${ofMail} recover nightly`],
  ['no journal', { ...unknown, isRecorded: false }, terminal, `trigger nightly ${keyFlag}`],
  ['a redirect', withLast('redirected'), terminal, 'doctor'],
  ['a key that was refused since', withLast('unauthorized'), {}, `${ofMail} doctor`],
  ['ignored keys', { ...unknown, remedy: 'look' }, terminal, undefined],
  ['too old for recover', { ...unknown, remedy: 'repeat' }, terminal, `trigger nightly ${keyFlag}`],
  ['a key of its own', withKey, terminal, `trigger nightly --if-active wait ${keyFlag}`],
  ['another project', foreign, terminal, `trigger '${otherProjectId}/it'\\''s' --if-active wait`],
  ['a base URL', notStarted, { ...terminal, baseUrl: 'https://a.example/?a b' }, "trigger nightly --if-active wait --base-url 'https://a.example/?a b'"],
  ['a profile in a mail', notStarted, { profile: 'eu' }, `${ofMail} trigger nightly --if-active wait --profile eu`],
  ['a name that would look like another', { ...notStarted, automation: { projectId, name: 'a\u200bb' } }, terminal, undefined],
  ['a name with a slash', { ...notStarted, automation: { projectId, name: 'a/b' } }, terminal, `trigger ${projectId}/a/b --if-active wait`],
  ['a run that is gone', { ...stopped, failure: failureOf('not_found') }, terminal, undefined],
  ['a run of its name', { ...stopped, isLastRun: true }, terminal, 'watch nightly'],
  ['a run of an id', stopped, terminal, `watch ${path}`],
  ['a lost result', withoutResult, terminal, `result ${path}`],
])('the command to type after %s', async (_, report, options, command) => {
  const { stderr } = await printed('ids', [report], options);

  const typed = /\n {2}→ (.*)\n$/.exec(stderr)?.[1];
  expect(typed?.replace('runctl ', '')).toBe(command);
});

const limited = failureOf('rate_limited', { httpStatus: 429, retryAfterMs: 3_600_000 });
const tooOld = { remedy: 'repeat' as const, notSentBecause: 'it is older than 4h' };

// biome-ignore format: a table
test.each<[string, Report, RegExp]>([
  ['that the run continues', stopped, /^runctl: nightly continues, but .*: --timeout expired\n/],
  ['no more of a run that nobody saw', unseen, /^runctl: nightly isn't watched: --timeout expired\n/],
  ['all that was heard', withLast('already_active'), /broke before the response, and it is already running, .* recover finds out/],
  ['what to look for', { ...unknown, atMs: startedAtMs, ...tooOld }, /at 2026-11-28 02:00:01 \+0000: .*older than 4h.* Look in the service for a run that started then/],
  ['when to come back', { ...notStarted, failure: limited }, /\(HTTP 429, retry after 2026-11-28 03:05:03 \+0000\)/],
])('a message says %s', async (_, report, text) => {
  expect((await printed('ids', [report])).stderr).toMatch(text);
});

test('--quiet drops what recover will ask again, and skipped triggers', async () => {
  const quiet = { ...terminal, quiet: true };
  const skipped = { ...notStarted, isSkipped: true };

  expect((await printed('ids', [unknown], { ...quiet, command: 'recover' })).stderr).toBe('');
  expect((await printed('ids', [skipped], quiet)).stderr).toBe('');
  expect((await printed('ids', [skipped], terminal)).stderr).toContain("wasn't started");
});

test('recover prints ids alone, and trigger a line for each argument', async () => {
  const reports = [unknown, completed];

  expect((await printed('ids', reports, { command: 'recover' })).stdout).toBe(`${executionId}\n`);
  expect((await printed('ids', reports)).stdout).toBe(`\n${executionId}\n`);
});

test('a message drives neither a terminal nor a CI runner', async () => {
  const reason = '\u001b[2Jgone\u202e\n::error::##[group]x';
  const report = { ...unreadable, failure: failureOf('rejected', { reason }) };
  const inLog = await printed('status', [report]);
  const shown = await printed('status', [report], terminal);

  for (const text of ['\u001b', '\u202e']) expect(shown.stderr).not.toContain(text);
  for (const text of ['\u001b', '\u202e', '::e', '##[']) expect(inLog.stderr).not.toContain(text);
});

test('a summary begins with the name, and the output comes last', async () => {
  expect((await printed('summaries', [completed], terminal)).stdout).toBe(`\
✔ nightly COMPLETED in 5m 2s
  3 steps, 12 credits, run ${executionId}

The report was sent to 3 people.
`);
  expect((await printed('summaries', [completed])).stdout).toBe(`\
2026-11-28 02:05:03 +0000 nightly COMPLETED in 5m 2s, 3 steps, 12 credits, run ${executionId}
The report was sent to 3 people.
`);
});

test('the summary of a run that failed has its error first, and no command', async () => {
  const { stdout, stderr } = await printed('summaries', [failed], terminal);

  expect(stderr).toBe('');
  expect(stdout).toBe(`\
✖ import-eu FAILED after 5m 2s
  Step "Send": the mail server said no (step_failed)
  2 of 3 steps succeeded, 12 credits, run ${executionId}
`);
});

test('with --quiet only runs that did not complete have a summary', async () => {
  const { stdout } = await printed('summaries', [completed, failed], { quiet: true });

  expect(stdout).toMatch(/^\S+ \S+ \S+ import-eu FAILED after 5m 2s: Step "Send".*\n$/);
  const onTerminal = await printed('summaries', [completed, failed], { ...terminal, quiet: true });
  expect(onTerminal.stdout).toMatch(/^✖ import-eu FAILED[^✔]*$/);
});

test('several runs are a table in their order, and summaries of those that failed', async () => {
  const { stdout, stderr } = await printed('summaries', [failed, completed, notStarted], terminal);

  const [rows = '', ...summaries] = stdout.split('\n\n');
  expect(rows.match(/^. \S+ +[A-Z_]+/gm)).toEqual([
    '  AUTOMATION  STATUS',
    '✖ import-eu   FAILED',
    '✔ nightly     COMPLETED',
    '! nightly     NOT_STARTED',
  ]);
  expect(summaries).toEqual([expect.stringMatching(/^✖ import-eu FAILED[^✔]*$/)]);
  expect(stderr).toContain("nightly wasn't started");
});

test('a status says for how long, and how long is usual', async () => {
  const usual = { ...running, usualMs: 2_280_000 };
  const late = { ...running, usualMs: 60_000 };

  expect((await printed('status', [usual, late], terminal)).stdout).toBe(`\
● nightly RUNNING for 5m 2s, usually 38m
  started 02:00, run ${executionId}
● nightly RUNNING for 5m 2s, usually 1m, late
  started 02:00, run ${executionId}
`);
});

test('an output is bytes as sent, but cleaned on a terminal', async () => {
  const output = 'a\u001b[31mb ::warning::c';
  const report = { ...completed, result: result('COMPLETED', { output }) };

  expect((await printed('outputs', [report])).stdout).toBe(output);
  expect((await printed('outputs', [report], terminal)).stdout).toBe('ab ::warning::c\n');
});

test.each([
  ['Asia/Kathmandu', '2026-11-28 07:50:03 +0545'],
  ['America/St_Johns', '2026-11-27 22:35:03 -0330'],
])('a time in %s is %s', (zone, text) => {
  vi.stubEnv('TZ', zone);
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(logTime(nowMs)).toBe(text);
});

test('a time of tomorrow has its date', async () => {
  const failure = failureOf('rate_limited', { retryAfterMs: 86_400_000 });
  const { stderr } = await printed('ids', [{ ...notStarted, failure }], terminal);
  expect(stderr).toContain('retry after 11-29 02:05');
});

test('the output in a summary gives a CI runner no command', async () => {
  const report = { ...completed, result: result('COMPLETED', { output: 'a\n::error::b\n##[c]d' }) };

  expect((await printed('summaries', [report])).stdout).toMatch(/\na\n: :error: :b\n## \[c\]d\n$/);
});

test('without an output stderr says how the run stands', async () => {
  const ofFailed = await printed('outputs', [failed]);
  const ofRunning = await printed('outputs', [running], terminal);

  expect(ofFailed.stdout + ofRunning.stdout).toBe('');
  expect(ofFailed.stderr).toContain('import-eu FAILED');
  expect(ofRunning.stderr).toContain("nightly hasn't finished");
  expect(ofRunning.stderr).toContain(`→ runctl watch ${path}`);
});

const listed = { decidesExitCode: false };
const rows: Report[] = [
  { ...running, ...listed, usualMs: 2_280_000 },
  { ...failed, ...listed },
  { ...unknown, ...listed, atMs: startedAtMs - 86_400_000 },
  { ...notStarted, ...listed, atMs: startedAtMs },
  old,
];

test('rows on a terminal are aligned, and a last line counts them', async () => {
  const { stdout, stderr } = await printed('rows', rows, terminal);

  expect(stdout).toBe(`\
  AUTOMATION  STATUS       STARTED     TOOK  RUN
● nightly     RUNNING      02:00      5m 2s  4b7c19e2  usually 38m
✖ import-eu   FAILED       02:00      5m 2s  4b7c19e2  Step "Send": the mail se…
? nightly     UNKNOWN      Fri 02:00      -  -         response lost
! nightly     NOT_STARTED  02:00          -  -         it is already running
● nightly     RUNNING      02:00      5m 2s  4b7c19e2  status is 12m old: the s…
5 since Fri 02:00: 1 failed, 1 not started, 2 running, 1 unknown
`);
  expect(stderr).toMatch(
    /^runctl: the status of nightly couldn't be read: .*\n {2}\(HTTP 502\)\n$/,
  );
});

test('rows in a pipe are tabs with complete values', async () => {
  const elsewhere = { ...running, automation: { projectId: otherProjectId, name: 'nightly' } };
  const { stdout } = await printed('rows', [elsewhere, ...rows.slice(1, 3)]);

  const start = '2026-11-28 02:00:01 +0000';
  const reason = `${error.message} (step_failed)`;
  expect(stdout.split('\n').map((line) => line.split('\t'))).toEqual([
    [`${otherProjectId}/nightly`, 'RUNNING', start, '302', executionId, '-'],
    ['import-eu', 'FAILED', start, '302', executionId, reason],
    ['nightly', 'UNKNOWN', '2026-11-27 02:00:01 +0000', '-', '-', 'response lost'],
    [''],
  ]);
});

test.each([80, 40, 20, 1])('a table fits into %i columns', (columns) => {
  const { context } = given(terminal);
  const wide = { ...failed, automation: { projectId, name: '夜間レポート🌙'.repeat(3) } };
  const style = plainStyle(context.stdout, context);

  const lines = table([wide, running], { style, nowMs, columns }).split('\n');

  for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(columns);
  expect(lines).toHaveLength(4);
});

// biome-ignore format: a table
test.each<[string, Report, object]>([
  ['a run', completed, { outcome: 'ok', exitCode: 0, next: null, durationMs: 302_000 }],
  ['a run, by clocks that differ', { ...completed, status: status('COMPLETED', { startedAtMs: nowMs + 1 }) }, { outcome: 'ok', durationMs: 0 }],
  ['a run that failed', failed, { outcome: 'run_failed', exitCode: 1, next: null }],
  ['a run that goes on', running, { outcome: 'still_running', exitCode: 16, next: `RUNCTL_PROJECT=${projectId} runctl watch ${path}` }],
  ['a lost response', unknown, { outcome: 'outcome_unknown', exitCode: 12, trigger: { started: 'unknown', idempotencyKey }, error: {} }],
  ['a refused trigger', notStarted, { outcome: 'already_active', exitCode: 5, error: { httpStatus: 422, code: 'runAlreadyActive', requestId: null, retryAfterMs: null } }],
  ['a skipped trigger', { ...notStarted, isSkipped: true }, { outcome: 'ok', exitCode: 0, next: null }],
  ['a lost result', withoutResult, { outcome: 'result_unavailable', exitCode: 13, error: {} }],
  ['a watch that failed', stopped, { outcome: 'timeout', exitCode: 124, error: { message: expect.stringContaining('continues') } }],
  ['an old status', old, { outcome: 'unavailable', statusAgeMs: 720_000, error: {} }],
])('the document of %s', async (_, report, runctl) => {
  const document = await documentOf(report);

  expect(document.runctl).toMatchObject({ schema: 1, command: 'trigger', warnings: [], ...runctl });
  expect(document.executionId).toBe('executionId' in report ? executionId : null);
  expect('error' in document.runctl).toBe('error' in runctl);
});

test('a document keeps unknown fields, and has the status that decides', async () => {
  const document = { executionId, status: 'COMPLETED', region: 'eu' };
  const completedAfterAll = status('COMPLETED', { document });

  const printedDocument = await documentOf({ ...failed, status: completedAfterAll });

  expect(printedDocument).toMatchObject({ region: 'eu', status: 'FAILED' });
  expect(printedDocument.steps).toEqual([{ name: 'Send' }]);
  expect(printedDocument.runctl.outcome).toBe('run_failed');
});

test('a warning is in the documents of its automation', async () => {
  const { context, texts } = given({ json: true });
  const ofNightly = { type: 'warning', automation, text: 'of nightly' } as const;
  const ofAll = { type: 'warning', text: 'of all' } as const;

  await print({ reports: [failed, completed], show: 'ids' }, context, {
    warnings: [ofNightly, ofAll],
    project: projectId,
  });

  const documents = texts.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(documents.map(({ runctl }) => runctl.warnings)).toEqual([
    ['of all'],
    ['of nightly', 'of all'],
  ]);
});

test.each([
  ['status', 'COMPLETED'],
  ['runctl.exitCode', '0'],
  ['runctl.next', ''],
  ['runctl.next.below', ''],
  ['steps[0]', '{"name":"Send"}'],
  ['steps.0.name', 'Send'],
  ['nothing', ''],
  ['', ''],
])('--field %s prints %j', async (field, text) => {
  const { stdout, stderr } = await printed('summaries', [completed], { field });

  expect(stdout).toBe(`${text}\n`);
  expect(stderr !== '').toBe(['nothing', ''].includes(field));
});

test('JSON on a terminal is cleaned without a change of its values', async () => {
  const output = '\u001b[2J\u202e';
  const report = { ...completed, result: result('COMPLETED', { output }) };
  const { stdout } = await printed('outputs', [report], { ...terminal, json: true });

  expect(stdout).toMatch(/^[\n -~]*$/);
  expect(JSON.parse(stdout).output).toBe(output);
});

const run = { automation, executionId };
const retry = (silentMs: number): RunEvent => ({
  type: 'retry',
  run,
  failure: badGateway,
  silentMs,
});
const polled = (word: string): RunEvent => ({ type: 'status', run, status: status(word) });
const started: RunEvent[] = [
  { type: 'started', run },
  { type: 'watching', run },
];
const startLine = `nightly started, run ${executionId}`;
const waiting: RunEvent = { type: 'waiting', run: { automation } };
const note: RunEvent = { type: 'note', text: 'a' };
const warning: RunEvent = { type: 'warning', text: 'b' };
const going = polled('RUNNING');

// Numbers are milliseconds that pass.
// biome-ignore format: a table
test.each<[string, (RunEvent | number)[], Given, string[]]>([
  ['little of a run that goes well', [...started, going, 200_000, going, polled('COMPLETED')], {}, [startLine]],
  ['its end, if stdout has a document', [...started, polled('COMPLETED')], { json: true }, [startLine, 'nightly COMPLETED in 5m 2s']],
  ['a line every five minutes', [...started, going, 300_000, going, polled('COMPLETED'), 300_000], {}, [startLine, 'nightly RUNNING for 10m 2s']],
  ['a run that was started before', [{ type: 'watching', run }, going], {}, [`nightly RUNNING for 5m 2s, run ${executionId}`]],
  ['nothing of a response that is lost and repaired', [retry(0), retry(1000), { type: 'started', run }], {}, []],
  ['an outage', [...started, going, retry(6000), retry(20_000), retry(40_000), going], {}, [startLine, 'nightly RUNNING for 5m 2s, no response for 6s, still trying (HTTP 502)', 'nightly RUNNING for 5m 2s']],
  ['nothing of an attempt that is interrupted', [...started, going, { ...retry(6000), failure: failureOf('interrupted') } as RunEvent], {}, [startLine]],
  ['a wait', [waiting, waiting, ...started], {}, ['nightly is already running, waiting for it to finish', startLine]],
  ['notes and warnings', [note, warning], {}, ['runctl: a', 'runctl: warning: b']],
  ['warnings alone with --quiet', [...started, note, warning], { quiet: true }, ['runctl: warning: b']],
])('a log has %s', (_, events, options, lines) => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { context, texts, clock } = given(options);
  const { emit, stop } = createProgress(context);
  for (const event of events) {
    if (typeof event !== 'number') emit(event);
    else {
      clock.elapsed += event;
      vi.advanceTimersByTime(event);
    }
  }
  stop();

  const time = /^2026-11-28 \S+ \+0000 /;
  expect(texts.stderr.split('\n').map((line) => line.replace(time, ''))).toEqual([...lines, '']);
});

test('a spinner that is stopped before it has started draws nothing', async () => {
  const { context } = given(terminal);
  const write = vi.fn();
  const { emit, stop } = createProgress({ ...context, terminal: { write } as never });
  emit({ type: 'watching', run });
  stop();
  await vi.dynamicImportSettled();
  expect(write).not.toHaveBeenCalled();
});
