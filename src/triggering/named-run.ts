import { isRetryable } from '../runs/fault.ts';
import { type RetryPorts, type RetryResult, retry } from '../runs/retry.ts';
import type { Run } from '../runs/run.ts';
import type { Answer, Execution, Service } from '../runs/service.ts';
import { type DatedAnswer, momentOf } from './whose-run.ts';

export interface DatedExecution {
  execution: Execution;
  dated: DatedAnswer;
}

/** Asks for a run, and notes by the clocks of both sides when it was asked for and when the run began. */
export async function askDated(
  ask: () => Promise<Answer<Execution>>,
  { clock }: Pick<RetryPorts, 'clock'>,
): Promise<Answer<DatedExecution>> {
  const sent = momentOf(clock);
  const answer = await ask();
  if (answer.kind === 'fault') return answer;
  const { value: execution, serviceTimeMs } = answer;
  const began = execution.createdAt ?? execution.startedAt;
  const beganAtMs = began === undefined ? undefined : Date.parse(began);
  return { kind: 'ok', value: { execution, dated: { beganAtMs, serviceTimeMs, sent, received: momentOf(clock) } } };
}

/** Asks for the run that a conflict names, which the service may not find at once. */
export function fetchNamedRun(
  run: Run,
  { service, ...ports }: RetryPorts & { service: Pick<Service, 'status'> },
): Promise<RetryResult<DatedExecution>> {
  return retry(() => askDated(() => service.status(run, ports.signal), ports), {
    ...ports,
    // The trigger that asks already has its turn, and reports its own attempts.
    inTurn: undefined,
    onRetry: undefined,
    isRetryable: (fault) => isRetryable(fault) || fault.kind === 'not_found' || fault.kind === 'path_not_found',
  });
}
