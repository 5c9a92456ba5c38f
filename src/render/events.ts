import type { Context } from '../context.ts';
import { stringifyJson } from '../json-text.ts';
import { signOfLifeMs } from '../runs/defaults.ts';
import type { JsonObject } from '../runs/json.ts';
import type { Execution } from '../runs/service.ts';
import { identityOf } from './document.ts';
import { scrubProblem } from './output.ts';
import type { ReportedEvent, Reporter } from './reporter.ts';
import { cleanJson } from './sanitize.ts';

/**
 * `--events`: one JSON object a line on stdout as things happen. The last event carries the `--json` document: with a
 * single run, the `final` event is delayed so that it can be that last event.
 */
export function createEventReporter({ clock, stdout, secrets }: Context, runs: number): Reporter {
  let seq = 0;
  let onlyId: string | null = null;
  let heldEnd: ReportedEvent | undefined;
  const toldAtMs = new Map<string, number>();

  const print = (event: string, executionId: string | null, fields: JsonObject) => {
    seq += 1;
    const at = new Date(clock.nowMs()).toISOString();
    const json = stringifyJson(scrubProblem({ schema: 1, seq, at, event, executionId, ...fields }, secrets));
    stdout.write(`${stdout.isTTY ? cleanJson(json) : json}\n`);
  };
  const tell = (event: ReportedEvent) => {
    const { message, ...fields } = fieldsOf(event);
    const scrubbed = typeof message === 'string' ? { message: secrets.scrub(message) } : {};
    print(publicNames[event.event] ?? event.event, event.run.executionId, { ...fields, ...scrubbed });
  };

  return {
    observe(event) {
      const { executionId } = event.run;
      // A watch looks hundreds of times: only what changed is an event, and now and then a sign of life.
      if (event.event === 'status' && !event.changed) return;
      if (event.event === 'waiting') {
        if (clock.elapsedMs() - (toldAtMs.get(executionId) ?? Number.NEGATIVE_INFINITY) < signOfLifeMs) return;
        toldAtMs.set(executionId, clock.elapsedMs());
      }
      if (runs > 1) return tell(event);
      if (heldEnd) tell(heldEnd);
      if (!event.isOther) onlyId = executionId;
      heldEnd = event.event === 'final' ? event : undefined;
      if (event.event !== 'final' && event.event !== 'problem') tell(event);
    },
    // Of a single run the last line tells it.
    notStarted(target, problem) {
      if (problem && runs > 1) print('problem', null, { ...identityOf(target), problem: problem.toJSON() });
    },
    last(document, isProblem) {
      const documents = [document].flat().map((one) => scrubProblem(one, secrets));
      const [first] = documents;
      const problem = isProblem && runs === 1 ? { problem: first?.problem } : {};
      print(isProblem ? 'problem' : 'final', onlyId, {
        ...problem,
        document: Array.isArray(document) ? documents : first,
      });
    },
    // Whoever reads events reads no sentences; they would only fill a log.
    say() {},
    stop() {},
  };
}

const publicNames: Record<string, string> = { service_back: 'recovered' };

function fieldsOf(event: ReportedEvent): JsonObject {
  switch (event.event) {
    case 'triggered':
      return { ...identityOf(event.run.target), status: event.execution?.status ?? null, replayed: event.replayed };
    case 'status':
    case 'final':
      return { status: event.execution.status };
    case 'poll_failed': {
      const { fault, failures, silentMs, retryInMs, execution, ageMs } = event;
      return {
        reason: fault.kind,
        message: fault.message,
        httpStatus: fault.httpStatus ?? null,
        failures,
        quietMs: Math.round(silentMs),
        retryInMs: Math.round(retryInMs),
        ...confirmed(execution, ageMs),
      };
    }
    case 'service_back':
      return { afterMs: Math.round(event.afterMs) };
    case 'waiting':
      return { nextLookMs: Math.round(event.nextPollMs), ...confirmed(event.execution, event.ageMs) };
    case 'problem':
      return { problem: event.problem.toJSON() };
  }
}

const confirmed = (execution: Execution | undefined, ageMs: number | undefined): JsonObject => ({
  status: execution?.status ?? null,
  confirmedAgeMs: ageMs === undefined ? null : Math.round(ageMs),
});
