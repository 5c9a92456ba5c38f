import { closeSync, constants, fdatasyncSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pid } from 'node:process';
import { openOwn } from '../open-own.ts';
import { isFinal, lastStatusOf } from '../runs/run.ts';
import { filesIn, type JournalFile, readFile } from './files.ts';
import { fold, type Trigger } from './fold.ts';
import { isOfHook, type JournalRecord, recordsIn, runIdOf, triggerIdOf } from './records.ts';

export const keptRuns = 30; // how many finished runs of each target and status a checkpoint keeps

export interface Digest {
  files: JournalFile[];
  omitted: ReadonlySet<string>; // the statuses of the finished runs that are left out, in upper case
}

type Covered = [number: number, size: number, mtimeMs: number]; // of a file; one that has changed has another size or time

interface Checkpoint {
  covered: Covered[];
  omitted: string[];
  bytes: Buffer; // the records that are kept, as they stand in the journal
}

const name = 'checkpoint.jsonl';
const rules = 1; // increase this with every change of what is kept
// The newest two files may still grow: another process may not have noticed that one of them is full.
const growing = 2;
// A long journal gets its first checkpoint in steps, since each file takes 50 ms.
const filesAtOnce = 4;

/** The files to read for what a checkpoint keeps (docs/architecture.md); undefined if one cannot be read. */
export function createDigests(folder: string): () => Digest | undefined {
  let last: Checkpoint | undefined;
  return () => {
    try {
      const files = filesIn(folder);
      const full = files.slice(growing).reverse();
      if (full.length === 0) return { files, omitted: new Set() };
      // This comes before the files are read, so that what is written meanwhile is noticed the next time.
      const covered = full.map(coveredOf);
      const known = isUpToDate(last, covered) ? last : readCheckpoint(folder, covered);
      const unread = full.filter(({ number }) => number > newestOf(known)).slice(0, filesAtOnce);
      last = unread.length === 0 ? known : extend(known, unread, covered);
      if (last && last !== known) writeCheckpoint(folder, last);
      const checkpoint = { path: join(folder, name), number: -1, bytes: last?.bytes };
      const rest = files.filter(({ number }) => number > newestOf(last));
      return { files: [...rest, checkpoint], omitted: new Set(last?.omitted) };
    } catch {
      return undefined;
    }
  };
}

function coveredOf({ path, number }: JournalFile): Covered {
  const { size, mtimeMs } = statSync(path);
  return [number, size, mtimeMs];
}

const newestOf = (known: Checkpoint | undefined) => known?.covered.at(-1)?.[0] ?? -1;

/** Are the covered files as they were, except for old ones that were removed? */
function isUpToDate(known: Checkpoint | undefined, full: readonly Covered[]): known is Checkpoint {
  const newest = newestOf(known);
  const covered = new Set(known?.covered.map(String));
  return (
    full.some(([number]) => number === newest) && full.every((file) => file[0] > newest || covered.has(String(file)))
  );
}

function readCheckpoint(folder: string, full: readonly Covered[]): Checkpoint | undefined {
  try {
    const bytes = readFile(join(folder, name));
    const header = JSON.parse(bytes.toString('utf8', 0, bytes.indexOf('\n')));
    const known = { covered: header.covered, omitted: header.omitted, bytes };
    const isWhole = header.rules === rules && bytes.toString('latin1', bytes.length - ending.length) === ending;
    return isWhole && isUpToDate(known, full) ? known : undefined;
  } catch {
    return undefined;
  }
}

/** This follows the last record; a file without it is torn. */
const ending = '\n{"end":true}\n';

/** Writes the checkpoint for other processes; if that fails, each of them makes its own. */
function writeCheckpoint(folder: string, { bytes }: Checkpoint): void {
  const path = join(folder, name);
  const temporary = `${path}.${pid}`;
  try {
    const fd = openOwn(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL);
    try {
      writeFileSync(fd, bytes);
      fdatasyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(temporary, path);
  } catch {
    rmSync(temporary, { force: true });
  }
}

function extend(known: Checkpoint | undefined, unread: readonly JournalFile[], full: readonly Covered[]): Checkpoint {
  const newest = unread.at(-1)?.number ?? -1;
  const covered = full.filter(([number]) => number <= newest);
  const omitted = new Set(known?.omitted);
  const all = [known?.bytes ?? Buffer.of(), ...unread.map(({ path }) => readFile(path))].flatMap(recordsIn);
  const kept = selectKept(all, omitted);
  const header = { schema: 1, at: kept[0]?.at ?? '', type: 'checkpoint', rules, covered, omitted: [...omitted] };
  const text = [header, ...kept].map((each) => JSON.stringify(each)).join('\n') + ending;
  return { covered, omitted: header.omitted, bytes: Buffer.from(text) };
}

/** The records that a checkpoint keeps. Adds the statuses of the runs that it leaves out to `omitted`. */
function selectKept(records: readonly JournalRecord[], omitted: Set<string>): JournalRecord[] {
  const { entries, triggers } = fold(records);
  const kept = new Set<string>();
  const counts = new Map<string, number>();
  for (const { run } of entries.toReversed()) {
    if (!run || run.executionId === null) continue;
    const { baseUrl, target, executionId, status } = run;
    const isFinished = status === null || isFinal(target, status);
    const kind = JSON.stringify([baseUrl, target, status]);
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    if (!isFinished || count <= keptRuns) kept.add(runIdOf({ baseUrl, executionId }));
    else omitted.add(lastStatusOf(run).toUpperCase());
  }
  const isKeptTrigger = (baseUrl: string, { executionId, attempts, superseded, lastSentAt }: Trigger) =>
    executionId === undefined
      ? attempts.length > 0 || superseded !== undefined || lastSentAt !== undefined
      : kept.has(runIdOf({ baseUrl, executionId }));
  return records.filter((record) => {
    if (isOfHook(record)) return false;
    if ('executionId' in record && kept.has(runIdOf(record))) return true;
    const trigger = 'idempotencyKey' in record ? triggers.get(triggerIdOf(record)) : undefined;
    return trigger !== undefined && isKeptTrigger(record.baseUrl, trigger);
  });
}
