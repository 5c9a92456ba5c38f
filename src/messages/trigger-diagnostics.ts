import {
  exitNameOfFault,
  type Fault,
  httpOf,
  isInterruption,
  remedyOf,
  retryAfterHint,
} from '../run/fault.ts';
import type { ActiveRun, OutcomeOf, TimedOut } from '../run/outcome.ts';
import type { Diagnostic } from '../run/problem.ts';
import { quotedName, shellWord } from '../run/quote.ts';
import type { Target } from '../run/run.ts';
import { formatDuration, localTime } from '../system/time-text.ts';
import type { HintContext } from './hint-context.ts';

/** The message for a trigger that certainly started no run. */
export function diagnosticWithoutRun(
  outcome: OutcomeOf<'no_run'>,
  hintContext: HintContext,
): Diagnostic {
  const { target, fault, waitEnd, interruptedBy } = outcome;
  if (interruptedBy && isInterruption(fault)) return { message: 'interrupted; no run was started' };
  if (waitEnd?.kind === 'gave_up')
    return diagnosticOfUnpolledActiveRun(target, fault, waitEnd.giveUpAfterMs);
  if (waitEnd?.kind === 'timed_out' && fault.kind === 'already_active')
    return diagnosticOfWaitTimeout(target, fault, waitEnd);
  return diagnosticOfFailure(outcome, hintContext);
}

/** The message if the trigger itself failed, rather than the wait for the active run. */
function diagnosticOfFailure(outcome: OutcomeOf<'no_run'>, hintContext: HintContext): Diagnostic {
  const { fault, isOutage, isRepeatedRefusal } = outcome;
  const { whatHappened, remedy } = explanationOf(outcome, hintContext);
  const message = whatHappened + httpOf(fault);
  if (isOutage) return { message, hint: outageHint };
  const hint =
    fault.hint ?? retryAfterHint(fault) ?? keyReuseHint(fault) ?? remedy ?? causeHint(fault);
  return isRepeatedRefusal
    ? { message, hint: `${hint}\n${repeatedHint}`, needsPerson: true }
    : { message, hint };
}

const repeatedHint =
  'The service may be repeating its answer to this idempotency key: use a new key, which starts no second run';

const nameHint = 'check the name, the project and the base URL: `runctl config list`';

const outageHint = 'the service or the network may be down; `runctl doctor` finds the cause';

interface Explanation {
  whatHappened: string;
  remedy?: string;
}

function explanationOf(
  { target, fault, active }: OutcomeOf<'no_run'>,
  hintContext: HintContext,
): Explanation {
  const name = quotedName(target);
  const failure = `no run of ${name} was started: ${fault.message}`;
  switch (fault.kind) {
    case 'already_active':
      return {
        whatHappened: `${name} ${activeText(active)}; no run was started`,
        remedy: activeHint(target, active, hintContext),
      };
    case 'key_of_finished_run':
      return {
        whatHappened: `${fault.message}; no run was started`,
        remedy: 'trigger with a new idempotency key',
      };
    case 'not_found':
      // A page may come from something other than the service, so it says nothing about the
      // Automation.
      if (fault.page !== undefined) break;
      return {
        whatHappened: isOfProject(fault)
          ? failure
          : `the service doesn't know ${name}; no run was started`,
        remedy: didYouMeanLine(target, hintContext) + nameHint,
      };
  }
  return { whatHappened: failure, remedy: remedyOf(fault) };
}

const activeText = ({ since }: ActiveRun = {}) =>
  since === undefined ? 'is already running' : `has been running since ${localTime(since)}`;

/**
 * A line with similar names. It names no command to type, because that could start a run that
 * nobody asked for.
 */
export function didYouMeanLine({ automationName }: Target, { namesLike }: HintContext): string {
  const similar = namesLike(automationName);
  return similar.length > 0 ? `did you mean ${similar.map(shellWord).join(' or ')}?\n` : '';
}

function activeHint(target: Target, active: ActiveRun = {}, { argumentOf }: HintContext): string {
  const { executionId, mayBeLost } = active;
  if (executionId !== undefined) return `\`runctl watch ${argumentOf({ target, executionId })}\``;
  return mayBeLost
    ? 'an earlier trigger whose response was lost may have started that run: `runctl recover`'
    : 'a schedule, a person or another machine may have started it; add `--if-active wait` or `--if-active skip`';
}

/**
 * Only the code of the service says that it doesn't know the project, rather than the Automation.
 */
const isOfProject = ({ serviceCode = '' }: Fault) => /project/i.test(serviceCode);

/** How to find out more, if there is no better remedy. */
function causeHint(fault: Fault): string {
  if (fault.kind === 'throttled')
    return 'try again later, or keep trying longer with `--give-up-after`';
  if (exitNameOfFault(fault) === 'rejected' && !fault.page)
    return 'add `--debug` to see the request and the response';
  return '`runctl doctor` finds the cause';
}

const keyReuseHint = ({ kind, serviceCode = '' }: Fault) =>
  kind === 'key_of_other_automation' || /idempoten/i.test(serviceCode)
    ? 'use another `--idempotency-key`: this one was used for something else'
    : undefined;

/**
 * `--timeout` ended the wait for the active run, or would expire before the service allows another
 * try.
 */
function diagnosticOfWaitTimeout(
  target: Target,
  fault: Fault,
  { timeoutMs, passedMs }: TimedOut,
): Diagnostic {
  const limit = formatDuration(timeoutMs);
  const wait = retryAfterHint(fault);
  const whatHappened = wait
    ? `is already running, and \`--timeout\` (${limit}) expires before the next try`
    : `was still running after ${formatDuration(passedMs)}`;
  return {
    message: `${quotedName(target)} ${whatHappened}; no run was started${httpOf(fault)}`,
    hint: wait ?? 'wait longer with `--timeout`',
  };
}

/** Why polling was given up. */
export const silenceText = (giveUpAfterMs: number, fault: Fault): string =>
  `no valid response for ${formatDuration(giveUpAfterMs)}, ${fault.message}`;

/** The wait for the active run ended because that run couldn't be polled any more. */
function diagnosticOfUnpolledActiveRun(
  target: Target,
  fault: Fault,
  giveUpAfterMs: number,
): Diagnostic {
  const cause = silenceText(giveUpAfterMs, fault);
  const name = quotedName(target);
  const whatHappened = `${name} is already running, but that run couldn't be polled: ${cause}`;
  return {
    message: `${whatHappened}; no run was started${httpOf(fault)}`,
    hint: fault.hint ?? retryAfterHint(fault) ?? causeHint(fault),
  };
}
