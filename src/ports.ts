import type { Journal } from './journal/journal.ts';
import type { Processes } from './journal/processes.ts';
import type { ApiKeyReload } from './run/api-key-reload.ts';
import type { RunEvent } from './run/events.ts';
import type { Fault } from './run/fault.ts';
import type { TimedOut } from './run/outcome.ts';
import type { Service } from './run/service.ts';
import type { RetryPorts } from './service/retry.ts';

/**
 * The flags that nothing but polling reads. `connect` passes them on as one object, so a new flag
 * is a field here, and its `.option()`.
 */
export interface WatchOptions {
  /** Milliseconds. Undefined if the gap between two polls depends on the age of the run. */
  interval?: number;
}

/**
 * Three facts that all watches of one command share: how much time `--timeout` leaves, whether the
 * service has sent a valid response, and when the machine last woke from sleep.
 */
export interface WatchSession {
  readonly timeoutMs: number;
  /** There was a valid response, so the settings are right, and a refusal may pass. */
  readonly hasValidResponse: boolean;
  /** When the machine last woke, by the clock that can't be set. */
  readonly wokeAtMs: number;
  leftMs(): number;
  leftForLastPollMs(): number;
  timeout(): TimedOut;
  noteValidResponse(): void;
  noteWake(): void;
}

/**
 * What triggering and watching need of the world. A `Connection` is one. What it adds to
 * `RetryPorts` isn't optional, so that the compiler asks `connectWith` for each.
 */
export interface Ports extends RetryPorts {
  baseUrl: string;
  service: Service;
  /** The setting says that the service ignores idempotency keys. */
  ignoresKeys: boolean;
  /** This machine's record of the service. */
  journal: Journal;
  processes: Processes;
  session: WatchSession;
  watchOptions: WatchOptions;
  requestTimeoutMs: number;
  /**
   * The fingerprint of the API key in force. An idempotency key keeps the API key that it was first
   * sent with.
   */
  account(idempotencyKey?: string): Promise<string>;
  /** Reads the API key again after the service refused it. */
  reloadApiKey(refused: Fault): Promise<ApiKeyReload>;
  /** Sends the idempotency key with the API key in force from now on. */
  releaseApiKey(idempotencyKey: string): void;
  emit(event: RunEvent): void;
  debug: ((line: string) => void) | undefined;
}
