import { stopwatch } from '../runs/clock.ts';
import { defaults } from '../runs/defaults.ts';
import { deliveryOf, type Fault, type FaultKind } from '../runs/fault.ts';
import { type RetryOptions, type RetryPorts, retry } from '../runs/retry.ts';
import { isNamedBy, type Target } from '../runs/run.ts';
import type { Answer, Execution, Service } from '../runs/service.ts';
import { eventOf, isEnd, step, type TriggerState } from './trigger-protocol.ts';
import type { RecordedKey, StartedExecution, TriggerRecord } from './trigger-record.ts';
import {
  askDated,
  beganAfter,
  type DatedExecution,
  fetchNamedRun,
  type HowStarted,
  howStarted,
  type Moment,
  momentOf,
  type Owner,
  whoseRun,
} from './whose-run.ts';

export interface TriggerIdentity {
  baseUrl: string;
  /** Fingerprint of the API key, by which the service scopes idempotency keys. */
  account: string;
  target: Target;
  idempotencyKey: string;
  userProvided: boolean; // the user gave the key, and may have used it before; else runctl generated it
}

/** Attempts of an earlier process that are in doubt, by the wall clock. */
export interface EarlierAttempts {
  firstSentAtMs: number;
  lastSentAtMs: number;
  ageMs: number; // infinite if the clock was set back
}

export interface KeyHistory {
  earlier?: EarlierAttempts;
  isRecovery?: boolean; // `recover` sends the key, and waits for no other process
}

export interface TriggerPorts extends RetryPorts {
  service: Pick<Service, 'trigger' | 'status'>;
  record: TriggerRecord;
  inTurn?: RetryOptions['inTurn'];
  onRetry?: RetryOptions['onRetry'];
}

/** `fault` says why the last attempt failed. */
export type TriggerResult =
  | StartedTrigger
  | { kind: 'refused'; fault: Fault }
  | { kind: 'unknown'; fault: Fault }
  | { kind: 'interrupted'; fault: Fault; mayHaveStarted: boolean };

export interface StartedTrigger extends HowStarted {
  kind: 'started';
  execution: StartedExecution;
  isByTime?: true; // only the time at which the run began shows that this trigger started it
}

/** How long to wait for another process that sends the same key, and how old its attempt may be. */
const othersMs = { wait: 5_000, between: 200, age: 60_000 };

/** Starts one run: every attempt sends the same idempotency key and the same bytes. */
export async function triggerRun(
  { target, idempotencyKey, userProvided }: TriggerIdentity,
  body: string,
  ports: TriggerPorts,
  { earlier, isRecovery }: KeyHistory = {},
): Promise<TriggerResult> {
  const { service, record, clock, signal } = ports;
  const sinceMs = stopwatch(clock);
  let state: TriggerState = earlier ? 'in_doubt' : 'ready';
  let first: Moment | undefined;
  let lastInDoubt: Moment | undefined = earlier && { wallMs: earlier.lastSentAtMs };
  let mayHaveActed = false; // the service may have acted on an attempt of this process
  let started: StartedTrigger | undefined;
  let wasInterrupted = false;

  const tried = await retry(attempt, { ...ports, isRetryable: () => !isEnd(state) });
  state = step(state, 'stopped');
  if (started) {
    record.started(started.execution);
    return started;
  }
  return notStarted(state === 'refused', tried as Exclude<typeof tried, { kind: 'ok' }>);

  async function attempt(): Promise<Answer<DatedExecution>> {
    if (!first) record.sending();
    const sent = momentOf(clock);
    first ??= sent;
    const isStale = state === 'in_doubt' && (earlier?.ageMs ?? 0) + sinceMs() > defaults.keyRetentionMs;
    const answer = isStale ? staleKey : await send();
    if (answer.kind === 'ok') {
      started = accepted(answer.value, first);
      state = step(state, 'accepted');
      return answer;
    }
    const { fault } = answer;
    if (deliveryOf(fault) === 'unknown') {
      mayHaveActed = true;
      lastInDoubt = sent;
    }
    const isInDoubt = state === 'in_doubt';
    const owner = await ownerOf(fault, first);
    state = step(state, eventOf(fault, owner));
    if (!isInDoubt && state === 'in_doubt') record.inDoubt(fault, { sentAtMs: sent.wallMs, isLast: false });
    return answer;
  }

  async function send(): Promise<Answer<DatedExecution>> {
    const answer = await askDated(() => service.trigger({ target, idempotencyKey, body }, signal), ports);
    const isOther = userProvided && answer.kind === 'ok' && !isNamedBy(target, answer.value.execution.document);
    return isOther ? reusedKey(answer.value.execution) : answer;
  }

  function accepted({ execution, dated }: DatedExecution, first: Moment): StartedTrigger {
    const began = beganAfter(first, dated);
    const wasInDoubt = state === 'in_doubt';
    const how = howStarted({ target, execution, began, userProvided, wasInDoubt, isRecovery });
    return { kind: 'started', execution: withId(execution), ...how };
  }

  async function ownerOf({ executionId }: Fault, first: Moment): Promise<Owner> {
    if (executionId === undefined || !lastInDoubt) return 'unknown';
    const giveUpAfterMs = defaults.giveUpAfterMs;
    const polled = await fetchNamedRun({ target, executionId }, { ...ports, giveUpAfterMs });
    wasInterrupted = polled.kind === 'interrupted';
    if (polled.kind !== 'ok') return 'unknown';
    const { execution, dated } = polled.value;
    const firstOfAll = earlier ? { wallMs: earlier.firstSentAtMs } : first;
    const owner = whoseRun({ first: firstOfAll, lastInDoubt }, dated);
    if (owner !== 'ours') return owner;
    if (record.isOfAnother(executionId)) return 'unknown';
    const found = accepted({ execution: { ...execution, executionId }, dated }, first);
    const how = isRecovery ? found.how : 'recovered';
    started = { ...found, how, started: earlier ? found.started : 'yes', isByTime: true };
    return 'ours';
  }

  async function notStarted(isRefused: boolean, { kind, fault }: { kind: string; fault: Fault }) {
    const isOurs = !isRefused && mayHaveActed;
    if (isOurs) record.inDoubt(fault, { sentAtMs: lastInDoubt?.wallMs, isLast: true });
    const isClosed = !isOurs && record.refused(fault);
    const known = isOurs || isRecovery ? record.readKey() : await readKeyOfOthers();
    if (known?.state === 'accepted') return startedByOther(known.executionId);
    const mayHaveStarted = known !== undefined || !(isRefused || isClosed);
    if (kind === 'interrupted' || wasInterrupted) return { kind: 'interrupted', fault, mayHaveStarted } as const;
    return { kind: mayHaveStarted ? 'unknown' : 'refused', fault } as const;
  }

  /** Another process got the answer; for a key that runctl generated, that process is `recover`. */
  function startedByOther(executionId: string): StartedTrigger {
    const execution = withId({ executionId, status: 'RUNNING', document: {} });
    if (userProvided && !isRecovery) return { kind: 'started', execution, how: 'replayed', started: 'no' };
    return { kind: 'started', execution, how: 'recovered', started: isRecovery ? 'no' : 'yes' };
  }

  async function readKeyOfOthers(): Promise<RecordedKey | undefined> {
    const waitedMs = stopwatch(clock);
    for (;;) {
      const known = record.readKey();
      const isWorthIt = known?.state === 'open' && known.ageMs < othersMs.age && waitedMs() < othersMs.wait;
      if (!isWorthIt || signal.aborted) return known;
      await clock.sleep(othersMs.between, signal);
    }
  }
}

function withId({ executionId = '', status, document, ...fields }: Execution): StartedExecution {
  return { ...fields, executionId, status, document: { executionId, status, ...document } };
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
