import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { keptRuns } from '../../src/journal/checkpoint.ts';
import type { Journal, JournalRun } from '../../src/journal/journal.ts';
import type { NewRecord } from '../../src/journal/records.ts';
import { isFinal } from '../../src/runs/run.ts';
import { propertyRuns, propertyTimeoutMs } from '../helpers/property-runs.ts';
import { accepted, baseUrl, key, nightly, refused, status, triggered, uuid, weekly } from './records.ts';
import { createStateFolder, type StateFolder, stateFolderAt, writeRecords } from './state-folder.ts';

const fileBytes = 6000;
const targets = [nightly, weekly];
const ends = ['open', 'refused', 'RUNNING', 'COMPLETED', 'COMPLETED', 'FAILED', 'forgotten'] as const;

const isUnfinished = ({ target, status }: JournalRun) => status === null || !isFinal(target, status);

/** What the checkpoint may not change: all that is unfinished, and the newest runs of each target and status. */
function essence(runs: JournalRun[]) {
  const counts = new Map<string, number>();
  return runs.filter((run) => {
    const kind = JSON.stringify([run.target, run.status]);
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
    return (
      ((run.executionId === null || run.status !== null) && isUnfinished(run)) || (counts.get(kind) ?? 0) <= keptRuns
    );
  });
}

function expectSame(journal: Journal) {
  const all = [...journal.runs({ baseUrl })];
  const kept = [...journal.runs({ baseUrl, only: 'kept' })];
  expect(essence(kept)).toEqual(essence(all));
  for (const target of targets)
    expect(essence([...journal.runs({ baseUrl, target, only: 'kept' })])).toEqual(
      essence(
        all.filter((run) => run.target.family === 'automation' && run.target.automationName === target.automationName),
      ),
    );
  const newest = [...journal.runs({ baseUrl, only: 'newest' })].slice(0, keptRuns);
  expect(newest).toEqual(all.slice(0, keptRuns));
  const unresolved = all.filter(({ executionId }) => executionId === null).map(({ idempotencyKey }) => idempotencyKey);
  expect(journal.unresolvedTriggers({ baseUrl }).map(({ idempotencyKey }) => idempotencyKey)).toEqual(unresolved);
  for (const wanted of ['RUNNING', 'COMPLETED', 'FAILED', 'STUCK']) {
    const of = (runs: Iterable<JournalRun>) => [...runs].filter((run) => run.status === wanted);
    expect(of(journal.runs({ baseUrl, only: { status: wanted } }))).toEqual(of(all));
  }
}

/** Starts a run and, up to `delay` runs later, ends it; every so often somebody reads. */
function simulate(
  steps: { end: (typeof ends)[number]; target: number; delay: number; reads: boolean }[],
  state: StateFolder,
) {
  const journal = state.open(fileBytes);
  const due = steps.map((): NewRecord[] => []);
  let unwritten: NewRecord[] = [];
  const write = () => {
    writeRecords(state, unwritten, fileBytes);
    unwritten = [];
  };
  steps.forEach(({ end, target: index, delay, reads }, n) => {
    const target = targets[index];
    unwritten.push(triggered(n, target));
    if (end === 'refused') unwritten.push(refused(n, target));
    else if (end === 'forgotten') unwritten.push({ type: 'forgotten', ...key(n, target) });
    else if (end !== 'open') {
      due[n + (delay >> 1)]?.push({ ...accepted(n, target), first: true });
      if (end !== 'RUNNING') due[n + delay]?.push(status(n, end, target));
    }
    unwritten.push(...(due[n] ?? []));
    if (!reads) return;
    // Half of the readers have written, too, and go on doing so.
    const own = n % 2 ? unwritten.pop() : undefined;
    write();
    if (own) journal.append(own);
    (own ? journal : state.open()).unresolvedTriggers({ baseUrl });
  });
  write();
}

const step = fc.record({
  end: fc.constantFrom(...ends),
  target: fc.constantFrom(0, 0, 0, 1),
  delay: fc.nat(9),
  reads: fc.integer({ max: 9, min: 0 }).map((n) => n === 0),
});

test(
  'what a checkpoint keeps is what all records say',
  () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 380, maxLength: 450, size: 'max' }), (steps) => {
        const state = createStateFolder();
        simulate(steps, state);
        expectSame(state.open());
        catchUp(state);
        expectSame(state.open());
        expect(state.troubles).toEqual([]);
      }),
      { numRuns: propertyRuns(6), endOnFailure: true },
    );
  },
  propertyTimeoutMs,
);

/** Each reading covers a few more files, until one leaves the checkpoint as it was. */
function catchUp({ folder, open }: StateFolder) {
  const writtenAt = () => statSync(join(folder, 'checkpoint.jsonl'), { throwIfNoEntry: false, bigint: true })?.mtimeNs;
  let before: bigint | undefined;
  do {
    before = writtenAt();
    open().unresolvedTriggers({ baseUrl });
  } while (writtenAt() !== before);
}

/** A journal of many files, and its checkpoint: made once, since it takes half a second. */
const full = stateFolderAt(join(mkdtempSync(join(tmpdir(), 'journal-')), 'state'));
beforeAll(() => {
  const steps = Array.from({ length: 160 }, (_, n) => ({
    end: ends[n % 50 === 1 ? 0 : n % 40 === 2 ? 2 : 3] ?? 'open',
    target: n % 2,
    delay: 3,
    reads: n % 10 === 0,
  }));
  simulate(steps, full);
  rmSync(join(full.folder, 'checkpoint.jsonl'));
  // Of a time that can be set again.
  for (const name of readdirSync(full.folder)) utimesSync(join(full.folder, name), 1e9, 1e9);
  catchUp(full);
});
afterAll(() => rmSync(dirname(full.folder), { recursive: true, force: true }));

function createFull() {
  const state = createStateFolder();
  cpSync(full.folder, state.folder, { recursive: true, preserveTimestamps: true });
  const path = join(state.folder, 'checkpoint.jsonl');
  expect(existsSync(path)).toBe(true);
  return { ...state, path };
}

test('files that a checkpoint covers are not read', () => {
  const { folder, open, file } = createFull();
  const before = [...open().runs({ only: 'kept' })];
  const { size } = statSync(file);
  writeFileSync(file, ' '.repeat(size));
  utimesSync(file, 1e9, 1e9);
  expect([...open().runs({ only: 'kept' })]).toEqual(before);
  expect([...open().runs({ only: { status: 'FAILED' } })]).toEqual(before);
  expect(readdirSync(folder).filter((name) => !/^(journal(-\d+)?|checkpoint)\.jsonl$/.test(name))).toEqual([]);
});

test('runs that are searched for after one that is not there are found all the same', () => {
  const { open } = createFull();
  const journal = open();
  expect(journal.find('nowhere', { baseUrl })).toBe(undefined);
  expect(journal.find(uuid(4), { baseUrl })?.executionId).toBe(uuid(4));
  expect(journal.find(uuid(1_000_000), { baseUrl })).toBe(undefined);
  journal.append({ ...status(1_000_000, 'RUNNING'), first: true });
  journal.append({ ...status(7, 'RUNNING'), executionId: 'a "quoted" id', first: true });
  expect(journal.find(uuid(1_000_000), { baseUrl })?.status).toBe('RUNNING');
  const other = open();
  expect(other.find('nowhere', { baseUrl })).toBe(undefined);
  expect(other.find('a "quoted" id', { baseUrl })?.status).toBe('RUNNING');
  expect(other.findElsewhere(uuid(4), 'https://other.example.com')).toBe(baseUrl);
});
