import { stopwatch } from './clock.ts';
import { defaults } from './defaults.ts';
import { formatDuration } from './duration.ts';
import { deliveryOf, type Fault } from './fault.ts';
import { type RetryOptions, type RetryPorts, type RetryResult, retry } from './retry.ts';
import { isNamedBy, type Target } from './run.ts';
import type { Answer, Execution, Service } from './service.ts';
import { eventOf, isEnd, step, type TriggerState } from './trigger-protocol.ts';

/** What tells one trigger from every other. */
export interface TriggerIdentity {
  baseUrl: string;
  /** Fingerprint of the API key: the service scopes idempotency keys by API key. */
  account: string;
  target: Target;
  idempotencyKey: string;
  /** Did the user choose the idempotency key? One that was minted has been used for nothing else. */
  userProvided: boolean;
}

/** What must be on record, and when. The journal writes it; a crash between two calls leaves what `recover` needs. */
export interface TriggerRecord {
  /** Called before the first byte is sent; on disk when it returns. */
  intent(): void;
  /** An attempt was sent whose outcome is unknown: the trigger stays open. */
  inDoubt(fault: Fault): void;
  started(execution: StartedExecution): void;
  /** No attempt of ours can have started a run. False when that could not be written. */
  refused(fault: Fault): boolean;
  /** True if another trigger started this run, or may have: then a conflict that names it proves nothing about ours. */
  mayBeOfAnother(executionId: string): boolean;
  /** What is on record of the idempotency key by now: another process may have sent the same one. */
  readKey(): RecordedKey | undefined;
}

/** An idempotency key on record, of whichever process: it has started this run, or nobody knows yet. */
export type RecordedKey = { state: 'accepted'; executionId: string } | { state: 'open'; ageMs: number };

export type StartedExecution = Execution & { executionId: string };

/** What is known of an idempotency key before it is sent. */
export interface KeyHistory {
  /** How long ago it was first sent, with an unknown outcome; undefined: never. */
  ageMs?: number;
  /** The process that sent it has surely ended, and is not waited for. */
  isLeftBehind?: boolean;
  /** Not sent again at this age. */
  maxAgeMs?: number;
}

export interface TriggerPorts extends RetryPorts {
  service: Pick<Service, 'trigger'>;
  record: TriggerRecord;
  onRetry?: RetryOptions['onRetry'];
}

/** How a trigger came out; `fault` is that of the last attempt. */
export type TriggerResult =
  | { kind: 'started'; execution: StartedExecution }
  /** Surely no run was started. */
  | { kind: 'refused'; fault: Fault }
  /** A run may have been started. */
  | { kind: 'unknown'; fault: Fault }
  | { kind: 'interrupted'; fault: Fault; mayHaveStarted: boolean };

/** For how long another process that sends the same key is waited for, and how old its attempt may be. */
const othersMs = { wait: 5_000, between: 200, age: 60_000 };

/** Starts one run: the same idempotency key and the same bytes for every attempt, until the protocol reaches an end. */
export async function triggerRun(
  { target, idempotencyKey, userProvided }: TriggerIdentity,
  body: string,
  ports: TriggerPorts,
  history: KeyHistory = {},
): Promise<TriggerResult> {
  const { service, record, clock, signal } = ports;
  const { ageMs = 0, maxAgeMs = defaults.keyRetentionMs } = history;
  const sinceMs = stopwatch(clock);
  let state: TriggerState = history.ageMs === undefined ? 'ready' : 'in_doubt';
  let isFirst = true;
  /** May an attempt of our own have started a run? Else the attempt in doubt is another process's. */
  let mayHaveActed = false;

  const tried = await retry(attempt, { ...ports, isRetryable: () => !isEnd(state) });
  if (!isEnd(state)) state = step(state, 'stopped');
  if (state === 'started') {
    const execution = executionOf(tried);
    record.started(execution);
    return { kind: 'started', execution };
  }
  return notStarted(state === 'refused', tried as Exclude<typeof tried, { kind: 'ok' }>);

  async function attempt(): Promise<Answer<Execution>> {
    if (isFirst) record.intent();
    isFirst = false;
    const isStale = state === 'in_doubt' && ageMs + sinceMs() > maxAgeMs;
    const answer = isStale ? staleKey(maxAgeMs) : await send();
    if (answer.kind === 'ok') {
      state = step(state, 'accepted');
      return answer;
    }
    const { fault } = answer;
    mayHaveActed ||= deliveryOf(fault) === 'unknown';
    const before = state;
    const namesOurs = fault.executionId !== undefined && !record.mayBeOfAnother(fault.executionId);
    state = step(state, eventOf(fault, namesOurs));
    if (before === 'ready' && state === 'in_doubt') record.inDoubt(fault);
    return answer;
  }

  async function send(): Promise<Answer<Execution>> {
    const answer = await service.trigger({ target, idempotencyKey, body }, signal);
    const isOther = userProvided && answer.kind === 'ok' && !isNamedBy(target, answer.value.document);
    return isOther ? reusedKey(answer.value) : answer;
  }

  async function notStarted(isRefused: boolean, { kind, fault }: { kind: string; fault: Fault }) {
    const isOurs = !isRefused && mayHaveActed;
    if (isOurs) record.inDoubt(fault);
    const isClosed = !isOurs && record.refused(fault);
    // Our attempts came to nothing; that of another process with the same key may have started a run.
    const known = isOurs || history.isLeftBehind ? record.readKey() : await readKeyOfOthers();
    if (known?.state === 'accepted') return { kind: 'started', execution: activeRun(known.executionId) } as const;
    const mayHaveStarted = known !== undefined || !(isRefused || isClosed);
    if (kind === 'interrupted') return { kind, fault, mayHaveStarted } as const;
    return { kind: mayHaveStarted ? 'unknown' : 'refused', fault } as const;
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

/** The run that was started: that of the answer, or the active one that a conflict names. */
function executionOf(tried: RetryResult<Execution>): StartedExecution {
  if (tried.kind !== 'ok') return activeRun(tried.fault.executionId ?? '');
  const { executionId = '', status, document } = tried.value;
  return { ...tried.value, executionId, document: { executionId, status, ...document } };
}

const activeRun = (executionId: string): StartedExecution => ({
  executionId,
  status: 'RUNNING',
  document: { executionId, status: 'RUNNING' },
});

function staleKey(maxAgeMs: number): Answer<never> {
  const message = `the key was first sent more than ${formatDuration(maxAgeMs)} ago, and the service may have forgotten it`;
  return { kind: 'fault', fault: { kind: 'stale_key', message } };
}

function reusedKey({ executionId, document }: Execution): Answer<never> {
  const message = `the key has started a run of ${document.automationName ?? document.agentId} before (${executionId})`;
  return { kind: 'fault', fault: { kind: 'reused_key', message } };
}
