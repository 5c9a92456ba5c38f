import { mayBeEarlierRun } from '../run/attribution.ts';
import {
  exitNameOfFault,
  type Fault,
  type FaultKind,
  hintOf,
  httpOf,
  isInterruption,
  reasonOf,
  remedyOf,
  retryAfterHint,
} from '../run/fault.ts';
import { maxIdempotencyKey } from '../run/limits.ts';
import type { LastConfirmed, OutcomeOf, TriggerInfo, WatchEnd } from '../run/outcome.ts';
import type { Diagnostic } from '../run/problem.ts';
import { quotedName, shellWord } from '../run/quote.ts';
import { fullNameOf, type Run } from '../run/run.ts';
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
    case 'cannot_poll': {
      const { fault } = end;
      const poll = { run, triggerInfo, resource: 'status', fault, lastConfirmed } as const;
      return diagnosticOfCannotPoll({ ...poll, startedWithThisApiKey }, hintContext);
    }
    case 'interrupted': {
      const waited = retryAfterText(end.retryAfterUntilMs);
      return {
        message: `stopped watching ${name}; the run continues${waited}`,
        hint: watchCommand(run, hintContext),
      };
    }
  }
}

const commandFor = (command: string, run: Run, { argumentOf }: HintContext) =>
  `\`runctl ${command} ${argumentOf(run)}\``;
const watchCommand = (run: Run, hintContext: HintContext) => commandFor('watch', run, hintContext);

const retryAfterText = (untilMs: number | undefined): string =>
  untilMs === undefined
    ? ''
    : ` (it was waiting until ${localTime(untilMs)}, as the service had asked)`;

const lastConfirmedText = (lastConfirmed: LastConfirmed | undefined) =>
  lastConfirmed
    ? `last confirmed ${lastConfirmed.snapshot.status} ${formatDuration(lastConfirmed.ageMs)} ago`
    : 'its status was never confirmed';

/** The last status for the end of a sentence. Empty if there is none. */
const lastConfirmedSuffix = (lastConfirmed: LastConfirmed | undefined) =>
  lastConfirmed ? `, ${lastConfirmedText(lastConfirmed)}` : '';

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
  const whatHappened = `stopped watching ${name} after ${formatDuration(passedMs)}${cause}`;
  const status = whetherItContinues(lastConfirmed) + lastConfirmedText(lastConfirmed);
  return {
    message: `${whatHappened}; ${status}${http}`,
    hint: wait
      ? `${wait}, then: ${watchCommand(run, hintContext)}`
      : watchCommand(run, hintContext),
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
  const whetherItRuns = lastConfirmed?.snapshot.isFinal ? '' : 'the run may still be running, ';
  return {
    message: `${failure}; ${whetherItRuns}${lastConfirmedText(lastConfirmed)}${httpOf(fault)}`,
    hint: wait
      ? `${wait}, then: ${watchCommand(run, hintContext)}`
      : (fault.hint ?? watchCommand(run, hintContext)),
  };
}

/** No further poll would succeed. */
function diagnosticOfCannotPoll(poll: FailedRequest, hintContext: HintContext): Diagnostic {
  if (isNotFoundRunOfKey(poll)) return diagnosticOfNotFoundRun(poll, ' --watch');
  const diagnostic = diagnosticOfFailedRequest(poll, hintContext);
  if (exitNameOfFault(poll.fault) !== 'unauthorized') return diagnostic;
  // Once the API key is replaced, the run can be watched again.
  const watch = watchCommand(poll.run, hintContext);
  return { ...diagnostic, hint: `${diagnostic.hint}, then: ${watch}` };
}

type FailedRequest = Omit<OutcomeOf<'request_failed'>, 'kind'>;

/** A status or a result couldn't be read. */
export function diagnosticOfFailedRequest(
  request: FailedRequest,
  hintContext: HintContext,
): Diagnostic {
  if (isNotFoundRunOfKey(request)) return diagnosticOfNotFoundRun(request);
  const { run, resource, fault, lastConfirmed, isOutage, startedWithThisApiKey } = request;
  const retryCommand = commandFor(resource, run, hintContext);
  if (isInterruption(fault)) return { message: 'interrupted', hint: retryCommand };
  const isNotFound = exitNameOfFault(fault) === 'not_found' && !fault.page;
  const whatHappened = isNotFound
    ? notFoundText(run, fault, lastConfirmed)
    : unreadText(resource, run, fault, lastConfirmed);
  const message = whatHappened + httpOf(fault);
  if (isOutage)
    return { message, hint: `the service or the network may be down; try again: ${retryCommand}` };
  const fallback = isNotFound
    ? notFoundHint(run, startedWithThisApiKey, hintContext)
    : retryCommand;
  return { message, hint: hintOf(fault, fallback) };
}

function unreadText(
  resource: RunResource,
  run: Run,
  fault: Fault,
  lastConfirmed: LastConfirmed | undefined,
): string {
  const whatHappened = failedRequestTexts[resource](quotedName(run.target), fault.message);
  return whatHappened + lastConfirmedSuffix(lastConfirmed);
}

/** A text for each resource says whether the run is affected. */
const failedRequestTexts: Record<RunResource, (name: string, cause: string) => string> = {
  status: (name, cause) =>
    `the status of ${name} couldn't be read: ${cause}; the run is not affected`,
  result: (name, cause) =>
    `the result of ${name} couldn't be read: ${cause}; the run is not affected`,
};

type NotFoundRunOfKey = FailedRequest & { triggerInfo: TriggerInfo };

/**
 * Whether the service doesn't know the run any more, and it was started by an idempotency key that
 * the user gave.
 */
const isNotFoundRunOfKey = (request: FailedRequest): request is NotFoundRunOfKey =>
  request.fault.kind === 'not_found' &&
  request.triggerInfo !== undefined &&
  mayBeEarlierRun(request.triggerInfo.attribution);

/** The key that started it never starts another run, so only a new one does. */
function diagnosticOfNotFoundRun(
  { run, triggerInfo, fault, lastConfirmed }: NotFoundRunOfKey,
  flag = '',
): Diagnostic {
  const { idempotencyKey } = triggerInfo;
  const name = quotedName(run.target);
  // A key that is derived from the old one is the same each time the command is repeated, so it
  // starts only one run.
  const newKey = `${idempotencyKey?.slice(0, maxIdempotencyKey - 2)}-2`;
  const keyFlag = `--idempotency-key ${shellWord(newKey)}`;
  const trigger = `runctl trigger ${shellWord(fullNameOf(run.target))}${flag} ${keyFlag}`;
  const unknownRun = `the service doesn't know run ${run.executionId} of ${name}`;
  const whatHappened = `${unknownRun}, which the idempotency key ${idempotencyKey} started`;
  return {
    message: `${whatHappened}${lastConfirmedSuffix(lastConfirmed)}${httpOf(fault)}`,
    hint: `${newKeyHint}: \`${trigger}\``,
  };
}

function notFoundText(run: Run, fault: Fault, lastConfirmed: LastConfirmed | undefined): string {
  const name = quotedName(run.target);
  const { executionId } = run;
  if (lastConfirmed)
    return `the service doesn't know run ${executionId} of ${name}, ${lastConfirmedText(lastConfirmed)}`;
  const otherCause = fault.kind === 'path_not_found' ? ', or the base URL is wrong' : '';
  return `${name} has no run ${executionId}${otherCause}`;
}

const newKeyHint = 'if you still want this run, trigger again with a new idempotency key';

/** What to do about a run that the service doesn't know. */
function notFoundHint(
  { target }: Run,
  startedWithThisApiKey: boolean | undefined,
  hintContext: HintContext,
): string {
  if (startedWithThisApiKey) return `perhaps the service was restored from a backup; ${newKeyHint}`;
  const listed = hintContext.hasJournal ? '; `runctl list` shows the runs of this machine' : '';
  const didYouMean = didYouMeanLine(target, hintContext);
  return `${didYouMean}check the id, the project and the automation${listed}`;
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
  const whatHappened = `${quotedName(run.target)} finished ${snapshot.status}, but its result`;
  const hint = commandFor('result', run, hintContext);
  if (isInterruption(requestFault))
    return { message: `interrupted; ${whatHappened} was not read`, hint };
  if (!isSuccess(snapshot.status)) return undefined;
  const statusCommand = commandFor('status', run, hintContext);
  const hints: Partial<Record<FaultKind, string>> = {
    too_large: `results of up to 64 MiB can be read; to see the run: ${statusCommand}`,
    unauthorized: requestFault.hint ?? remedyOf(requestFault),
  };
  return {
    message: `${whatHappened} couldn't be read: ${reasonOf(requestFault)}`,
    hint: hints[requestFault.kind] ?? requestFault.hint ?? retryAfterHint(requestFault) ?? hint,
  };
}
