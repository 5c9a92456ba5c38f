import { isFinal } from '../runs/run.ts';
import type { PastRuns, RecordedRun } from '../runs/statistics.ts';
import { targetOf } from './records.ts';

const typeAt = '{"schema":1,"at":"2026-11-22T00:00:00.000Z","type":"'.length; // as `log.ts` begins a line
const lineFeed = 0x0a;
const [status, accepted, notFound] = Buffer.from('san');

/**
 * The runs in these files, oldest first, as `fold` has them, in a tenth of its time: a line that `log.ts` wrote is not
 * parsed, but searched for the few fields that are needed. Without `baseUrl`, those of every service.
 */
export function foldRecent(files: Iterable<Buffer>, baseUrl: string | undefined): PastRuns[] {
  const owners = new Map<string, Owner>();
  for (const bytes of files) {
    for (let start = 0; start < bytes.length; ) {
      const lineBreak = bytes.indexOf(lineFeed, start);
      const end = lineBreak === -1 ? bytes.length : lineBreak;
      const letter = bytes[start + typeAt];
      const namesRun = letter === status || letter === accepted || letter === notFound;
      if (namesRun && end > start + typeAt) foldLine(owners, { bytes, start, end }, letter);
      start = end + 1;
    }
  }
  const wanted = [...owners.values()].filter((owner) => baseUrl === undefined || owner.baseUrl === baseUrl);
  return wanted.map(({ runs, ...owner }) => ({ ...owner, runs: [...runs.values()] }));
}

type Owner = Omit<PastRuns, 'runs'> & { runs: Map<string, RecordedRun> };

interface Place {
  bytes: Buffer;
  start: number;
  end: number;
}

/** Adds what a line says; one that is torn or foreign or names no run says nothing. */
function foldLine(owners: Map<string, Owner>, { bytes, start, end }: Place, letter: number | undefined): void {
  // The characters of Latin-1 have the same positions as the bytes.
  const line = bytes.toString('latin1', start, end);
  const nameAt = line.indexOf('"baseUrl":"', typeAt);
  // `","` ends a JSON string: within one, quotation marks are escaped.
  const nameEnd = line.indexOf('","', line.indexOf('","target":"', nameAt) + 3) + 1;
  const idAt = line.indexOf(idField, nameEnd) + idField.length;
  if (!line.endsWith('}') || nameAt === -1 || nameEnd === 0 || idAt < nameEnd) return;
  const owner = ownerOf(line.slice(nameAt, nameEnd), owners);
  // A substring would keep the whole line in memory.
  const id = bytes.toString('latin1', start + idAt, start + line.indexOf('"', idAt)).toLowerCase();
  let run = owner.runs.get(id);
  if (!run) {
    const atMs = Date.parse(line.slice(typeAt - 34, typeAt - 10));
    run = { status: null, startedMs: null, endedMs: null, credits: null, atMs };
    owner.runs.set(id, run);
  }
  const isFinished = run.status !== null && run.status !== 'RUNNING' && isFinal(owner.target, run.status);
  if (letter === notFound) {
    if (!isFinished) run.status = null;
    return;
  }
  if (!isFinished) run.status = textAfter('"status":"', line, idAt) ?? 'RUNNING';
  if (letter === accepted && !isFinished && run.status === 'RUNNING') return;
  run.startedMs = timeAfter('"startedAt":"', line, idAt) ?? run.startedMs;
  run.endedMs = timeAfter('"completedAt":"', line, idAt) ?? run.endedMs;
  const creditsAt = line.indexOf(creditsField, idAt);
  if (creditsAt !== -1) run.credits = Number.parseFloat(line.slice(creditsAt + creditsField.length));
}

const idField = '"executionId":"';
const creditsField = '"creditsCharged":';

function ownerOf(names: string, owners: Map<string, Owner>): Owner {
  const known = owners.get(names);
  if (known) return known;
  const json = Buffer.from(`{${names}}`, 'latin1').toString();
  const { baseUrl, target } = JSON.parse(json) as { baseUrl: string; target: string };
  const owner = { baseUrl, target: targetOf(target), runs: new Map() };
  owners.set(names, owner);
  return owner;
}

function textAfter(field: string, line: string, from: number): string | undefined {
  const at = line.indexOf(field, from);
  if (at === -1) return undefined;
  const begin = at + field.length;
  return line.slice(begin, line.indexOf('"', begin));
}

function timeAfter(field: string, line: string, from: number): number | undefined {
  const text = textAfter(field, line, from);
  return text === undefined ? undefined : Date.parse(text);
}
