import { mayBeEarlierRun } from '../run/attribution.ts';
import {
  exitNameOfFault,
  type Fault,
  type FaultKind,
  httpOf,
  isAborted,
  reasonOf,
  remedyOf,
  retryAfterHint,
} from '../run/fault.ts';
import { maxIdempotencyKey } from '../run/limits.ts';
import type { LastConfirmed, OutcomeOf, TriggerInfo, WatchEnd } from '../run/outcome.ts';
import type { Diagnostic } from '../run/problem.ts';
import { shellWord } from '../run/quote.ts';
import { fullNameOf, quotedName, type Run } from '../run/run.ts';
import type { RunResource } from '../run/service.ts';
import { isKnownStatus, isSuccess } from '../run/statuses.ts';
import { formatDuration, localTime } from '../system/time-text.ts';
import type { HintContext } from './hint-context.ts';
import { didYouMeanLine, silenceText } from './trigger-diagnostics.ts';

/** The message for a run that wasn't watched to its end. */
export function diagnosticOfWatchEnd(
  { run, triggerInfo, end, lastConfirmed, startedWithThisApiKey }: OutcomeOf<'watch_ended'>,
  hintContext: HintContext,
): Diagnostic {
  const name = quotedName(run.target);
  switch (end.kind) {
    case 'timed_out':
      return diagnosticOfTimeout(run, end, lastConfirmed, hintContext);
    case 'gave_up':
      return diagnosticOfSilence(run, end, lastConfirmed, hintContext);
    case 'cannot_poll':
      return isNotFoundRunOfKey(end.fault, triggerInfo)
        ? diagnosticOfNotFoundRun({ run, triggerInfo, fault: end.fault, lastConfirmed }, ' --watch')
        : diagnosticOfRefusedPoll(
            { run, fault: end.fault, lastConfirmed, startedWithThisApiKey },
            hintContext,
          );
    case 'signal':
      return {
        message: `stopped watching ${name}; the run continues${askedWait(end.retryAfterUntilMs)}`,
        hint: resume(run, hintContext),
      };
  }
}

const again = (command: string, run: Run, { argumentOf }: HintContext) =>
  `\`runctl ${command} ${argumentOf(run)}\``;
const resume = (run: Run, hintContext: HintContext) => again('watch', run, hintContext);

const askedWait = (untilMs: number | undefined): string =>
  untilMs === undefined
    ? ''
    : ` (it was waiting until ${localTime(untilMs)}, as the service had asked)`;

const lastConfirmedClause = (lastConfirmed: LastConfirmed | undefined) =>
  lastConfirmed
    ? `last confirmed ${lastConfirmed.snapshot.status} ${formatDuration(lastConfirmed.ageMs)} ago`
    : 'its status was never confirmed';

function diagnosticOfTimeout(
  run: Run,
  { passedMs, fault }: Extract<WatchEnd, { kind: 'timed_out' }>,
  lastConfirmed: LastConfirmed | undefined,
  hintContext: HintContext,
): Diagnostic {
  const wait = fault && retryAfterHint(fault);
  const cause = fault ? `: ${fault.message}` : '';
  const http = fault ? httpOf(fault) : '';
  const name = quotedName(run.target);
  const happened = `stopped watching ${name} after ${formatDuration(passedMs)}${cause}`;
  const state = whetherItContinues(lastConfirmed) + lastConfirmedClause(lastConfirmed);
  return {
    message: `${happened}; ${state}${http}`,
    hint: wait ? `${wait}, then: ${resume(run, hintContext)}` : resume(run, hintContext),
  };
}

function whetherItContinues(lastConfirmed: LastConfirmed | undefined): string {
  if (lastConfirmed?.snapshot.isFinal) return '';
  const isKnown = lastConfirmed === undefined || isKnownStatus(lastConfirmed.snapshot.status);
  return isKnown ? 'the run continues, ' : 'the run may have finished, ';
}

function diagnosticOfSilence(
  run: Run,
  { giveUpAfterMs, fault }: Extract<WatchEnd, { kind: 'gave_up' }>,
  lastConfirmed: LastConfirmed | undefined,
  hintContext: HintContext,
): Diagnostic {
  const wait = retryAfterHint(fault);
  const cause = silenceText(giveUpAfterMs, fault);
  const failure = `${quotedName(run.target)} couldn't be followed: ${cause}`;
  const state = lastConfirmed?.snapshot.isFinal ? '' : 'the run may still be running, ';
  return {
    message: `${failure}; ${state}${lastConfirmedClause(lastConfirmed)}${httpOf(fault)}`,
    hint: wait
      ? `${wait}, then: ${resume(run, hintContext)}`
      : (fault.hint ?? resume(run, hintContext)),
  };
}

/** After the API key is replaced, the run can be watched again. */
function diagnosticOfRefusedPoll(failure: FailedRequest, hintContext: HintContext): Diagnostic {
  const diagnostic = diagnosticOfFailedRequest({ ...failure, resource: 'status' }, hintContext);
  if (exitNameOfFault(failure.fault) !== 'unauthorized') return diagnostic;
  return { ...diagnostic, hint: `${diagnostic.hint}, then: ${resume(failure.run, hintContext)}` };
}

interface FailedRequest {
  run: Run;
  fault: Fault;
  lastConfirmed?: LastConfirmed;
  startedWithThisApiKey?: boolean;
}

/** A status or a result couldn't be read. */
export function diagnosticOfFailedRequest(
  failure: FailedRequest & { resource: RunResource; triggerInfo?: TriggerInfo; isOutage?: boolean },
  hintContext: HintContext,
): Diagnostic {
  const { run, triggerInfo, resource, fault, lastConfirmed, isOutage, startedWithThisApiKey } =
    failure;
  if (isNotFoundRunOfKey(fault, triggerInfo))
    return diagnosticOfNotFoundRun({ run, triggerInfo, fault, lastConfirmed });
  const retry = again(resource, run, hintContext);
  if (isAborted(fault)) return { message: 'interrupted', hint: retry };
  const isNotFound = exitNameOfFault(fault) === 'not_found' && !fault.page;
  const happened = isNotFound
    ? notFoundText(run, fault, lastConfirmed)
    : unreadText(resource, run, fault, lastConfirmed);
  const message = happened + httpOf(fault);
  if (isOutage)
    return { message, hint: `the service or the network may be down; try again: ${retry}` };
  const hint = fault.hint ?? retryAfterHint(fault) ?? remedyOf(fault);
  return {
    message,
    hint: hint ?? (isNotFound ? notFoundHint(run, startedWithThisApiKey, hintContext) : retry),
  };
}

function unreadText(
  resource: RunResource,
  run: Run,
  fault: Fault,
  lastConfirmed: LastConfirmed | undefined,
): string {
  const state = lastConfirmed ? `, ${lastConfirmedClause(lastConfirmed)}` : '';
  return failedRequestTexts[resource](quotedName(run.target), fault.message) + state;
}

/** A text for each resource says whether the run is affected. */
const failedRequestTexts: Record<RunResource, (name: string, cause: string) => string> = {
  status: (name, cause) =>
    `the status of ${name} couldn't be read: ${cause}; the run is not affected`,
  result: (name, cause) =>
    `the result of ${name} couldn't be read: ${cause}; the run is not affected`,
};

/**
 * Is it a run that an idempotency key started which the user gave, and that the service doesn't
 * know any more?
 */
const isNotFoundRunOfKey = (
  { kind }: Fault,
  triggerInfo: TriggerInfo | undefined,
): triggerInfo is TriggerInfo =>
  kind === 'not_found' && triggerInfo !== undefined && mayBeEarlierRun(triggerInfo.attribution);

interface NotFoundRun {
  run: Run;
  triggerInfo: TriggerInfo;
  fault: Fault;
  lastConfirmed?: LastConfirmed;
}

/** The key that started it never starts another run, so only a new one does. */
function diagnosticOfNotFoundRun(
  { run, triggerInfo, fault, lastConfirmed }: NotFoundRun,
  flag = '',
): Diagnostic {
  const { idempotencyKey } = triggerInfo;
  const name = quotedName(run.target);
  const state = lastConfirmed ? `, ${lastConfirmedClause(lastConfirmed)}` : '';
  // A key that is derived from the old one is the same each time the command is repeated, so it
  // starts only one run.
  const newKey = `${idempotencyKey?.slice(0, maxIdempotencyKey - 2)}-2`;
  const keyFlag = `--idempotency-key ${shellWord(newKey)}`;
  const trigger = `runctl trigger ${shellWord(fullNameOf(run.target))}${flag} ${keyFlag}`;
  const unknownRun = `the service doesn't know run ${run.executionId} of ${name}`;
  const happened = `${unknownRun}, which the idempotency key ${idempotencyKey} started`;
  return {
    message: `${happened}${state}${httpOf(fault)}`,
    hint: `${newKeyHint}: \`${trigger}\``,
  };
}

function notFoundText(run: Run, fault: Fault, lastConfirmed: LastConfirmed | undefined): string {
  const name = quotedName(run.target);
  const { executionId } = run;
  if (lastConfirmed) {
    const state = lastConfirmedClause(lastConfirmed);
    return `the service doesn't know run ${executionId} of ${name}, ${state}`;
  }
  const orElse = fault.kind === 'path_not_found' ? ', or the base URL is wrong' : '';
  return `${name} has no run ${executionId}${orElse}`;
}

const newKeyHint = 'if you still want this run, trigger again with a new idempotency key';

/**
 * What to do about a run that the service doesn't know. `startedWithThisApiKey`: the API key that asked is the
 * one that started it.
 */
function notFoundHint(
  { target }: Run,
  startedWithThisApiKey: boolean | undefined,
  hintContext: HintContext,
): string {
  if (startedWithThisApiKey) return `perhaps the service was restored from a backup; ${newKeyHint}`;
  const listed = hintContext.hasJournal ? '; `runctl list` shows the runs of this machine' : '';
  const near = didYouMeanLine(target, hintContext);
  return `${near}check the id, the project and the automation${listed}`;
}

/**
 * The run has finished, but its result couldn't be read, or the user didn't wait for it. Undefined
 * if that changes nothing.
 */
export function diagnosticOfUnreadResult(
  { run, snapshot, requestFault }: OutcomeOf<'status'>,
  hintContext: HintContext,
): Diagnostic | undefined {
  if (!requestFault) return undefined;
  const happened = `${quotedName(run.target)} finished ${snapshot.status}, but its result`;
  const hint = again('result', run, hintContext);
  if (isAborted(requestFault)) return { message: `interrupted; ${happened} was not read`, hint };
  if (!isSuccess(snapshot.status)) return undefined;
  const showStatus = again('status', run, hintContext);
  const hints: Partial<Record<FaultKind, string>> = {
    too_large: `results of up to 64 MiB can be read; to see the run: ${showStatus}`,
    unauthorized: requestFault.hint ?? remedyOf(requestFault),
  };
  return {
    message: `${happened} couldn't be read: ${reasonOf(requestFault)}`,
    hint: hints[requestFault.kind] ?? requestFault.hint ?? retryAfterHint(requestFault) ?? hint,
  };
}
