import type { Invocation } from '../context.ts';
import { endOf, exitOf, type Outcome } from '../problems/outcome.ts';
import type { LastConfirmed, WarningEvent } from '../run/events.ts';
import { exitCodeOf, publicNameOf } from '../run/exit-codes.ts';
import type { Problem } from '../run/problem.ts';
import { durationMsOf, fullNameOf, type Run, type Target } from '../run/run.ts';
import type { JsonObject } from '../system/json.ts';

/** A JSON document and what it is about, which the service's fields in it may name otherwise. */
export interface Document {
  json: JsonObject;
  run?: Run;
  target?: Target;
}

type DocumentContext = Pick<Invocation, 'command' | 'commandLine' | 'warnings' | 'secrets' | 'withFlags'>;

/** All fields of the service, and `runctl`. If status and result share a field, that of the status is newer. */
export function documentOf(outcome: Outcome, context: DocumentContext): Document {
  const { run, target = run?.target, execution, result } = outcome;
  const json: JsonObject = {
    ...(target && { executionId: run?.executionId ?? null, ...target }),
    ...result?.document,
    ...execution?.document,
    runctl: runctlOf({ ...outcome, target }, context),
  };
  // The document names the run, even if the answer of the service does not.
  if (run && typeof json.executionId !== 'string') json.executionId = run.executionId;
  return { json, run, target };
}

export const lastConfirmedOf = ({ execution, ageMs = 0 }: Omit<LastConfirmed, 'run'>) =>
  execution ? { status: execution.status, ageMs: Math.max(0, Math.round(ageMs)) } : null;

function runctlOf(outcome: Outcome, context: DocumentContext): JsonObject {
  const { command, warnings, secrets } = context;
  const { run, target, execution, problem, lastConfirmed, report } = outcome;
  const trigger = triggerOf(outcome);
  const next = problem ? nextOfProblem(problem, outcome, context) : nextAfter(outcome, context);
  const { activeExecutionId = outcome.activeExecutionId } = problem?.facts ?? {};
  const durationMs = run && execution?.isFinal ? durationMsOf(execution) : undefined;
  return {
    schema: 1,
    command,
    exitCode: exitCodeOf(exitOf(outcome)),
    outcome: publicNameOf(endOf(outcome)),
    ...(durationMs !== undefined && { durationMs }),
    next: next === undefined ? null : secrets.scrub(next),
    ...(trigger && { trigger }),
    ...(problem && { problem: problemJson(problem, secrets) }),
    warnings: warnings
      .filter((warning) => isWarningOf(warning, run, target))
      .map(({ name, message }) => ({ name, message: secrets.scrub(message) })),
    ...(activeExecutionId !== undefined && { activeExecutionId }),
    ...(lastConfirmed?.execution && { lastConfirmed: lastConfirmedOf(lastConfirmed) }),
    ...report,
  };
}

function triggerOf({ start, safeToRepeat = true }: Outcome): JsonObject | undefined {
  if (!start) return undefined;
  const { how, started, idempotencyKey } = start;
  return { how, started, idempotencyKey, safeToRepeat };
}

/** A problem may quote a service that sent the API key back, so its texts are scrubbed. */
function problemJson({ facts }: Problem, { scrub }: DocumentContext['secrets']): JsonObject {
  const { name, shownName, message, httpStatus, serviceCode, requestId, retryAfterMs } = facts;
  return {
    name: shownName ?? publicNameOf(name),
    message: scrub(message),
    httpStatus,
    serviceCode: serviceCode && scrub(serviceCode),
    requestId: requestId && scrub(requestId),
    retryAfterMs: retryAfterMs && Math.round(retryAfterMs),
  };
}

function isWarningOf(warning: WarningEvent, run: Run | undefined, target: Target | undefined): boolean {
  if (warning.run) return warning.run.executionId === run?.executionId;
  if (!warning.target) return true;
  return target !== undefined && fullNameOf(warning.target) === fullNameOf(target);
}

/** After a rate limit, the same command is the next one, if repeating it starts no second run. */
function nextOfProblem({ facts }: Problem, { start, safeToRepeat }: Outcome, context: DocumentContext) {
  const isRepeatable = facts.name === 'rate_limited' && start && safeToRepeat;
  const named = facts.isForPerson ? undefined : commandIn(facts.hint);
  if (named !== undefined) return context.withFlags(named);
  return isRepeatable ? context.commandLine : undefined;
}

/** The first command in a hint that has no placeholder. */
const commandIn = (hint = '') => /`(runctl (?![^`]*<\w+>)[^`]+)`/.exec(hint)?.[1];

function nextAfter(outcome: Outcome, { command, withFlags }: DocumentContext): string | undefined {
  const { run, execution, result, argument } = outcome;
  if (!run || argument === undefined) return undefined;
  if (!(execution ?? result)?.isFinal) return withFlags(`runctl watch ${argument}`);
  const isRead = endOf(outcome) === 'ok' || command === 'result';
  return isRead ? undefined : withFlags(`runctl result ${argument}`);
}
