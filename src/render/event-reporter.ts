import type { Invocation } from '../context.ts';
import { signOfLifeMs } from '../runs/defaults.ts';
import { aboutOf, type Reporter, type RunEvent } from '../runs/events.ts';
import type { JsonObject } from '../runs/json.ts';
import { identityFields, lastConfirmedOf } from './document.ts';
import { printJson } from './output.ts';

/** `--events`: one JSON object a line on stdout as things happen; the last one is `done`. */
export function createEventReporter(context: Invocation): Reporter {
  const { clock, secrets } = context;
  let seq = 0;
  const reportedAtMs = new Map<string, number>();

  return {
    observe(event) {
      // A watch polls hundreds of times, so only changes are printed, and a wait at most once a minute.
      if (event.event === 'status' && !event.changed) return;
      if (event.event === 'waiting') {
        const key = JSON.stringify([event.for, aboutOf(event)]);
        if (clock.elapsedMs() - (reportedAtMs.get(key) ?? Number.NEGATIVE_INFINITY) < signOfLifeMs) return;
        reportedAtMs.set(key, clock.elapsedMs());
      }
      seq += 1;
      const at = new Date(clock.nowMs()).toISOString();
      const { message, ...fields } = fieldsOf(event);
      const line = {
        ...{ schema: 1, seq, at, event: event.event, ...identityOfEvent(event) },
        ...fields,
        ...(typeof message === 'string' && { message: secrets.scrub(message) }),
      };
      printJson(line, context, 0);
    },
    stop() {},
  };
}

function identityOfEvent(event: RunEvent): JsonObject {
  const { target, executionId = null } = aboutOf(event) ?? {};
  return {
    ...(event.isActiveRun ? { executionId: null, activeExecutionId: executionId } : { executionId }),
    ...(target && identityFields(target)),
  };
}

function fieldsOf(event: RunEvent): JsonObject {
  switch (event.event) {
    case 'triggered':
      return { how: event.how, status: event.execution?.status ?? null };
    case 'status':
    case 'final':
      return { status: event.execution.status };
    case 'attempt_failed': {
      const { operation, fault, failures, silentMs, retryInMs } = event;
      return {
        operation,
        reason: fault.kind,
        message: fault.message,
        httpStatus: fault.httpStatus ?? null,
        failures,
        silentMs: Math.round(silentMs),
        retryInMs: Math.round(retryInMs),
        ...(event.operation !== 'trigger' && { lastConfirmed: lastConfirmedOf(event) }),
      };
    }
    case 'service_back':
      return { afterMs: Math.round(event.afterMs) };
    case 'waiting':
      return {
        for: event.for,
        nextMs: Math.round(event.nextMs),
        ...(event.run && { lastConfirmed: lastConfirmedOf(event) }),
      };
    case 'warning':
      return { name: event.name, message: event.message };
    case 'run_done':
      return { document: event.document };
    case 'done': {
      const { exitCode, signal = null, document } = event;
      return { exitCode, signal, document };
    }
  }
}
