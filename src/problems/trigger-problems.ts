import { defaults } from '../runs/defaults.ts';
import { formatDuration } from '../runs/duration.ts';
import { type Fault, type FaultKind, httpOf } from '../runs/fault.ts';
import { nameOf } from '../runs/run.ts';
import type { TriggerIdentity, TriggerResult } from '../triggering/trigger.ts';
import { exitNameOf, factsOf, interruptNameOf, remedies, retryAfterHint } from './fault-facts.ts';
import { inDoubtProblem, Problem } from './problem.ts';
import { fullArgumentOf } from './quote.ts';

type Identity = Pick<TriggerIdentity, 'target' | 'idempotencyKey'>;

type FailedTrigger =
  | Extract<TriggerResult, { kind: 'refused' | 'unknown' }>
  | { kind: 'interrupted'; mayHaveStarted: boolean };

/** What to tell the user of a trigger that has no known run. */
export function triggerProblem(result: FailedTrigger, identity: Identity, signal: AbortSignal): Problem {
  switch (result.kind) {
    case 'refused':
      return refusedTriggerProblem(result.fault, identity);
    case 'unknown':
      return unknownTriggerProblem(result.fault, identity);
    case 'interrupted':
      return result.mayHaveStarted ? interruptedTriggerProblem(signal, identity) : noRunProblem(signal);
  }
}

/** A trigger that surely started no run. `active` names the active run, if this machine knows it. */
export function refusedTriggerProblem(
  fault: Fault,
  { target, active }: Pick<Identity, 'target'> & { active?: string },
): Problem {
  const name = nameOf(target);
  const activeHint = fault.executionId
    ? `\`runctl watch ${active ?? fullArgumentOf({ target, executionId: fault.executionId })}\``
    : 'wait for it with `--if-active wait`, or choose `--if-active skip` or `attach`';
  const others = [`${name} could not be triggered: ${fault.message}`, remedies[fault.kind]];
  const known: Partial<Record<FaultKind, (string | undefined)[]>> = {
    already_active: [`${name} is already running`, activeHint],
    not_found: [
      `the service does not know ${name}`,
      'check the name, the project and the base URL: `runctl config list`',
    ],
  };
  const [happened, hint] = known[fault.kind] ?? others;
  return new Problem({
    ...factsOf(fault),
    name: exitNameOf(fault),
    message: `${happened}; no run was started${httpOf(fault)}`,
    activeExecutionId: fault.executionId,
    hint: fault.hint ?? retryAfterHint(fault) ?? keyReuseHint(fault) ?? hint,
  });
}

const keyReuseHint = ({ kind, serviceCode = '' }: Fault) =>
  kind === 'reused_key' || /idempoten/i.test(serviceCode)
    ? 'give another `--idempotency-key`: this one was used for something else'
    : undefined;

function unknownTriggerProblem(fault: Fault, identity: Identity): Problem {
  const { target, idempotencyKey } = identity;
  if (fault.kind === 'stale_key') return expiredKeyProblem(identity);
  const isActive = fault.kind === 'already_active';
  const happened = isActive
    ? `${nameOf(target)} is already running, probably with the run of this trigger, whose answer was lost`
    : `the trigger of ${nameOf(target)} got no valid answer: ${fault.message}; a run may have been started`;
  return inDoubtProblem({
    ...factsOf(fault),
    message: `${happened}, with the idempotency key ${idempotencyKey}${httpOf(fault)}`,
    hint: isActive ? 'when that run has finished: `runctl recover`' : '`runctl recover`',
  });
}

/** The idempotency key was sent with another API key, and its outcome is unknown: with this one it is a new key. */
export function otherAccountProblem({ target, idempotencyKey }: Identity): Problem {
  return inDoubtProblem({
    shownName: 'other_api_key',
    message: `the idempotency key ${idempotencyKey} was sent with another API key, and may have started a run of ${nameOf(target)}`,
    hint: 'use that API key, then run `runctl recover`; with this one a second run would start',
  });
}

export function expiredKeyProblem({ target, idempotencyKey }: Identity): Problem {
  return inDoubtProblem({
    shownName: 'idempotency_key_expired',
    message: `the idempotency key ${idempotencyKey} was first sent more than 24h ago, and may have started a run of ${nameOf(target)}`,
    hint: 'stop tracking it with `runctl recover --forget`, then trigger with a new idempotency key',
  });
}

/** The trigger is too old for `recover`; the age is infinite if a clock that was set back leaves it unknown. */
export function tooOldProblem({ target, idempotencyKey }: Identity, ageMs: number): Problem {
  const mayBeForgotten = ageMs > defaults.keyRetentionMs;
  const age = Number.isFinite(ageMs) ? `is ${formatDuration(ageMs)} old` : 'is dated in the future';
  const why = mayBeForgotten
    ? 'the service may have dropped its idempotency key, and would start a second run'
    : 'if it never arrived, its run would start now';
  return inDoubtProblem({
    shownName: mayBeForgotten ? 'idempotency_key_expired' : undefined,
    message: `the trigger of ${nameOf(target)} ${age} and was not sent again: ${why} (idempotency key ${idempotencyKey})`,
    hint: `stop tracking it with \`runctl recover --forget\`${mayBeForgotten ? '' : ', or send it with a longer `--max-age`'}`,
  });
}

/** The run that the service calls active has finished: it repeats the old answer to this idempotency key. */
export function usedKeyProblem({ target, idempotencyKey }: Identity): Problem {
  return new Problem({
    name: 'already_active',
    message: `the idempotency key ${idempotencyKey} belongs to a run of ${nameOf(target)} that has finished; no run was started`,
    hint: 'trigger with a new idempotency key',
  });
}

export function interruptedTriggerProblem(signal: AbortSignal, { target, idempotencyKey }: Identity): Problem {
  return new Problem({
    name: interruptNameOf(signal),
    started: 'unknown',
    message: `interrupted; a run of ${nameOf(target)} may have been started (idempotency key ${idempotencyKey})`,
    hint: '`runctl recover`',
  });
}

export function noRunProblem(signal: AbortSignal): Problem {
  return new Problem({ name: interruptNameOf(signal), message: 'interrupted; no run was started' });
}

/** `--timeout` ended the wait for the active run, or would pass before the service wants another try. */
export function slotTimeoutProblem(timeoutMs: number, identity: Identity, fault: Fault): Problem {
  const { target } = identity;
  if (fault.kind !== 'already_active') return refusedTriggerProblem(fault, identity);
  const limit = formatDuration(timeoutMs);
  const wait = retryAfterHint(fault);
  const happened = wait
    ? `is already running, and \`--timeout\` (${limit}) passes before the next try`
    : `was still running after ${limit}`;
  return new Problem({
    ...factsOf(fault),
    name: 'already_active',
    activeExecutionId: fault.executionId,
    message: `${nameOf(target)} ${happened}; no run was started${httpOf(fault)}`,
    hint: wait ?? 'wait longer with `--timeout`',
  });
}
