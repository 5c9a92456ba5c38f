import type { Budget } from './budget.ts';
import { type Clock, stopwatch } from './clock.ts';
import { defaults } from './defaults.ts';
import { formatDuration } from './duration.ts';
import { pause } from './pause.ts';
import { retryWaitMs } from './retry.ts';
import { isNamedBy } from './run.ts';
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
  /** What is on record of the key by now: another process may have sent the same one. */
  look(): { state: 'accepted'; executionId: string } | { state: 'open' } | undefined;
}

/** What is known of a key before it is sent. */
export interface KeyHistory {
  /** Did the user choose it? One that was minted has been used for nothing else. */
  given?: boolean;
  /** How long ago it was first sent; nobody knows what came of that. Undefined: never. */
  ageMs?: number;
  /** Not sent again at this age. */
  maxAgeMs?: number;
}

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

/** Starts one run: the same key and the same bytes for every attempt, until the protocol reaches an end. */
export async function triggerRun(
  request: TriggerRequest,
  ports: TriggerPorts,
  key: KeyHistory = {},
): Promise<TriggerOutcome> {
  const { service, budget, record, clock, random, signal, giveUpAfterMs } = ports;
  const { maxAgeMs = defaults.keyRetentionMs } = key;
  await budget.take(signal);
  const startMs = clock.elapsedMs();
  const sinceMs = stopwatch(clock);
  let state: TriggerState = key.ageMs === undefined ? 'ready' : 'doubtful';
  record.intent();
  for (let failures = 1; ; failures++) {
    const isStale = state === 'doubtful' && (key.ageMs ?? 0) + sinceMs() > maxAgeMs;
    const answer = isStale ? staleKey(maxAgeMs) : await ask();
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

  async function ask(): Promise<Answer<Execution>> {
    const answer = await service.trigger(request, signal);
    const isOther = key.given && answer.kind === 'good' && !isNamedBy(request.target, answer.value.document);
    return isOther ? reusedKey(answer.value) : answer;
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
    // This attempt came to nothing; that of another process with the same key may have come to something.
    const known = record.look();
    if (known?.state === 'accepted') return { end: 'started', execution: activeRun(known.executionId) };
    return { end: end === 'refused' && known === undefined ? 'refused' : 'unknown', fault, stopped };
  }
}

function step(state: TriggerState, event: TriggerEvent): TriggerState {
  return isEnd(state) ? state : protocol[state][event];
}

/** The run that an answer tells of: its own, or the active one that a conflict names. */
function executionOf(answer: Answer<Execution>): Execution & { executionId: string } {
  if (answer.kind === 'fault') return activeRun(answer.fault.executionId ?? '');
  const { executionId = '', status, document } = answer.value;
  return { ...answer.value, executionId, document: { executionId, status, ...document } };
}

const activeRun = (executionId: string) => ({
  executionId,
  status: 'RUNNING',
  document: { executionId, status: 'RUNNING' },
});

const staleKey = (maxAgeMs: number): Answer<never> => ({
  kind: 'fault',
  fault: {
    kind: 'stale_key',
    transient: false,
    acted: 'unknown',
    message: `the key was first sent more than ${formatDuration(maxAgeMs)} ago, and the service may have forgotten it`,
  },
});

const reusedKey = ({ executionId, document }: Execution): Answer<never> => ({
  kind: 'fault',
  fault: {
    kind: 'reused_key',
    transient: false,
    acted: 'no',
    message: `the key has started a run of ${document.automationName ?? document.agentId} before (${executionId})`,
  },
});
