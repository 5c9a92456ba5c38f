import { appendFileSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { fold, listedEntries as listedIn } from '../../src/journal/fold.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { createRecorder, type Recorder } from '../../src/journal/recorder.ts';
import { type JournalRecord, parseRecord } from '../../src/journal/records.ts';
import { type Entry, isOpen, maxOpenAgeMs, statusOf } from '../../src/run/entry.ts';
import { graverStatus, isFinalStatus } from '../../src/run/statuses.ts';
import { propertyRuns, propertyTimeoutMs } from '../helpers/property-runs.ts';
import { fault } from '../helpers/scripted-service.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { account, baseUrl, idOf, key, nightly, uuid } from './records.ts';
import { linesIn, stateFolderAt } from './state-folder.ts';

vi.setConfig({ testTimeout: propertyTimeoutMs });

const writers = 3;
const keys = 2;
const outcomes = ['none', 'started', 'refused', 'doubtful', 'reused_key'] as const;
const statuses = ['RUNNING', 'COMPLETED', 'FAILED', 'NEW'];

/** What `list --status` may be asked for. */
const askedStatuses = [...statuses, 'UNKNOWN', 'NOT_FOUND', 'TIMED_OUT'].map((status) => [status]);
askedStatuses.push(['FAILED', 'RUNNING'], ['UNKNOWN', 'COMPLETED']);

type Step =
  /** An attempt with an idempotency key that the user chose, and what comes of it. */
  | { step: 'trigger'; writer: number; n: number; outcome: (typeof outcomes)[number] }
  /** Runs of idempotency keys of our own, each started at once. */
  | { step: 'start'; writer: number; count: number }
  | { step: 'status'; writer: number; n: number; status: string }
  | { step: 'not_found'; writer: number; n: number }
  | { step: 'search'; writer: number; n: number }
  | { step: 'clock'; byMs: number }
  /** Every process is killed, and the last bytes never reached the disk. */
  | { step: 'crash'; lostBytes: number }
  | { step: 'scribble'; bytes: Uint8Array };

const writer = fc.nat(writers - 1);
const n = fc.nat(keys);
const foreign = ['{"schema":1', '{"schema":2,"type":"status"}\n', '\n\n', '"idempotencyKey":"key-1"'];
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ step: fc.constant('trigger'), writer, n, outcome: fc.constantFrom(...outcomes) }),
  },
  { weight: 3, arbitrary: fc.record({ step: fc.constant('start'), writer, count: fc.nat(9) }) },
  {
    weight: 3,
    arbitrary: fc.record({ step: fc.constant('status'), writer, n, status: fc.constantFrom(...statuses) }),
  },
  fc.record({ step: fc.constant('not_found'), writer, n }),
  fc.record({ step: fc.constant('search'), writer, n }),
  fc.record({ step: fc.constant('clock'), byMs: fc.constantFrom(-10, 1000) }),
  fc.record({ step: fc.constant('crash'), lostBytes: fc.nat(700) }),
  fc.record({
    step: fc.constant('scribble'),
    bytes: fc.oneof(
      fc.uint8Array({ maxLength: 50 }),
      fc.json().map((text) => Buffer.from(text)),
      fc.constantFrom(...foreign).map((text) => Buffer.from(text)),
    ),
  }),
);

test('whatever several writers, crashes and foreign hands do, every whole line counts and no other harms', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), fc.integer({ min: 1, max: 3000 }), (steps, fileBytes) => {
      const parent = mkdtempSync(join(tmpdir(), 'journal-'));
      try {
        perform(steps, join(parent, 'state'), fileBytes);
      } finally {
        rmSync(parent, { recursive: true });
      }
    }),
    { numRuns: propertyRuns(150) },
  );
}, 120_000);

test('a run that two processes have searched for in vain, and then record, has one first record', () => {
  const records: Step[] = [0, 1].map((writer) => ({ step: 'status', writer, n: 0, status: 'RUNNING' }));
  perform([{ step: 'search', writer: 1, n: 0 }, ...records], join(temporaryFolder(), 'state'), 1);
});

test('a file that begins earlier than one before it, as the clock was set back, hides no unfinished run in that one', () => {
  const { open, clock } = stateFolderAt(join(temporaryFolder(), 'state'));
  const journal = open(1);
  start(journal, 1);
  clock.nowMs -= 10;
  start(journal, 2);
  clock.nowMs += maxOpenAgeMs + 5;
  expect(journal.unfinished({ baseUrl }).map(({ executionId }) => executionId)).toEqual([uuid(1)]);
});

function perform(steps: Step[], folder: string, fileBytes: number): void {
  const { open, troubles, clock } = stateFolderAt(folder);
  const reopen = () =>
    Array.from({ length: writers }, () => ({ journal: open(fileBytes), sent: new Map<number, Recorder>() }));
  let processes = reopen();
  let minted = 100;

  for (const one of steps) {
    clock.nowMs += 1;
    const file = newestIn(folder);
    if (one.step === 'clock') clock.nowMs += one.byMs;
    else if (one.step === 'crash') {
      if (file) truncateSync(file, Math.max(0, statSync(file).size - one.lostBytes));
      processes = reopen();
    } else if (one.step === 'scribble') {
      if (file) appendFileSync(file, Buffer.concat([Buffer.from('\n'), one.bytes]));
    } else {
      const { journal, sent } = processes[one.writer] as (typeof processes)[number];
      if (one.step === 'start') {
        for (let count = 0; count < one.count; count++) start(journal, ++minted);
      } else if (one.step === 'status') {
        journal.recordStatus(
          baseUrl,
          { target: nightly, executionId: uuid(one.n) },
          { executionId: uuid(one.n), status: one.status, isFinal: isFinalStatus(one.status), document: {} },
        );
      } else if (one.step === 'search') journal.find(uuid(one.n), { baseUrl });
      else if (one.step === 'not_found') {
        clock.nowMs += 2 * 24 * 3_600_000;
        journal.markNotFound(baseUrl, { target: nightly, executionId: uuid(one.n) }, account);
      } else trigger(journal, sent, one.n, one.outcome);
    }
  }
  checkAgainst(recordsIn(folder), open(), clock.nowMs);
  expect(troubles).toEqual([]);
}

/** As the commands do: a key that was accepted isn't sent again. An attempt may end in a later step. */
function trigger(journal: Journal, sent: Map<number, Recorder>, number: number, outcome: (typeof outcomes)[number]) {
  const known = journal.findKey(key(number));
  let record = sent.get(number);
  if (!record) {
    if (known?.kind === 'run') return;
    const identity = { ...key(number), account, body: '{}', userProvided: true, wasSentBefore: known !== undefined };
    record = createRecorder(journal, identity);
    record.triggered();
    sent.set(number, record);
  }
  if (outcome === 'doubtful') record.inDoubt(fault('lost').fault, { isLast: false });
  if (outcome === 'started')
    record.accepted({ executionId: uuid(number), status: 'RUNNING', isFinal: false, document: {} }, 'shared_key');
  if (outcome === 'refused') record.refused(fault('no_credits').fault);
  if (outcome === 'reused_key') journal.append({ type: 'reused_key', ...key(number) });
  if (outcome !== 'none' && outcome !== 'doubtful') sent.delete(number);
}

function start(journal: Journal, number: number): void {
  const record = createRecorder(journal, {
    ...key(number),
    account,
    body: '{}',
    userProvided: false,
    wasSentBefore: false,
  });
  record.triggered();
  record.accepted({ executionId: uuid(number), status: 'RUNNING', isFinal: false, document: {} }, 'generated_key');
}

/** What must hold of a journal that holds these records, the oldest first. */
function checkAgainst(records: JournalRecord[], journal: Journal, nowMs: number): void {
  const listed = [...journal.entries()];
  const isOf = (executionId: string) => (record: JournalRecord) =>
    'executionId' in record && record.executionId === executionId;

  const ids = new Set(records.flatMap((record) => ('executionId' in record ? [record.executionId] : [])));
  expect(listed.flatMap((entry) => idOf(entry) ?? []).toSorted(), 'each run once').toEqual([...ids].toSorted());
  const withoutTriggers = [...journal.entries({ hasRun: true })];
  const byId = (entries: Entry[]) => new Map(entries.map((entry) => [idOf(entry), statusOf(entry)]));
  expect(byId(withoutTriggers), 'also where triggers are not read').toEqual(
    byId(listed.filter(({ kind }) => kind !== 'unresolved')),
  );
  expect(withoutTriggers).toHaveLength(ids.size);
  for (const id of ids) {
    const reports = records.filter(isOf(id)).map((record) => ('status' in record ? record.status : 'NOT_FOUND'));
    const finals = reports.flatMap((status = '') => (isFinalStatus(status) ? status : []));
    const [final] = finals.toSorted((one, other) => (graverStatus(one, other) === one ? -1 : 1));
    const known = journal.find(id, { baseUrl });
    expect(known && statusOf(known), 'the gravest final status, else the last one').toBe(final ?? reports.at(-1));
    // Only a list reads the triggers, too.
    const run = listed.find((entry) => idOf(entry) === id);
    expect(run).toEqual(known);
  }

  const allKeys = new Set(records.flatMap((record) => ('idempotencyKey' in record ? [record.idempotencyKey] : [])));
  const open = [...allKeys, 'never sent'].flatMap((idempotencyKey) => {
    const own = records.filter((record) => 'idempotencyKey' in record && record.idempotencyKey === idempotencyKey);
    const since = own.slice(own.findLastIndex(({ type }) => type === 'reused_key') + 1);
    const refused = since.flatMap((record) => (record.type === 'refused' ? [record.attempt] : []));
    const attempts = since.filter((record) => record.type === 'triggered' && !refused.includes(record.attempt));
    const kind = own.some(({ type }) => type === 'accepted') ? 'run' : attempts[0] && 'unresolved';
    expect(
      journal.findKey({ ...key(0), idempotencyKey })?.kind,
      'accepted for good, or an attempt without an outcome',
    ).toBe(kind);
    const isYoung = attempts.map((attempt) => isOpen(attempt, nowMs));
    // runctl never sends a key again that is too old.
    const isUsual = new Set(isYoung).size === 1;
    return kind === 'unresolved' ? [{ idempotencyKey, at: attempts[0]?.at, isYoung: isYoung[0], isUsual }] : [];
  });
  const isUsual = (each: string) => open.some(({ idempotencyKey, isUsual }) => isUsual && idempotencyKey === each);
  const keysInDoubt = journal.unresolved({ baseUrl }).map(({ idempotencyKey }) => idempotencyKey);
  const unresolved = keysInDoubt.filter(isUsual);
  const young = open.filter(({ isYoung, isUsual }) => isYoung && isUsual).map(({ idempotencyKey }) => idempotencyKey);
  expect(unresolved.toSorted(), 'what was sent within a day is unresolved').toEqual(young.toSorted());
  const listedOpen = listed.filter(({ kind }) => kind === 'unresolved');
  expect(new Map(listedOpen.map(({ idempotencyKey, at }) => [idempotencyKey, at])), 'what is older is listed').toEqual(
    new Map(open.map(({ idempotencyKey, at }) => [idempotencyKey, at])),
  );
  const isUnresolved = (each: string | undefined) => unresolved.some((idempotencyKey) => idempotencyKey === each);
  const listedUnresolved = listedOpen.map(({ idempotencyKey }) => idempotencyKey).filter(isUnresolved);
  expect(listedUnresolved, 'in the same order').toEqual(unresolved);

  const positions = listed.map((entry) =>
    records.flatMap((record, index) =>
      isOf(idOf(entry) ?? '')(record) || ('idempotencyKey' in record && record.idempotencyKey === entry.idempotencyKey)
        ? [index]
        : [],
    ),
  );
  const misplaced = positions.flatMap((newer, index) =>
    positions.slice(index + 1).filter(([first = 0]) => Math.max(...newer) <= first),
  );
  expect(misplaced, 'what was over before the other began is listed after it').toEqual([]);

  for (const asked of askedStatuses) {
    const has = (entry: Entry) => asked.includes(statusOf(entry));
    const found = [...journal.entries({ statuses: asked })];
    expect(new Set(found), `what is ${asked}, as reading everything finds it`).toEqual(new Set(listed.filter(has)));
    const runs = [...journal.entries({ statuses: asked, hasRun: true })];
    expect(runs, `the runs that are ${asked}, in the same order`).toEqual(withoutTriggers.filter(has));
  }

  const all = listedIn(fold(records));
  expect(listed, 'reading from the end finds what reading everything finds').toEqual(all.map(({ entry }) => entry));
  expect([...journal.entries({ target: nightly })]).toEqual(listed);
  expect(journal.entries({ baseUrl }).next().value).toEqual(listed[0]);
}

function newestIn(folder: string): string | undefined {
  const count = existsSync(folder) ? readdirSync(folder).length : 0;
  return count === 0 ? undefined : join(folder, count === 1 ? 'journal.jsonl' : `journal-${count - 1}.jsonl`);
}

const recordsIn = (folder: string): JournalRecord[] =>
  newestIn(folder) ? linesIn(folder).flatMap((line) => parseRecord(line) ?? []) : [];
