import { Terminal } from '@xterm/headless';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { createBoard } from '../../src/output/board.ts';
import { createLogReporter } from '../../src/output/log-reporter.ts';
import type { RunEvent } from '../../src/run/events.ts';
import type { Run } from '../../src/run/run.ts';
import { createMemory } from '../helpers/memory-context.ts';
import { readerOf } from '../helpers/screen-reader.ts';
import { ScreenStream } from '../helpers/screen-stream.ts';
import { target } from '../helpers/scripted-service.ts';

// A redraw that is due by the real clock would come between what a test does and what it reads from the screen.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());

/** A board on a screen in memory. `lines` waits until it was drawn again. */
function onBoard({ columns = 80, rows = 24, runs = 1, usual = '' } = {}) {
  const screen = new Terminal({ cols: columns, rows, convertEol: true, allowProposedApi: true });
  const stream = new ScreenStream(screen);
  const memory = createMemory();
  const stderr = {
    ...memory.stderr,
    isTTY: true,
    columns: () => stream.columns,
    write: (text: string) => void stream.write(text),
  };
  const state = { isInForeground: true, resumptions: 0 };
  const context = {
    ...memory,
    stderr,
    terminal: () => stream,
    isInteractive: () => state.isInForeground,
    resumptions: () => state.resumptions,
  };
  const board = createBoard({ runs, usualDuration: () => usual }, createLogReporter(context), context);
  onTestFinished(board.stop);
  const lines = async () => {
    vi.advanceTimersByTime(1000);
    await new Promise(setImmediate);
    return readerOf(screen).lines();
  };
  /** As a shell does at Ctrl-Z, and then at `bg` or `fg`: its own lines follow below the board. */
  const resume = (command: 'bg' | 'fg', shellLines: string) => {
    stream.write(shellLines);
    state.isInForeground = command === 'fg';
    state.resumptions += 1;
  };
  const { sleep } = memory.clock;
  return { ...board, lines, sleep, resume, stderr, resize: stream.resize.bind(stream), written: () => stream.written };
}

const runOf = (name: string): Run => ({ target: { ...target, automationName: name }, executionId: `id-${name}` });
const state = (status: string) => ({ executionId: 'id', status, isFinal: status === 'FAILED', document: {} });
const status = (run: Run, word = 'RUNNING') =>
  ({ event: 'status', run, snapshot: state(word), changed: true }) as const;
const ends = (run: Run): RunEvent => ({ event: 'final', run, snapshot: state('FAILED') });
const done = (run: Run): RunEvent => ({ event: 'run_done', run, pending: 1 });
const failed = (run: Run, failures: number): RunEvent => {
  const fault = { kind: 'unavailable', message: 'the service answered 502' } as const;
  const times = { silentMs: 0, retryForMs: 600_000, retryInMs: 0 };
  return {
    event: 'attempt_failed',
    resource: 'status',
    run,
    fault,
    failures,
    ...times,
    lastConfirmed: { snapshot: state('RUNNING'), ageMs: 12_000 },
  };
};
const [nightly, weekly, third] = [runOf('nightly'), runOf('weekly-report'), runOf('third')] as const;

test.each([
  [80, '', 'nightly RUNNING 4m 12s'],
  [80, 'usually 5m', 'nightly RUNNING 4m 12s · usually 5m'],
  [34, 'usually 5m', 'nightly RUNNING 4m 12s · usual…'],
])('on %i columns a run has one row, with how long it usually takes: %s', async (columns, usual, row) => {
  const { emit, sleep, lines } = onBoard({ columns, usual });
  emit(status(nightly));
  await sleep(252_000);
  expect((await lines()).map((line) => line.slice(2))).toEqual([row]);
});

test('a run that began in the future of this clock is shown with how long it was watched', async () => {
  const { emit, sleep, lines } = onBoard();
  const ahead = { ...state('RUNNING'), startedAt: '2999-01-01T00:00:00Z' };
  emit({ ...status(nightly), snapshot: ahead });
  await sleep(252_000);
  expect((await lines()).at(-1)).toMatch(/RUNNING 4m 12s$/);
});

test('several runs have rows in columns, and one that is done leaves a line above them', async () => {
  const { emit, lines } = onBoard({ runs: 3 });
  for (const event of [status(nightly), status(weekly, 'QUEUED'), status(third)]) emit(event);
  const rows = ['  nightly       RUNNING 0s', '  weekly-report QUEUED  0s'];
  expect((await lines()).slice(1)).toEqual([...rows, '  third         RUNNING 0s']);
  for (const event of [ends(third), done(third)]) emit(event);
  expect(await lines()).toEqual(['✖ FAILED third id-third', expect.stringMatching(/^. 1 of 3 done$/), ...rows]);
});

test('one of several triggers that got no run is named at once, and counted', async () => {
  const { emit, lines } = onBoard({ runs: 2 });
  emit(status(nightly));
  emit({
    event: 'run_done',
    ...weekly,
    run: undefined,
    pending: 1,
    failure: { name: 'already_active', endsAll: false },
  });
  const shown = ['weekly-report: already active', expect.stringMatching(/^. 1 of 2 done$/), '  nightly RUNNING 0s'];
  expect(await lines()).toEqual(shown);
});

test('of more than ten runs, only ten have rows and the others are counted', async () => {
  const { emit, lines } = onBoard({ runs: 12 });
  for (let n = 0; n < 12; n++) emit(status(runOf(`run-${n}`)));
  const shown = await lines();
  expect([shown.length, shown.at(-2), shown.at(-1)]).toEqual([12, '  run-9 RUNNING 0s', '  and 2 more']);
});

test.each([1, 2])(
  'a row (of %i) shows what is wrong after the first failed poll, and what was confirmed after the second',
  async (runs) => {
    const { emit, sleep, lines } = onBoard({ runs });
    for (const event of [status(nightly), failed(nightly, 1)]) emit(event);
    expect((await lines()).at(-1)).toMatch(/RUNNING 0s · ⚠ the service answered 502; .* 10m$/);
    emit(failed(nightly, 2));
    await sleep(3_000);
    expect((await lines()).at(-1)).toMatch(/nightly RUNNING 3s · ⚠ .* 15s ago: the service answered 502$/);
    emit(status(nightly));
    expect((await lines()).at(-1)).toMatch(/nightly RUNNING 3s$/);
    // The result may be long in coming, too.
    for (const event of [ends(nightly), failed(nightly, 2)]) emit(event);
    expect((await lines()).at(-1)).toMatch(/nightly FAILED · ⚠ /);
  },
);

test('a finished run shows how long it took, even while its result is read', async () => {
  const { emit, sleep, lines } = onBoard({ usual: 'usually 5m' });
  const times = { startedAt: '1970-01-01T00:00:00Z', completedAt: '1970-01-01T00:00:07Z' };
  emit({ ...ends(nightly), snapshot: { ...state('FAILED'), ...times } } as RunEvent);
  await sleep(252_000);
  expect((await lines()).map((line) => line.slice(2))).toEqual(['nightly FAILED 7s']);
});

test('a frame is drawn only if the text has changed, at most once a second, and the cursor is never hidden', async () => {
  const { emit, sleep, lines, written } = onBoard();
  const frames = () => written().split('nightly').length - 1;
  emit(status(nightly));
  for (let n = 0; n < 20; n++) emit(status(nightly));
  for (let n = 0; n < 3; n++) await lines();
  expect(frames()).toBe(1);
  await sleep(1_000);
  vi.advanceTimersByTime(999);
  await lines();
  expect(frames()).toBe(2);
  expect(written()).not.toContain('\u001B[?25');
});

test('a board that was stopped and continues in the background writes lines, and erases none of the shell', async () => {
  const { emit, sleep, resume, lines, stop, written } = onBoard({ runs: 2 });
  for (const event of [status(nightly), status(weekly)]) emit(event);
  await lines();
  resume('bg', '^Z\n[1]+  Stopped\n$ bg\n');
  const before = written();
  await sleep(90_000);
  await lines();
  for (const event of [ends(nightly), done(nightly)]) emit(event);
  stop();
  const after = written().slice(before.length);
  expect(after).toMatch(/^\S+ \S+ \+0000 nightly FAILED\n$/);
});

test('a board that was stopped and continues in the foreground is drawn below the lines of the shell', async () => {
  const { emit, resume, lines, stop } = onBoard();
  emit(status(nightly));
  await lines();
  const shellLines = ['^Z', '[1]+  Stopped', '$ fg', 'runctl watch'];
  resume('fg', `${shellLines.join('\n')}\n`);
  const rows = [expect.stringMatching(/nightly RUNNING/), ...shellLines];
  expect(await lines()).toEqual([...rows, expect.stringMatching(/nightly RUNNING/)]);
  stop();
  expect(await lines()).toEqual(rows);
});

test('a run that is only triggered has no row', async () => {
  const { emit, lines } = onBoard();
  emit({ event: 'trigger_ended', how: 'started', run: nightly, isWatched: false });
  emit(done(nightly));
  expect(await lines()).toEqual([expect.stringMatching(/^started nightly/), '    runctl watch id-nightly']);
});

test.each([
  [1, /. nightly RUNNING 0s/],
  [2, /^$/],
])('the active run that a trigger (of %i) waits for has a row if there is no other: %s', async (runs, row) => {
  const { emit, lines } = onBoard({ runs });
  emit({ ...status(nightly), isActiveRun: true });
  expect((await lines()).join()).toMatch(row);
  emit(status(weekly));
  expect((await lines()).join()).not.toContain('nightly');
});

const size = fc.tuple(fc.integer({ min: 20, max: 300 }), fc.integer({ min: 40, max: 60 }));
const names = fc.uniqueArray(fc.constantFrom('a', 'nightly', 'a-name-that-is-long-indeed', '漢字漢字漢字'), {
  minLength: 1,
});

test.each([
  ['of any size', fc.tuple(fc.integer({ min: 20, max: 300 }), fc.integer({ min: 2, max: 40 })), 0],
  ['that is resized on a screen that holds it all', size, 3],
])('a board %s fits the terminal, and nothing of it is left at the end', async (_, sizes, maxLength) => {
  await fc.assert(
    fc.asyncProperty(names, sizes, fc.array(size, { maxLength }), async (automations, [columns, rows], resizes) => {
      const { emit, above, stop, lines, resize, stderr } = onBoard({ columns, rows, runs: 9 });
      for (const each of automations) emit(status(runOf(each)));
      emit(failed(runOf(automations[0] ?? ''), 2));
      above(() => stderr.write('above\n'));
      for (const [width, height] of resizes) {
        expect(await lines()).toHaveLength(Math.min(rows - 1, automations.length + 2));
        resize(width, height);
      }
      await lines();
      stop();
      expect(await lines()).toEqual(['above']);
    }),
  );
});
