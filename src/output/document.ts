import type { CommandContext } from '../context.ts';
import { type HintContext, plainHintContext } from '../messages/hint-context.ts';
import { diagnosticOf } from '../messages/outcome-diagnostics.ts';
import { attributions } from '../run/attribution.ts';
import type { WarningEvent } from '../run/events.ts';
import { exitCodeOf, publicNameOf } from '../run/exit-codes.ts';
import { commandExitNameOf, exitNameOfOutcome, factsOf, problemNameOf } from '../run/exit-of.ts';
import type { Fault } from '../run/fault.ts';
import { type LastConfirmed, type Outcome, type TriggerInfo, targetOf } from '../run/outcome.ts';
import { commandIn, type Diagnostic, isCauseOfUnknown } from '../run/problem.ts';
import { plainSentence } from '../run/quote.ts';
import { durationMsOf, fullNameOf } from '../run/run.ts';
import type { JsonObject } from '../system/json.ts';

interface DocumentOptions {
  /** By default, nothing is known of this machine. */
  hintContext?: HintContext;
  /** Whether the command line may be repeated without a second run of any of its targets. */
  isSafeToRepeat: boolean;
}

/**
 * The document that `--json` prints for an outcome: all fields of the service, and `runctl`. If the
 * status and the result have the same field, the value of the status is taken, because it is newer.
 */
export function documentOf(
  outcome: Outcome,
  context: CommandContext,
  options: DocumentOptions,
): JsonObject {
  const { run } = outcome;
  const { snapshot, result } = factsOf(outcome);
  const sentWithoutStatus = 'document' in outcome ? outcome.document : undefined;
  const json: JsonObject = {
    ...identityOf(outcome),
    ...result?.document,
    ...(snapshot?.document ?? sentWithoutStatus),
    runctl: runctlOf(outcome, context, options),
  };
  // The document names the run, even if the response of the service does not.
  if (run && typeof json.executionId !== 'string') json.executionId = run.executionId;
  return json;
}

/** The fields that name the run and its automation. Empty if the outcome is about neither. */
function identityOf(outcome: Outcome): JsonObject {
  const target = targetOf(outcome);
  return target ? { executionId: outcome.run?.executionId ?? null, ...target } : {};
}

/**
 * The fields under `runctl`, in this order. JSON has no undefined, so a field that is undefined is
 * left out.
 */
function runctlOf(
  outcome: Outcome,
  context: CommandContext,
  { hintContext = plainHintContext, isSafeToRepeat }: DocumentOptions,
): JsonObject {
  const { snapshot, fault, lastConfirmed, activeExecutionId } = factsOf(outcome);
  const diagnostic = diagnosticOf(outcome, hintContext);
  const next = diagnostic
    ? nextAfterProblem(diagnostic, outcome, isSafeToRepeat, context)
    : nextWithoutProblem(outcome, hintContext, context);
  return {
    schema: 1,
    command: context.command,
    exitCode: exitCodeOf(commandExitNameOf(outcome)),
    outcome: publicNameOf(exitNameOfOutcome(outcome)),
    durationMs: outcome.run && snapshot?.isFinal ? durationMsOf(snapshot) : undefined,
    next: next === undefined ? null : context.secrets.scrub(next),
    trigger: triggerFieldOf(outcome.triggerInfo, isSafeToRepeat),
    problem: diagnostic && problemFieldOf(outcome, diagnostic, fault, context),
    warnings: warningsOf(outcome, context),
    activeExecutionId,
    lastConfirmed: lastConfirmed && lastConfirmedFieldOf(lastConfirmed),
    ...outcome.fields,
  };
}

function triggerFieldOf(
  triggerInfo: TriggerInfo | undefined,
  isSafeToRepeat: boolean,
): JsonObject | undefined {
  if (!triggerInfo) return undefined;
  const { attribution, idempotencyKey } = triggerInfo;
  return { ...attributions[attribution], idempotencyKey, safeToRepeat: isSafeToRepeat };
}

const lastConfirmedFieldOf = ({ snapshot, ageMs }: LastConfirmed) => ({
  status: snapshot.status,
  ageMs: Math.max(0, Math.round(ageMs)),
});

/** A problem may quote a service that sent the API key back, so its texts are scrubbed. */
function problemFieldOf(
  outcome: Outcome,
  { message }: Diagnostic,
  fault: Fault | undefined,
  { secrets }: CommandContext,
) {
  const name = problemNameOf(outcome);
  const { httpStatus, serviceCode, requestId, retryAfterMs }: Partial<Fault> = fault ?? {};
  return {
    name: isCauseOfUnknown(name) ? name : publicNameOf(name),
    message: secrets.scrub(plainSentence(message)),
    httpStatus,
    serviceCode: serviceCode && secrets.scrub(serviceCode),
    requestId: requestId && secrets.scrub(requestId),
    retryAfterMs: retryAfterMs && Math.round(retryAfterMs),
  };
}

/** The warnings about this run or automation, and those that are about none. */
function warningsOf(outcome: Outcome, { warnings, secrets }: CommandContext): JsonObject[] {
  return warnings
    .filter((warning) => concerns(warning, outcome))
    .map(({ name, message }) => ({ name, message: secrets.scrub(plainSentence(message)) }));
}

function concerns(warning: WarningEvent, outcome: Outcome): boolean {
  if (warning.run) return warning.run.executionId === outcome.run?.executionId;
  if (!warning.target) return true;
  const target = targetOf(outcome);
  return target !== undefined && fullNameOf(warning.target) === fullNameOf(target);
}

/**
 * The next command to type, or undefined if a person has to look first. After a rate limit it is
 * the same command, if repeating it starts no second run.
 */
function nextAfterProblem(
  diagnostic: Diagnostic,
  outcome: Outcome,
  isSafeToRepeat: boolean,
  context: CommandContext,
): string | undefined {
  const suggested = diagnostic.needsPerson ? undefined : commandIn(diagnostic);
  if (suggested !== undefined) return context.withFlags(suggested);
  const isRateLimited = exitNameOfOutcome(outcome) === 'rate_limited';
  return isRateLimited && outcome.triggerInfo && isSafeToRepeat ? context.commandLine : undefined;
}

/**
 * The next command to type for an outcome without a problem: watch a run that hasn't finished, or
 * read the result of a failed run.
 */
function nextWithoutProblem(
  outcome: Outcome,
  { argumentOf }: HintContext,
  context: CommandContext,
): string | undefined {
  const { run } = outcome;
  if (!run) return undefined;
  const { snapshot } = factsOf(outcome);
  if (!snapshot?.isFinal) return context.withFlags(`runctl watch ${argumentOf(run)}`);
  const needsNothing = exitNameOfOutcome(outcome) === 'ok' || context.command === 'result';
  return needsNothing ? undefined : context.withFlags(`runctl result ${argumentOf(run)}`);
}
