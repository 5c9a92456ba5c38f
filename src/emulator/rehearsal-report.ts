import { isJsonObject } from '../runs/json.ts';
import type { Target } from '../runs/run.ts';
import type { EmulatedRun } from './emulated-run.ts';
import type { Reply } from './reply.ts';
import { routeOf, type ServiceRequest } from './request.ts';

type ReportDocument = ReturnType<ReturnType<typeof createReport>['document']>;

interface ReportedRun {
  executionId: string;
  /** `lost` if the answer to its trigger was; `done` once an answer shows the run, or its second start was counted. */
  answer: 'pending' | 'lost' | 'done';
  endRead: boolean;
}

interface ReportedTarget {
  target: Target;
  requests: number;
  triggers: number;
  triggersWithoutKey: number;
  idempotencyKeys: Set<string>;
  startedTwice: number;
  runs: ReportedRun[];
}

/** What a client did to the service and what it was told, as facts. Why it did so is not known here. */
export function createReport() {
  const targets = new Map<string, ReportedTarget>();
  const runs = new Map<string, ReportedRun>();
  let requests = 0;

  function entryOf(target: Target): ReportedTarget {
    const key = JSON.stringify(target);
    const empty = { requests: 0, triggers: 0, triggersWithoutKey: 0, startedTwice: 0, runs: [] };
    const entry = targets.get(key) ?? { target, ...empty, idempotencyKeys: new Set<string>() };
    targets.set(key, entry);
    return entry;
  }

  function addTrigger(entry: ReportedTarget, { headers }: ServiceRequest): void {
    const key = headers['idempotency-key'];
    entry.triggers += 1;
    if (key) entry.idempotencyKeys.add(key);
    else entry.triggersWithoutKey += 1;
  }

  /** A run that starts while the client has not seen an earlier one, whose answer was lost, is started twice. */
  function addRun(entry: ReportedTarget, { executionId }: EmulatedRun): ReportedRun {
    const lost = entry.runs.filter(({ answer }) => answer === 'lost');
    if (lost.length > 0) entry.startedTwice += 1;
    for (const earlier of lost) earlier.answer = 'done';
    const run: ReportedRun = { executionId, answer: 'pending', endRead: false };
    entry.runs.push(run);
    runs.set(executionId, run);
    return run;
  }

  return {
    /**
     * Notes a request and the run that it started, if any. The returned function is told the reply that was sent as a
     * whole; nothing, if none was or the client did not wait for it.
     */
    add(request: ServiceRequest, started?: EmulatedRun): (sent?: Reply) => void {
      requests += 1;
      const route = routeOf(request);
      if (route.kind === 'none') return () => undefined;
      const entry = entryOf(route.target);
      entry.requests += 1;
      if (route.kind === 'trigger') addTrigger(entry, request);
      const startedRun = started && addRun(entry, started);
      return (sent) => {
        const document = sent && executionInReply(sent);
        const run = document && runs.get(document.executionId);
        if (run) run.answer = 'done';
        if (run && route.kind !== 'trigger' && document.status !== 'RUNNING') run.endRead = true;
        if (startedRun?.answer === 'pending') startedRun.answer = 'lost';
      };
    },

    /** `current` are the runs as they are now; `exitCode` is that of the command, null if there was none. */
    document(current: readonly { executionId: string; status: string }[], exitCode: number | null) {
      const statuses = new Map(current.map(({ executionId, status }) => [executionId, status]));
      const automations = [...targets.values()].map((entry) => {
        const ends = entry.runs.map(({ executionId, endRead }) => {
          const status = statuses.get(executionId) ?? 'RUNNING';
          return { executionId, status, endRead };
        });
        return {
          ...entry.target,
          requests: entry.requests,
          triggers: entry.triggers,
          idempotencyKeys: entry.idempotencyKeys.size,
          triggersWithoutKey: entry.triggersWithoutKey,
          runsStarted: ends.length,
          startedTwice: entry.startedTwice,
          endsUnread: ends.filter(({ status, endRead }) => status !== 'RUNNING' && !endRead).length,
          runs: ends,
        };
      });
      return { exitCode, requests, automations };
    },
  };
}

/** The run that a successful answer shows; undefined for any other answer. */
function executionInReply({ status, body }: Reply): { executionId: string; status: unknown } | undefined {
  if (status < 200 || status > 299) return undefined;
  try {
    const document: unknown = JSON.parse(body);
    if (!isJsonObject(document) || typeof document.executionId !== 'string') return undefined;
    return { executionId: document.executionId, status: document.status };
  } catch {
    return undefined;
  }
}

/** The report in a few lines, one for each automation. */
export function reportText({ automations, exitCode, requests }: ReportDocument): string {
  const lines = automations.map(({ triggers, triggersWithoutKey, startedTwice, endsUnread, runs, ...entry }) => {
    const keys = entry.idempotencyKeys === 0 ? 'without a key' : `with ${count(entry.idempotencyKeys, 'key')}`;
    const others = entry.idempotencyKeys > 0 && triggersWithoutKey > 0 ? ` (${triggersWithoutKey} without)` : '';
    const facts = [
      `${count(triggers, 'trigger')} ${keys}${others}`,
      `${count(runs.length, 'run')} started${startedTwice > 0 ? ` (${startedTwice} twice)` : ''}`,
      ...endsOf(runs),
      endsUnread > 0 && `${count(endsUnread, 'end')} never read`,
    ];
    return `  ${entry.automationName}: ${facts.filter(Boolean).join(', ')}`;
  });
  const command = exitCode === null ? '' : `, exit code ${exitCode}`;
  return [`report: ${count(requests, 'request')}${command}`, ...lines, ''].join('\n');
}

function endsOf(runs: readonly { status: string }[]): string[] {
  const statuses = runs.map(({ status }) => status);
  return [...new Set(statuses)].map((status) => `${statuses.filter((each) => each === status).length} ${status}`);
}

const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`;
