import type { Budget } from './budget.ts';
import type { Clock } from './clock.ts';
import { pause } from './pause.ts';
import { retryWaitMs } from './retry.ts';
import type { Answer, Execution, Fault, Service, TriggerRequest } from './service.ts';
import { eventOf, isEnd, protocol, type TriggerEvent, type TriggerState } from './trigger-protocol.ts';

/** What must be on record, and when. The journal writes it; a crash between two calls leaves what `recover` needs. */
export interface TriggerRecord {
  /** Called before the first byte is sent; on disk when it returns. */
  intent(): void;
  /** An attempt was sent whose fate is unknown: the intent stays open. */
  doubtful(fault: Fault): void;
  started(execution: Execution & { executionId: string }): void;
  refused(fault: Fault): void;
  /**
   * Did another trigger start this run, or may one have? Then a conflict that names the run tells nothing of ours: it
   * may have ended, or never begun.
   */
  mayBeOfAnother(executionId: string): boolean;
}

/**
 * How long a key is taken to be known to the service. The interface (§8) does not tell; a day is the least that services
 * of this kind keep one.
 */
export const keyRetentionMs = 24 * 3_600_000;

export interface TriggerPorts {
  service: Pick<Service, 'trigger'>;
  /** Every attempt takes its token. */
  budget: Budget;
  record: TriggerRecord;
  clock: Clock;
  random(): number;
  signal: AbortSignal;
  giveUpAfterMs: number;
  onRetry?(fault: Fault, delayMs: number): void;
}

export type TriggerOutcome =
  | { end: 'started'; execution: Execution & { executionId: string } }
  /** `fault` is the last answer; `stopped` tells that patience or the user ended it, not the answer itself. */
  | { end: 'refused' | 'unknown'; fault: Fault; stopped: boolean };

/**
 * Starts one run: the same key and the same bytes for every attempt, until the protocol reaches an end.
 * `from` is `doubtful` when the key was sent before and nobody knows what came of it (`recover`).
 */
export async function triggerRun(
  request: TriggerRequest,
  ports: TriggerPorts,
  from: 'ready' | 'doubtful' = 'ready',
): Promise<TriggerOutcome> {
  const { service, budget, record, clock, random, signal, giveUpAfterMs } = ports;
  await budget.take(signal);
  const startMs = clock.elapsedMs();
  let state: TriggerState = from;
  // A key that was sent before has its intent on record already, with the time that its age counts from.
  if (from === 'ready') record.intent();
  for (let failures = 1; ; failures++) {
    const answer = await service.trigger(request, signal);
    const event = eventOfAnswer(answer);
    const before: TriggerState = state;
    state = step(state, event);
    if (isEnd(state)) return finish(state, answer, event === 'stopped' || event === 'cut');
    const { fault } = answer as Extract<Answer<Execution>, { kind: 'fault' }>;
    if (state === 'doubtful' && before === 'ready') record.doubtful(fault);

    const leftMs = startMs + giveUpAfterMs - clock.elapsedMs();
    const delayMs = retryWaitMs(failures, fault, leftMs, random);
    if (delayMs !== undefined) {
      ports.onRetry?.(fault, delayMs);
      await pause(delayMs, clock, signal, fault.retryAfterMs);
      await budget.take(signal);
      if (!signal.aborted) continue;
    }
    state = step(state, 'stopped');
    if (isEnd(state)) return finish(state, answer, true);
  }

  function eventOfAnswer(answer: Answer<Execution>): TriggerEvent {
    if (answer.kind === 'good') return 'accepted';
    const { executionId } = answer.fault;
    return eventOf(answer.fault, executionId !== undefined && !record.mayBeOfAnother(executionId));
  }

  function finish(end: TriggerState, answer: Answer<Execution>, stopped: boolean): TriggerOutcome {
    if (end === 'started') {
      const execution = executionOf(answer);
      record.started(execution);
      return { end, execution };
    }
    const { fault } = answer as Extract<Answer<Execution>, { kind: 'fault' }>;
    if (end === 'refused') record.refused(fault);
    else record.doubtful(fault);
    return { end: end === 'refused' ? 'refused' : 'unknown', fault, stopped };
  }
}

function step(state: TriggerState, event: TriggerEvent): TriggerState {
  return isEnd(state) ? state : protocol[state][event];
}

/** The run that an answer tells of: its own, or the active one that a conflict names. */
function executionOf(answer: Answer<Execution>): Execution & { executionId: string } {
  const found: Execution =
    answer.kind === 'good' ? answer.value : { executionId: answer.fault.executionId, status: 'RUNNING', document: {} };
  const executionId = found.executionId ?? '';
  return { ...found, executionId, document: { executionId, status: found.status, ...found.document } };
}
