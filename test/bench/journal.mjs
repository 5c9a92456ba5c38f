// What the journal costs. Run with `npm run bench -- journal [records]`; prints medians in milliseconds.
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSync } from 'esbuild';

const records = Number(process.argv[2] ?? 100_000);
const work = mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), 'journal-bench-'));
const bundle = join(work, 'journal.cjs');
const source = join(import.meta.dirname, '../../src/journal/journal.ts');
buildSync({ entryPoints: [source], outfile: bundle, bundle: true, platform: 'node', format: 'cjs' });
const { openJournal } = createRequire(import.meta.url)(bundle);

const baseUrl = 'https://api.example.com';
const uuid = (kind, n) => `${kind}0000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
const targetOf = (n) => ({ family: 'automation', projectId: uuid(1, 0), automationName: `automation-${n % 50}` });
const keyOf = (n) => ({ baseUrl, target: targetOf(n), idempotencyKey: uuid(2, n) });
const executionOf = (n) => ({ executionId: uuid(3, n), startedAt: '2026-11-21T03:00:00.000Z' });
const triggeredOf = (n) => ({
  type: 'triggered',
  ...keyOf(n),
  attempt: uuid(4, n),
  account: 'c0ffee00',
  body: '{}',
  userProvided: false,
  first: true,
});
const acceptedOf = (n) => ({ type: 'accepted', ...keyOf(n), ...executionOf(n), status: 'RUNNING', first: true });
const finishedOf = (n) => ({
  type: 'status',
  baseUrl,
  target: targetOf(n),
  ...executionOf(n),
  status: 'COMPLETED',
  completedAt: '2026-11-21T03:05:00.000Z',
  creditsCharged: 1.25,
});

const open = (name) => {
  const onTrouble = (message) => console.error(message);
  return openJournal({ folder: join(work, name), nowMs: Date.now, onTrouble });
};

/** The median of `times` calls, in ms; `prepare` is not counted. */
function median(times, action, prepare = () => {}) {
  const took = Array.from({ length: times }, (_, n) => {
    const prepared = prepare(n);
    const startMs = performance.now();
    action(prepared, n);
    return performance.now() - startMs;
  });
  return took.sort((a, b) => a - b)[times >> 1];
}

const rows = [];
const row = (what, ms) => rows.push({ what, ms: Number(ms.toPrecision(3)) });

// Appends: an empty journal, so that nothing but the write is measured.
mkdirSync(join(work, 'bare'));
const line = `${JSON.stringify({ schema: 1, at: new Date().toISOString(), ...triggeredOf(0) })}\n`;
const appender = open('append');
row(
  'fs.appendFileSync, nothing more',
  median(2000, () => appendFileSync(join(work, 'bare', 'file'), line)),
);
row(
  'append, no fsync (refused)',
  median(2000, (_, n) => appender.append({ type: 'refused', ...keyOf(n), attempt: 'a', name: 'usage' })),
);
row(
  'append, fdatasync (triggered)',
  median(100, (_, n) => appender.append(triggeredOf(n))),
);

// Reads: three records a run, in segments of 1 MiB.
const runs = Math.round(records / 3);
fill('full', runs);
const last = runs - 1;
row(
  'JSON.parse of every line, nothing more',
  median(5, () => parseAll('full')),
);
const fresh = () => open('full');
row(
  `first page: 20 of ${runs} runs`,
  median(51, (journal) => take(journal.runs({ baseUrl }), 20), fresh),
);
row(
  '@last',
  median(51, (journal) => journal.runs({ baseUrl }).next().value, fresh),
);
row(
  '20 runs of one automation',
  median(21, (journal) => take(journal.runs({ baseUrl, target: targetOf(7) }), 20), fresh),
);
row(
  '50 completed runs of one automation',
  median(21, (journal) => journal.pastRuns({ baseUrl, target: targetOf(7) }, 50), fresh),
);
row(
  `all ${runs} runs`,
  median(9, (journal) => take(journal.runs({ baseUrl }), Infinity), fresh),
);
row(
  `what statistics need of all ${runs} runs`,
  median(9, (journal) => journal.recentRuns({ baseUrl }, 0), fresh),
);
row(
  'find, the newest run',
  median(21, (journal) => journal.find(uuid(3, last), { baseUrl }), fresh),
);
row(
  'find, a run not there',
  median(21, (journal) => journal.find(uuid(9, 0), { baseUrl }), fresh),
);
row(
  'findKey, an old key',
  median(21, (journal) => journal.findKey(keyOf(10)), fresh),
);
row(
  'findKey, a key not there',
  median(21, (journal) => journal.findKey({ ...keyOf(10), idempotencyKey: 'x-1' }), fresh),
);
row(
  'unresolvedTriggers',
  median(9, (journal) => journal.unresolvedTriggers({ baseUrl }), fresh),
);
row(
  'a status that is known already',
  median(21, (journal, n) => record(journal, 1000 + n, 'COMPLETED'), fresh),
);
row(
  'the first status of a run',
  median(21, (journal, n) => record(journal, runs + 1000 + n, 'RUNNING'), fresh),
);

console.log(`${records} records, Node ${process.version}`);
console.table(rows);
rmSync(work, { recursive: true });

function record(journal, n, status) {
  journal.recordStatus(baseUrl, { target: targetOf(n), executionId: uuid(3, n) }, { status });
}

function take(iterable, count) {
  const taken = [];
  for (const one of iterable) {
    taken.push(one);
    if (taken.length >= count) break;
  }
  return taken;
}

function parseAll(name) {
  for (const file of readdirSync(join(work, name))) {
    for (const one of readFileSync(join(work, name, file), 'utf8').split('\n')) if (one !== '') JSON.parse(one);
  }
}

/** Writes segments as the journal does, without the waiting: its own lines, copied from a journal of one run. */
function fill(name, count) {
  const sample = open('sample');
  sample.append(triggeredOf(0));
  sample.append(acceptedOf(0));
  sample.append(finishedOf(0));
  const folder = join(work, name);
  mkdirSync(folder);
  const lines = readFileSync(join(work, 'sample', 'journal.jsonl'), 'utf8')
    .split('\n')
    .filter(Boolean);
  let text = '';
  let number = 0;
  for (let n = 0; n < count; n++) {
    for (const one of lines) {
      const own = one.replaceAll('-000000000000"', `-${String(n).padStart(12, '0')}"`);
      text += `\n${own.replaceAll('/automation-0"', `/automation-${n % 50}"`)}\n`;
    }
    if (text.length > 1024 * 1024) {
      writeFileSync(join(folder, number === 0 ? 'journal.jsonl' : `journal-${number}.jsonl`), text);
      number += 1;
      text = '';
    }
  }
  writeFileSync(join(folder, `journal-${number}.jsonl`), text);
}
