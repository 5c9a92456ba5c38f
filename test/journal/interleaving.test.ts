import { appendFileSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import type { Journal } from '../../src/journal/journal.ts';
import type { JournalRecord } from '../../src/journal/record.ts';
import { propertyRuns, propertyTimeoutMs } from '../helpers/property-runs.ts';
import { modelOf } from './model.ts';
import { accepted, baseUrl, intent, nightly, refused, request, seen, uuid } from './records.ts';
import { linesIn, stageIn } from './stage.ts';

vi.setConfig({ testTimeout: propertyTimeoutMs });

const writers = 3;
const keys = 4;

type Step =
  | { step: 'write'; writer: number; n: number; what: 'intent' | 'accepted' | 'refused' | 'doubtful' | 'forgotten' }
  | { step: 'look'; writer: number; n: number; status: string }
  | { step: 'miss'; writer: number; n: number }
  | { step: 'read'; writer: number }
  /** Every process is killed, and the last bytes never reached the disk. */
  | { step: 'crash'; lostBytes: number }
  | { step: 'scribble'; bytes: Uint8Array };

const writer = fc.nat(writers - 1);
const n = fc.nat(keys - 1);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      step: fc.constant('write' as const),
      writer,
      n,
      what: fc.constantFrom('intent', 'accepted', 'refused', 'doubtful', 'forgotten'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      step: fc.constant('look' as const),
      writer,
      n: fc.nat(keys),
      status: fc.constantFrom('RUNNING', 'COMPLETED', 'FAILED', 'NEW'),
    }),
  },
  fc.record({ step: fc.constant('miss' as const), writer, n: fc.nat(keys) }),
  fc.record({ step: fc.constant('read' as const), writer }),
  fc.record({ step: fc.constant('crash' as const), lostBytes: fc.nat(700) }),
  fc.record({
    step: fc.constant('scribble' as const),
    bytes: fc.oneof(
      fc.uint8Array({ maxLength: 50 }),
      fc.json().map((text) => Buffer.from(text)),
      fc.constantFrom('{"schema":1', '{"schema":2,"type":"seen"}\n', '\n\n').map((text) => Buffer.from(text)),
    ),
  }),
);

test('whatever several writers, crashes and foreign hands do, every whole line counts and no other harms', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), fc.integer({ min: 1, max: 3000 }), (steps, segmentBytes) => {
      const parent = mkdtempSync(join(tmpdir(), 'journal-'));
      try {
        play(steps, join(parent, 'state'), segmentBytes);
      } finally {
        rmSync(parent, { recursive: true });
      }
    }),
    { numRuns: propertyRuns(150) },
  );
});

function play(steps: Step[], folder: string, segmentBytes: number): void {
  const { open, troubles, clock } = stageIn(folder);
  const reopen = () =>
    Array.from({ length: writers }, () => ({ journal: open(segmentBytes), sent: new Map<number, string>() }));
  let processes = reopen();
  let written = 0;
  let attempts = 0;

  for (const one of steps) {
    clock.nowMs += one.step === 'read' ? -10 : 1;
    if (one.step === 'crash') {
      const file = newestIn(folder);
      if (file) truncateSync(file, Math.max(0, statSync(file).size - one.lostBytes));
      processes = reopen();
      written = recordsIn(folder).length;
    } else if (one.step === 'scribble') {
      const file = newestIn(folder);
      if (file) appendFileSync(file, Buffer.concat([Buffer.from('\n'), one.bytes]));
    } else {
      const process = processes[one.writer];
      if (!process) continue;
      const { journal, sent } = process;
      if (one.step === 'read') journal.openIntents({ baseUrl });
      else if (one.step === 'miss') {
        clock.nowMs += 2 * 24 * 3_600_000;
        journal.missed(baseUrl, { target: nightly, executionId: uuid(one.n) });
        written = recordsIn(folder).length;
      } else if (one.step === 'look') {
        const before = modelOf(recordsIn(folder)).byRun.get(uuid(one.n));
        journal.append(seen(one.n, one.status));
        // What this process knows already it need not write: then the file says the same.
        const after = modelOf(recordsIn(folder)).byRun.get(uuid(one.n));
        if (!before) expect(after?.status).toBe(one.status);
        written = recordsIn(folder).length;
      } else {
        // No process tells an outcome of what it did not send.
        if (!sent.has(one.n)) {
          const attempt = `attempt-${++attempts}`;
          expect(journal.append({ ...intent(one.n), given: true, attempt })).toBe(true);
          sent.set(one.n, attempt);
          written += 1;
        }
        if (one.what !== 'intent') {
          expect(journal.append(recordOf(one.what, one.n, sent.get(one.n)))).toBe(true);
          written += 1;
        }
        if (one.what === 'refused' || one.what === 'forgotten') sent.delete(one.n);
      }
    }
    expect(recordsIn(folder)).toHaveLength(written);
  }
  compare(open(), folder);
  expect(troubles).toEqual([]);
}

function compare(journal: Journal, folder: string): void {
  const { runs, byRun, triggers } = modelOf(recordsIn(folder));
  const found = [...journal.runs()];
  expect(
    found.map(({ executionId, status, completedAt, idempotencyKey, at }) => ({
      executionId,
      status,
      completedAt,
      idempotencyKey,
      at,
    })),
  ).toEqual(runs);
  expect([...journal.runs({ target: nightly })]).toEqual(found);
  expect(journal.last({ baseUrl })).toEqual(found[0]);
  for (let number = 0; number <= keys; number++) {
    expect(journal.find(uuid(number), { baseUrl })?.status).toBe(byRun.get(uuid(number))?.status);
    const state = triggers.get(`key-${number}`)?.state;
    expect(journal.findKey(request(number))?.state).toBe(state === 'open' || state === 'accepted' ? state : undefined);
  }
  const open = [...triggers].filter(([, { state }]) => state === 'open').map(([key]) => key);
  expect(new Set(journal.openIntents({ baseUrl }).map(({ idempotencyKey }) => idempotencyKey))).toEqual(new Set(open));
}

function newestIn(folder: string): string | undefined {
  const count = existsSync(folder) ? readdirSync(folder).length : 0;
  return count === 0 ? undefined : join(folder, count === 1 ? 'journal.jsonl' : `journal-${count - 1}.jsonl`);
}

function recordOf(what: 'accepted' | 'refused' | 'doubtful' | 'forgotten', number: number, attempt?: string) {
  if (what === 'accepted') return accepted(number);
  if (what === 'refused') return { ...refused(number), attempt };
  return { type: what, ...request(number), reason: 'reset' } as const;
}

function recordsIn(folder: string): JournalRecord[] {
  if (!existsSync(folder) || readdirSync(folder).length === 0) return [];
  return linesIn(folder).flatMap((line) => {
    try {
      const value = JSON.parse(line);
      return value?.schema === 1 && value.at ? [value] : [];
    } catch {
      return [];
    }
  });
}
