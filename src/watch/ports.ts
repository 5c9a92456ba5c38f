import type { Journal } from '../journal/journal.ts';
import type { Processes } from '../journal/processes.ts';
import type { ApiKeyReload } from '../run/api-key-reload.ts';
import type { RunEvent } from '../run/events.ts';
import type { Fault } from '../run/fault.ts';
import type { Service } from '../run/service.ts';
import type { RetryPorts } from '../service/retry.ts';
import type { WatchSession } from './watch-session.ts';

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
  requestTimeoutMs: number;
  /** `--interval`; undefined if the gap between two polls follows the age of the run */
  intervalMs: number | undefined;
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
