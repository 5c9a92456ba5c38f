import type { Connection } from '../../src/connection/connection.ts';
import { openJournal } from '../../src/journal/journal.ts';
import { plainHintContext } from '../../src/messages/hint-context.ts';
import type { Service } from '../../src/run/service.ts';
import { createRateLimiter } from '../../src/service/rate-limiter.ts';
import { createWatchSession } from '../../src/watch/watch-session.ts';
import { createMemory } from './memory-context.ts';

export const baseUrl = 'https://service.test';
export const account = 'account';

const settings = {
  apiKey: {},
  apiKeyCommand: {},
  baseUrl: {},
  project: {},
  requestTimeout: {},
  idempotencyKeys: {},
  profile: {},
  configFolder: {},
  stateFolder: {},
};

/** A connection to this service, in memory, in virtual time, and without a journal; `parts` replaces what a test needs. */
export function createConnection(
  service: Service,
  { context = createMemory(), ...parts }: Partial<Connection> = {},
): Connection {
  const { clock, random, signal, reporter } = context;
  return {
    context,
    settings,
    baseUrl,
    service,
    account: async () => account,
    readApiKey: async () => {},
    reloadApiKey: async () => ({ kind: 'same' }),
    releaseApiKey() {},
    journal: openJournal({ folder: undefined, nowMs: clock.nowMs, onFailure() {} }),
    ignoresKeys: false,
    processes: { own: 'host 1 1', stateOf: () => 'ended' },
    hintContext: plainHintContext,
    limiter: createRateLimiter(10, clock),
    session: createWatchSession(Number.POSITIVE_INFINITY, clock),
    requestTimeoutMs: 30_000,
    giveUpAfterMs: 600_000,
    watchOptions: {},
    debug: undefined,
    usualDuration: () => undefined,
    clock,
    random,
    signal,
    emit: reporter.emit,
    ...parts,
  };
}
