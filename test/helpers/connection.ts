import type { Following } from '../../src/actions/following.ts';
import { createFinalHooks } from '../../src/hooks/on-final.ts';
import { openJournal } from '../../src/journal/journal.ts';
import type { Service } from '../../src/run/service.ts';
import { createRateLimiter } from '../../src/service/rate-limiter.ts';
import { createWatchGroup } from '../../src/watching/watch-group.ts';
import { createMemory } from './memory-context.ts';

export const baseUrl = 'https://service.test';
export const account = 'account';

const settings = {
  apiKey: {},
  apiKeyCommand: {},
  baseUrl: {},
  project: {},
  requestTimeout: {},
  onExit: {},
  idempotencyKeys: {},
  profile: {},
  configFolder: {},
  stateFolder: {},
};

/** A connection to this service, in memory, in virtual time, and without a journal; `parts` replaces what a test needs. */
export function createConnection(
  service: Service,
  { context = createMemory(), ...parts }: Partial<Following> = {},
): Following {
  const { clock } = context;
  const { journal = openJournal({ folder: undefined, nowMs: clock.nowMs, onTrouble() {} }) } = parts;
  return {
    context,
    settings,
    baseUrl,
    account: async () => account,
    service,
    renewApiKey: async () => false,
    journal,
    ignoresKeys: false,
    processes: { own: 'host 1 1', stateOf: () => 'ended' },
    limiter: createRateLimiter(10, clock),
    watches: createWatchGroup(Number.POSITIVE_INFINITY, clock),
    requestTimeoutMs: 30_000,
    usualDuration: () => undefined,
    hooks: createFinalHooks(undefined, context),
    sentKeys: new Set(),
    repeat: { isSafe: true },
    ...parts,
  };
}
