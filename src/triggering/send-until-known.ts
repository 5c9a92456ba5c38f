import { stopwatch } from '../runs/clock.ts';
import type { Fault, FaultKind } from '../runs/fault.ts';
import { type RetryOptions, type RetryPorts, retry } from '../runs/retry.ts';
import { isNamedBy, type Target } from '../runs/run.ts';
import type { Answer, Execution, Service } from '../runs/service.ts';
import { foundByKey, type Meaning, meaningOf, type StartedTrigger, withId } from './answer-meaning.ts';
import { type AttemptTimes, createAttemptTimes, type EarlierAttempts } from './attempt-times.ts';
import { askDated, type DatedExecution } from './moments.ts';
import { isEnd, step, type TriggerState } from './trigger-protocol.ts';
import type { RecordedKey, TriggerRecord } from './trigger-record.ts';

export interface TriggerIdentity {
  baseUrl: string;
  /** Fingerprint of the API key. The service scopes idempotency keys by API key. */
  account: string;
  target: Target;
  idempotencyKey: string;
  userProvided: boolean; // the user set the key, and may have used it before; otherwise runctl generated it
}

export interface KeyHistory {
  earlier?: EarlierAttempts;
  isRecovery?: boolean; // `recover` sends the key, and doesn't wait for other processes
  neverRepeat?: boolean; // stop after an attempt that the service may have acted on
}

export interface TriggerPorts extends RetryPorts {
  service: Pick<Service, 'trigger' | 'status'>;
  record: TriggerRecord;
  onRetry?: RetryOptions['onRetry'];
}

/** `fault` says why the last attempt failed. */
export type TriggerResult =
  | StartedTrigger
  | { kind: 'refused'; fault: Fault }
  | { kind: 'unknown'; fault: Fault }
  | { kind: 'interrupted'; fault: Fault; mayHaveStarted: boolean };

/** How long to wait for another process that is sending the same key, and how old its attempt may be. */
const othersMs = { wait: 5_000, between: 200, age: 60_000 };

/** Starts one run: every attempt sends the same idempotency key and the same bytes. */
export async function sendUntilKnown(
  identity: TriggerIdentity,
  body: string,
  ports: TriggerPorts,
  history: KeyHistory = {},
): Promise<TriggerResult> {
  const { record } = ports;
  const times = createAttemptTimes(ports.clock, history.earlier);
  let state: TriggerState = history.earlier ? 'in_doubt' : 'ready';
  let meaning: Meaning | undefined;

  /** Send, event, step, record. `retry` repeats this until the protocol ends or the time is up. */
  async function attempt(): Promise<Answer<DatedExecution>> {
    if (times.attempts() === 0) record.sending();
    times.next();
    const wasInDoubt = state === 'in_doubt';
    const answer = wasInDoubt && times.isStale() ? staleKey : await send(identity, body, ports);
    meaning = await meaningOf(answer, { ...identity, ...history, wasInDoubt, times }, ports);
    state = step(state, meaning.event);
    if (answer.kind === 'fault' && state === 'in_doubt' && !wasInDoubt) {
      record.inDoubt(answer.fault, { sentAtMs: times.lastInDoubt().wallMs, isLast: false });
    }
    return answer;
  }

  const isRepeatable = () => !history.neverRepeat && record.isRepeatable();
  const mayRepeat = () => !isEnd(state) && (!times.mayHaveActed() || isRepeatable());
  const tried = await retry(attempt, { ...ports, lane: 'trigger', isRetryable: mayRepeat });
  if (meaning?.started) {
    record.started(meaning.started.execution, meaning.started);
    return meaning.started;
  }
  const { kind, fault } = tried as Exclude<typeof tried, { kind: 'ok' }>;
  const isRefused = step(state, 'stopped') === 'refused';
  const wasInterrupted = kind === 'interrupted' || meaning?.wasInterrupted === true;
  const end = await closeAttempts({ isRefused, fault, times, wasInterrupted }, ports, history);
  if (end.kind === 'started') return end;
  const { mayHaveStarted } = end;
  if (wasInterrupted) return { kind: 'interrupted', fault, mayHaveStarted };
  return { kind: mayHaveStarted ? 'unknown' : 'refused', fault };
}

/** One attempt. If the key was used for another target before, the response may name that target's run. */
async function send(
  { target, idempotencyKey, userProvided }: TriggerIdentity,
  body: string,
  ports: TriggerPorts,
): Promise<Answer<DatedExecution>> {
  const request = { target, idempotencyKey, body };
  const answer = await askDated(() => ports.service.trigger(request, ports.signal), ports);
  const isReused = userProvided && answer.kind === 'ok' && !isNamedBy(target, answer.value.execution.document);
  return isReused ? reusedKey(answer.value.execution) : answer;
}

interface Closing {
  isRefused: boolean;
  fault: Fault;
  times: AttemptTimes;
  wasInterrupted: boolean;
}

const interrupted: Fault = { kind: 'interrupted', message: 'interrupted' };

/** Records that this process stops without a run, and checks the result of another one that sent the same key. */
async function closeAttempts(
  { isRefused, fault, times, wasInterrupted }: Closing,
  ports: TriggerPorts,
  { isRecovery, earlier }: KeyHistory,
): Promise<StartedTrigger | { kind: 'ended'; mayHaveStarted: boolean }> {
  const { record } = ports;
  const isOurs = !isRefused && times.mayHaveActed();
  if (isOurs) record.inDoubt(fault, { sentAtMs: times.lastInDoubt().wallMs, isLast: true });
  // There is no record of a trigger whose turn never came.
  const isClosed =
    !isOurs && (times.attempts() === 0 ? !earlier : record.refused(wasInterrupted ? interrupted : fault));
  const recorded = isOurs || isRecovery ? record.readKey() : await waitForOtherSenders(ports);
  if (recorded?.state === 'accepted') {
    const { executionId, isByTime } = recorded;
    const execution = withId({ executionId, status: 'RUNNING', document: {} });
    const byOther = { how: isRecovery ? 'recovered' : 'replayed', started: 'no' } as const;
    return { kind: 'started', execution, isByTime, ...(isOurs ? foundByKey : byOther) };
  }
  return { kind: 'ended', mayHaveStarted: recorded !== undefined || !(isRefused || isClosed) };
}

async function waitForOtherSenders({ record, clock, signal }: TriggerPorts): Promise<RecordedKey | undefined> {
  const waitedMs = stopwatch(clock);
  for (;;) {
    const recorded = record.readKey();
    const isWorthIt = recorded?.state === 'open' && recorded.ageMs < othersMs.age && waitedMs() < othersMs.wait;
    if (!isWorthIt || signal.aborted) return recorded;
    await clock.sleep(othersMs.between, signal);
  }
}

const faultOf = (kind: FaultKind, message: string): Answer<never> => ({ kind: 'fault', fault: { kind, message } });

const staleKey = faultOf(
  'stale_key',
  'the idempotency key was first sent more than 24h ago, and the service may have forgotten it',
);

function reusedKey({ executionId, document }: Execution): Answer<never> {
  const name = document.automationName ?? document.agentId;
  return faultOf('reused_key', `the idempotency key has started a run of ${name} before (${executionId})`);
}
