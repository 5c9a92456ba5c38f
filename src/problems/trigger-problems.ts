import { interruptNameOf } from '../run/exit-codes.ts';
import {
  exitNameOf,
  exitNameOfSilence,
  type Fault,
  type FaultKind,
  faultFields,
  httpOf,
  remedyOf,
  retryAfterHint,
} from '../run/fault.ts';
import { Problem } from '../run/problem.ts';
import { fullArgumentOf } from '../run/quote.ts';
import { nameOf } from '../run/run.ts';
import { formatDuration, localTime } from '../system/time-text.ts';
import type { FailedTrigger, TriggerIdentity } from '../triggering/send-until-known.ts';
import {
  expiredKeyProblem,
  interruptedTriggerProblem,
  type UnknownTrigger,
  unknownTriggerProblem,
} from './unknown-outcome.ts';

type Identity = Pick<TriggerIdentity, 'target' | 'idempotencyKey'>;

/** The problem for a trigger that has no known run. */
export function triggerProblem(result: FailedTrigger, trigger: UnknownTrigger, signal: AbortSignal): Problem {
  if (result.fault.kind === 'stale_key') return expiredKeyProblem(trigger);
  switch (result.kind) {
    case 'refused':
      return refusedTriggerProblem(result.fault, trigger);
    case 'unknown':
      return unknownTriggerProblem(result.fault, trigger);
    case 'interrupted':
      return result.mayHaveStarted ? interruptedTriggerProblem(signal, trigger) : noRunProblem(signal);
  }
}

/** A trigger that definitely started no run. `active` is the active run as an argument, with its start time. */
export function refusedTriggerProblem(
  fault: Fault,
  { target, active }: Pick<Identity, 'target'> & { active?: { argument: string; since?: string } },
): Problem {
  const name = nameOf(target);
  const activeHint = fault.executionId
    ? `\`runctl watch ${active?.argument ?? fullArgumentOf({ target, executionId: fault.executionId })}\``
    : 'a schedule, a person or another machine may have started it; add `--if-active wait` or `--if-active skip`';
  const since = active?.since === undefined ? '' : ` since ${localTime(active.since)}`;
  const failure = `${name} couldn't be triggered: ${fault.message}`;
  const known: Partial<Record<FaultKind, (string | undefined)[]>> = {
    already_active: [`${name} is already running${since}`, activeHint],
    not_found: [isOfProject(fault) ? failure : `the service doesn't know ${name}`, unknownNameHint],
  };
  if (fault.page) known.not_found = undefined;
  const [happened, remedy] = known[fault.kind] ?? [failure, remedyOf(fault)];
  return new Problem({
    ...faultFields(fault),
    name: exitNameOf(fault),
    message: `${happened}; no run was started${httpOf(fault)}`,
    activeExecutionId: fault.executionId,
    hint: fault.hint ?? retryAfterHint(fault) ?? keyReuseHint(fault) ?? remedy ?? causeHint(fault),
  });
}

const unknownNameHint = 'check the name, the project and the base URL: `runctl config list`';

/** Only the service's message says that it is the project which isn't known. */
const isOfProject = ({ serviceCode = '' }: Fault) => /project/i.test(serviceCode);

/** How to find out more, if there is no better remedy. */
function causeHint(fault: Fault): string {
  if (fault.kind === 'throttled') return 'try again later, or keep trying longer with `--give-up-after`';
  if (exitNameOf(fault) === 'rejected' && !fault.page) return 'add `--debug` to see the request and the response';
  return '`runctl doctor` finds the cause';
}

const keyReuseHint = ({ kind, serviceCode = '' }: Fault) =>
  kind === 'reused_key' || /idempoten/i.test(serviceCode)
    ? 'use another `--idempotency-key`: this one was used for something else'
    : undefined;

/** The run that the service calls active has finished: it repeats its old response to this idempotency key. */
export function usedKeyProblem({ target, idempotencyKey }: Identity): Problem {
  return new Problem({
    name: 'already_active',
    message: `the idempotency key ${idempotencyKey} belongs to a run of ${nameOf(target)} that has finished; no run was started`,
    hint: 'trigger with a new idempotency key',
  });
}

export function noRunProblem(signal: AbortSignal): Problem {
  return new Problem({ name: interruptNameOf(signal), message: 'interrupted; no run was started' });
}

/** `--timeout` ended the wait for the active run, or would expire before the service allows another try. */
export function slotTimeoutProblem(timeoutMs: number, identity: Identity, fault: Fault): Problem {
  const { target } = identity;
  if (fault.kind !== 'already_active') return refusedTriggerProblem(fault, identity);
  const limit = formatDuration(timeoutMs);
  const wait = retryAfterHint(fault);
  const happened = wait
    ? `is already running, and \`--timeout\` (${limit}) expires before the next try`
    : `was still running after ${limit}`;
  return new Problem({
    ...faultFields(fault),
    name: 'already_active',
    activeExecutionId: fault.executionId,
    message: `${nameOf(target)} ${happened}; no run was started${httpOf(fault)}`,
    hint: wait ?? 'wait longer with `--timeout`',
  });
}

/** The wait for the active run ended because nothing more could be learned about it. */
export function slotUnreadProblem(giveUpAfterMs: number, { target }: Identity, fault: Fault): Problem {
  const silence = `no valid response for ${formatDuration(giveUpAfterMs)}, ${fault.message}`;
  return new Problem({
    ...faultFields(fault),
    name: exitNameOfSilence(fault),
    message: `${nameOf(target)} is already running, but that run couldn't be polled: ${silence}; no run was started${httpOf(fault)}`,
    hint: fault.hint ?? retryAfterHint(fault) ?? causeHint(fault),
  });
}
