import { endedBy, type Invocation } from '../context.ts';
import type { Journal } from '../journal/journal.ts';
import type { Processes } from '../journal/processes.ts';
import type { Fault } from '../run/fault.ts';
import type { Target } from '../run/run.ts';
import type { Service } from '../run/service.ts';
import type { RateLimiter } from '../service/rate-limiter.ts';
import type { Settings } from '../settings/resolve.ts';

/** The service as a command reaches it, and this machine's record of it. */
export interface Connection {
  context: Invocation;
  settings: Settings;
  baseUrl: string;
  /** The fingerprint of the API key that `ApiKeys.of` chooses. Throws its problems. */
  account(idempotencyKey?: string): Promise<string>;
  /** Reads the API key again before a 401 ends a watch. Is there another one? */
  renewApiKey(): Promise<boolean>;
  service: Service;
  limiter: RateLimiter;
  requestTimeoutMs: number;
  journal: Journal;
  /** The setting says that the service ignores idempotency keys. */
  ignoresKeys: boolean;
  processes: Processes;
  /** How long the target's runs usually take, as `usually 5m`; undefined if that isn't known. */
  usualDuration(target: Target): string | undefined;
  /** The idempotency keys of triggers that this process has sent or is about to send. */
  sentKeys: Set<string>;
  debug?(line: string): void;
}

/** What it means if there is no connection to a base URL that has answered here before, so that it most likely is right. */
export function outageOf({ kind, hint }: Fault, { journal, baseUrl }: Pick<Connection, 'journal' | 'baseUrl'>) {
  if (kind !== 'unreachable' || hint !== undefined) return undefined;
  const isKnown = journal.runs({ baseUrl, hasRun: true }).next().done !== true;
  return isKnown ? 'the service or the network may be down' : undefined;
}

/** The options for attempts with retries that give up after this long without a valid response. */
export function retryPortsOf({ limiter, requestTimeoutMs, context }: Connection, giveUpAfterMs: number) {
  const { clock, random, signal } = context;
  return { limiter, clock, random, signal, giveUpAfterMs, requestTimeoutMs };
}

/** The same connection, but its requests also end with this signal. */
export function alsoEndedBy<C extends Connection>(connection: C, signal: AbortSignal): C {
  return { ...connection, context: endedBy(connection.context, signal) };
}
