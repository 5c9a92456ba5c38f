import type { Invocation } from '../context.ts';
import { type ExitName, exitCodeOf, publicNameOf } from '../problems/exit-codes.ts';
import type { Problem } from '../problems/problem.ts';
import type { HowTriggered, LastConfirmed, WarningEvent } from '../runs/events.ts';
import type { JsonObject } from '../runs/json.ts';
import type { Run, Target } from '../runs/run.ts';
import { durationMsOf } from '../runs/run.ts';
import type { Execution, RunResult } from '../runs/service.ts';
import { noteSubject } from '../runs/subject.ts';
import type { Started } from '../triggering/start-evidence.ts';

export interface TriggerFacts {
  /** How the first trigger ended, also if reruns followed. */
  how: HowTriggered;
  started: Started;
  idempotencyKey: string | null;
  /** May the same command line be repeated without a second run? */
  safeToRepeat: boolean;
  /** Ids of the runs before the one that the document describes, oldest first. */
  reruns: readonly string[];
}

/** What a document is made of: facts about a run, an automation without a run, or the command alone. */
export interface DocumentFacts {
  run?: Run;
  target?: Target;
  execution?: Execution;
  result?: RunResult;
  /** How the run or the trigger ended. By default that is the name of the problem, or `ok`. */
  outcome?: ExitName;
  /** The exit name for this document, if that is not its outcome. */
  exitName?: ExitName;
  problem?: Problem;
  trigger?: TriggerFacts;
  /** The run as an argument of a suggested command. */
  argument?: string;
  activeExecutionId?: string;
  lastConfirmed?: Omit<LastConfirmed, 'run'>;
  report?: JsonObject;
}

type DocumentContext = Pick<Invocation, 'command' | 'commandLine' | 'warnings' | 'secrets' | 'withFlags'>;

/** All fields of the service, and `runctl`. If status and result share a field, that of the status is newer. */
export function documentOf(facts: DocumentFacts, context: DocumentContext): JsonObject {
  const { run, target = run?.target, execution, result } = facts;
  const document: JsonObject = {
    ...(target && { executionId: run?.executionId ?? null, ...identityFields(target) }),
    ...result?.document,
    ...execution?.document,
    runctl: runctlOf({ ...facts, target }, context),
  };
  // The document names the run, even if the answer of the service does not.
  if (run && typeof document.executionId !== 'string') document.executionId = run.executionId;
  noteSubject(document, { executionId: run?.executionId, target });
  return document;
}

export const lastConfirmedOf = ({ execution, ageMs = 0 }: Omit<LastConfirmed, 'run'>) =>
  execution ? { status: execution.status, ageMs: Math.max(0, Math.round(ageMs)) } : null;

export function identityFields(target: Target): JsonObject {
  return target.family === 'agent'
    ? { agentId: target.agentId }
    : { projectId: target.projectId, automationName: target.automationName };
}

function runctlOf(facts: DocumentFacts, context: DocumentContext): JsonObject {
  const { command, warnings, secrets } = context;
  const { run, target, execution, problem, trigger, lastConfirmed, report } = facts;
  const outcome = problem?.facts.name ?? facts.outcome ?? 'ok';
  const next = problem ? nextOfProblem(problem, trigger, context) : nextAfter(facts, outcome, context);
  const { activeExecutionId = facts.activeExecutionId } = problem?.facts ?? {};
  const durationMs = run && execution?.isFinal ? durationMsOf(execution) : undefined;
  return {
    schema: 1,
    command,
    exitCode: exitCodeOf(facts.exitName ?? outcome),
    outcome: publicNameOf(outcome),
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
  return (
    target !== undefined && JSON.stringify(identityFields(warning.target)) === JSON.stringify(identityFields(target))
  );
}

/** After a rate limit, the same command is the next one, if repeating it starts no second run. */
function nextOfProblem({ facts }: Problem, trigger: TriggerFacts | undefined, context: DocumentContext) {
  const isRepeatable = facts.name === 'rate_limited' && trigger?.safeToRepeat === true;
  const named = commandIn(facts.hint);
  if (named !== undefined) return context.withFlags(named);
  return isRepeatable ? context.commandLine : undefined;
}

/** The first command in a hint that has no placeholder. */
const commandIn = (hint = '') => /`(runctl (?![^`]*<\w+>)[^`]+)`/.exec(hint)?.[1];

function nextAfter(
  { run, execution, result, argument }: DocumentFacts,
  outcome: ExitName,
  { command, withFlags }: DocumentContext,
): string | undefined {
  if (!run || argument === undefined) return undefined;
  if (!(execution ?? result)?.isFinal) return withFlags(`runctl watch ${argument}`);
  // Agent runs have no result.
  const isRead = outcome === 'ok' || command === 'result' || run.target.family === 'agent';
  return isRead ? undefined : withFlags(`runctl result ${argument}`);
}
