import { type Budget, queue } from './budget.ts';
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
  /** No attempt of ours can have started a run. False when that could not be written. */
  refused(fault: Fault): boolean;
  /**
   * Did another trigger start this run, or may one have? Then a conflict that names the run tells nothing of ours: it
   * may have ended, or never begun.
   */
  mayBeOfAnother(executionId: string): boolean;
  /** What is on record of the key by now: another process may have sent the same one. */
  look(): KeyOutcome | undefined;
}

/** An attempt to start a run with a key, of whichever process: it has started this one, or nobody knows yet. */
export type KeyOutcome = { state: 'accepted'; executionId: string } | { state: 'open'; ageMs: number };

/** How long another process that sends the same key is waited for, and how old its attempt may be. */
const othersMs = { wait: 5_000, between: 200, age: 60_000 };

/** What is known of a key before it is sent. */
export interface KeyHistory {
  /** Did the user choose it? One that was minted has been used for nothing else. */
  given?: boolean;
  /** How long ago it was first sent; nobody knows what came of that. Undefined: never. */
  ageMs?: number;
  /** Whoever sent it is taken for gone, and not waited for. */
  isLeftBehind?: boolean;
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
  let startMs = clock.elapsedMs();
  const sinceMs = stopwatch(clock);
  let state: TriggerState = key.ageMs === undefined ? 'ready' : 'doubtful';
  /** May an attempt of our own have started a run? Else what is in doubt is another process's. */
  let mayHaveActed = false;
  record.intent();
  for (let failures = 1; ; failures++) {
    const isStale = state === 'doubtful' && (key.ageMs ?? 0) + sinceMs() > maxAgeMs;
    const answer = isStale ? staleKey(maxAgeMs) : await ask();
    const event = eventOfAnswer(answer);
    mayHaveActed ||= answer.kind === 'fault' && answer.fault.acted === 'unknown';
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
      startMs += await queue(budget, clock, signal);
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

  async function finish(end: TriggerState, answer: Answer<Execution>, stopped: boolean): Promise<TriggerOutcome> {
    if (end === 'started') {
      const execution = executionOf(answer);
      record.started(execution);
      return { end, execution };
    }
    const { fault } = answer as Extract<Answer<Execution>, { kind: 'fault' }>;
    const isOurs = end === 'unknown' && mayHaveActed;
    if (isOurs) record.doubtful(fault);
    const isClosed = !isOurs && record.refused(fault);
    // Our attempts came to nothing; that of another process with the same key may have come to something.
    const known = isOurs || key.isLeftBehind ? record.look() : await lookAtOthers();
    if (known?.state === 'accepted') return { end: 'started', execution: activeRun(known.executionId) };
    const isSettled = known === undefined && (end === 'refused' || isClosed);
    return { end: isSettled ? 'refused' : 'unknown', fault, stopped };
  }

  async function lookAtOthers(): Promise<KeyOutcome | undefined> {
    const waitedMs = stopwatch(clock);
    for (;;) {
      const known = record.look();
      const isWorthIt = known?.state === 'open' && known.ageMs < othersMs.age && waitedMs() < othersMs.wait;
      if (!isWorthIt || signal.aborted) return known;
      await clock.sleep(othersMs.between, signal);
    }
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
    acted: 'no',
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
