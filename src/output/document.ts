import { exitCodeOf } from '../core/exit-codes.ts';
import type { Failure } from '../core/failure.ts';
import type { RunEvent } from '../core/ports.ts';
import { exitNameOf, outcomeOf, type Report } from '../core/report.ts';
import { isSameAutomation, type JsonObject } from '../core/run.ts';
import { type Message, type MessageContext, messageOf } from './message.ts';
import { statusOf, tookMs } from './state.ts';

export type Warning = Extract<RunEvent, { type: 'warning' }>;

/** What `--json` prints of a report. JSON leaves out what is undefined. */
export function documentOf(
  report: Report,
  about: MessageContext,
  warnings: readonly Warning[],
): JsonObject {
  const { context, commandLine } = about;
  const outcome = outcomeOf(report);
  const message = messageOf(report, about);
  const isRunning = outcome === 'still_running' && report.kind === 'run';
  const next = isRunning ? ['watch', commandLine.run(report)] : message?.fix;
  // The outcome of a run is no failure of runctl's, unless its result is missing.
  const isFailure = outcome !== 'ok' && (report.kind !== 'run' || outcome === 'result_unavailable');
  const runctl = {
    schema: 1,
    command: context.command,
    outcome,
    exitCode: exitCodeOf(exitNameOf(report), context.signal),
    next: next ? commandLine.complete(next) : null,
    warnings: warnings.filter((one) => concerns(one, report)).map(({ text }) => text),
    ...(report.kind === 'done' ? {} : runctlFacts(report)),
    error: isFailure && message ? errorField(report, message) : undefined,
  };
  return { executionId: null, ...serviceFields(report), runctl };
}

const concerns = ({ automation }: Warning, report: Report) =>
  !automation || (report.kind !== 'done' && isSameAutomation(automation, report.automation));

/** The service's status object, with the result's fields over it, but the status that decides. */
function serviceFields(report: Report): JsonObject {
  if (report.kind === 'done') return report.document;
  const { automation, executionId = null } = report;
  const identity = {
    executionId,
    projectId: automation.projectId,
    automationName: automation.name,
  };
  const status = statusOf(report);
  const { document, result } = report.kind === 'run' ? report : {};
  const decided = status && { status: status.status };
  return { ...identity, ...(status?.document ?? document), ...result?.document, ...decided };
}

function runctlFacts(report: Exclude<Report, { kind: 'done' }>) {
  const { trigger, statusAgeMs } = report;
  const status = statusOf(report);
  return {
    durationMs: status?.isFinal ? tookMs(status, 0) : undefined,
    statusAgeMs,
    trigger: trigger && { started: trigger.started, idempotencyKey: trigger.idempotencyKey },
  };
}

function errorField(report: Report, { happened, why }: Message) {
  const { httpStatus, code, requestId, retryAfterMs }: Partial<Failure> =
    lastFailureOf(report) ?? {};
  return {
    message: why ? `${happened}: ${why}` : happened,
    httpStatus: httpStatus ?? null,
    code: code ?? null,
    requestId: requestId ?? null,
    retryAfterMs: retryAfterMs ?? null,
  };
}

/** What the last attempt got. */
function lastFailureOf(report: Report): Failure | undefined {
  if (report.kind === 'done') return undefined;
  if (report.kind === 'run') return report.resultFailure;
  return report.kind === 'unknown' ? (report.last ?? report.failure) : report.failure;
}

/** The value at a path such as `error.message` or `steps[0]`. Undefined if there is no such field. */
export function valueAt(document: unknown, path: string): unknown {
  let value = document;
  for (const key of path.replaceAll(/\[(\d+)\]/g, '.$1').split('.')) {
    if (value === null) return null;
    if (typeof value !== 'object' || !Object.hasOwn(value as object, key)) return undefined;
    value = (value as JsonObject)[key];
  }
  return value;
}
