import { isFinal } from '../runs/run.ts';
import type { RecordedRun } from '../runs/statistics.ts';
import { targetOf } from './records.ts';

// How `log.ts` begins a line, up to its type.
const typeAt = '{"schema":1,"at":"2026-11-22T00:00:00.000Z","type":"'.length;
const lineFeed = 0x0a;
// The types of the records that name a run begin with these, and `superseded`.
const [status, accepted, notFound] = Buffer.from('san');

/**
 * The runs that the lines of these files name, the oldest first, as `fold` has them, in a tenth of its time: a line that
 * `log.ts` wrote is not parsed, but searched for the few fields that are needed. `baseUrl` is undefined for every service.
 */
export function foldRecent(files: Iterable<Buffer>, baseUrl: string | undefined): RecordedRun[] {
  // By the part of a line that names the base URL and the target, then by id.
  const owners = new Map<string, Owner>();
  for (const bytes of files) {
    for (let start = 0; start < bytes.length; ) {
      const lineBreak = bytes.indexOf(lineFeed, start);
      const end = lineBreak === -1 ? bytes.length : lineBreak;
      const letter = bytes[start + typeAt];
      const namesRun = letter === status || letter === accepted || letter === notFound;
      if (namesRun && end > start + typeAt) learn(owners, bytes.toString('utf8', start, end), letter === notFound);
      start = end + 1;
    }
  }
  const wanted = [...owners.values()].filter((owner) => baseUrl === undefined || owner.baseUrl === baseUrl);
  return wanted.flatMap(({ runs }) => [...runs.values()]);
}

type Owner = Pick<RecordedRun, 'baseUrl' | 'target'> & { runs: Map<string, RecordedRun> };

/** Adds what a line says; nothing for one that is torn or foreign, or that names no run. */
function learn(owners: Map<string, Owner>, line: string, isForgotten: boolean): void {
  const nameAt = line.indexOf('"baseUrl":"', typeAt);
  // Within a JSON string no two quotation marks have but a comma between them.
  const nameEnd = line.indexOf('","', line.indexOf('","target":"', nameAt) + 3) + 1;
  const executionId = textAfter('"executionId":"', line, nameEnd);
  if (!line.endsWith('}') || nameAt === -1 || nameEnd === 0 || executionId === undefined) return;
  const owner = ownerOf(line.slice(nameAt, nameEnd), owners);
  const id = executionId.toLowerCase();
  let run = owner.runs.get(id);
  if (!run) {
    const { baseUrl, target } = owner;
    const atMs = Date.parse(line.slice(typeAt - 34, typeAt - 10));
    run = { baseUrl, target, status: null, startedMs: null, endedMs: null, credits: null, atMs };
    owner.runs.set(id, run);
  }
  const isFinished = run.status !== null && isFinal(run.target, run.status);
  if (isForgotten) {
    if (!isFinished) run.status = null;
    return;
  }
  if (!isFinished) run.status = textAfter('"status":"', line, nameEnd) ?? 'RUNNING';
  run.startedMs = timeAfter('"startedAt":"', line, nameEnd) ?? run.startedMs;
  run.endedMs = timeAfter('"completedAt":"', line, nameEnd) ?? run.endedMs;
  const creditsAt = line.indexOf(creditsField, nameEnd);
  if (creditsAt !== -1) run.credits = Number.parseFloat(line.slice(creditsAt + creditsField.length));
}

const creditsField = '"creditsCharged":';

function ownerOf(names: string, owners: Map<string, Owner>): Owner {
  const known = owners.get(names);
  if (known) return known;
  const { baseUrl, target } = JSON.parse(`{${names}}`) as { baseUrl: string; target: string };
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
