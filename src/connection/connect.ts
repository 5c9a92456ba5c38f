import { version } from '../../package.json';
import type { CommandContext } from '../context.ts';
import { createProcesses } from '../journal/processes.ts';
import type { WatchOptions } from '../ports.ts';
import { defaults } from '../run/limits.ts';
import { usualOf } from '../run/usual-duration.ts';
import { createDebugTransport } from '../service/debug-transport.ts';
import type { HttpOptions } from '../service/http-request.ts';
import { proxyFor } from '../service/proxy.ts';
import { createRateLimiter } from '../service/rate-limiter.ts';
import { accountOf } from '../settings/api-key.ts';
import {
  requiredValue,
  resolveSettings,
  type SettingFlags,
  type Settings,
} from '../settings/resolve.ts';
import { optionalValue } from '../settings/table.ts';
import { sanitizeLine } from '../system/sanitize.ts';
import { createWatchSession } from '../watch/watch-session.ts';
import { createApiKeys } from './api-keys.ts';
import { type Connection, hintContextOf } from './connection.ts';
import { type JournalNeed, journalOf } from './open-journal.ts';

/** The flags that decide how the service is reached. */
export interface ConnectOptions extends SettingFlags, WatchOptions {
  /** Requests per second. */
  rate?: number;
  debug?: boolean;
  quiet?: boolean;
  /** Of the command, in milliseconds; 0 means no limit. */
  timeout?: number;
  /** Milliseconds. */
  giveUpAfter?: number;
}

const maxConnections = 64;

/**
 * Reads the settings, opens the journal and prepares the service. Nothing is sent before the first
 * request. Throws a usage problem for a missing or invalid setting.
 */
export async function connect(
  options: ConnectOptions,
  context: CommandContext,
  journalNeed: JournalNeed = {},
): Promise<Connection> {
  return connectWith(await resolveSettings(options, context), options, context, journalNeed);
}

/** Makes what every request needs. Throws a usage problem for a missing or invalid setting. */
export async function openHttp(
  settings: Settings,
  { rate = defaults.rate, debug }: ConnectOptions,
  context: CommandContext,
) {
  const { clock, env, secrets, stderr } = context;
  const baseUrl = requiredValue('baseUrl', settings);
  const apiKeys = createApiKeys(settings, context);
  const requestTimeoutMs = requiredValue('requestTimeout', settings);
  // Throws if the project is refused.
  optionalValue(settings.project);
  const { origin } = new URL(baseUrl);
  const proxy = proxyFor(origin, env);
  const { credentials } = proxy ?? {};
  if (credentials)
    for (const secret of [credentials, credentials.replace(/^.*?:/s, '')]) secrets.protect(secret);
  // The HTTP code takes 20 ms to load. Help and refused command lines don't need it.
  const { createTransport } = await import('../service/transport.ts');
  // Little's law, for responses that take up to a second.
  const connections = Math.min(maxConnections, Math.max(4, Math.ceil(rate * 1.3)));
  const plainTransport = createTransport({
    origin,
    proxy,
    connections,
    connectTimeoutMs: requestTimeoutMs,
    elapsedMs: clock.elapsedMs,
  });
  const write = debug
    ? (line: string) => stderr.write(`debug: ${sanitizeLine(line)}\n`)
    : undefined;
  const http: HttpOptions = {
    transport: write
      ? createDebugTransport(plainTransport, { origin, nowMs: clock.elapsedMs, write })
      : plainTransport,
    baseUrl,
    proxy,
    hasExtraAuthorities: Boolean(env.NODE_EXTRA_CA_CERTS),
    apiKey: apiKeys.apiKeyFor,
    requestTimeoutMs,
    maxOutputBytes: defaults.maxOutputBytes,
    userAgent: `runctl/${version}`,
    nowMs: clock.nowMs,
    scrub: secrets.scrub,
  };
  return { http, apiKeys, connections, debug: write };
}

/** The same as `connect`, for a command that has resolved the settings itself. */
export async function connectWith(
  settings: Settings,
  options: ConnectOptions,
  context: CommandContext,
  journalNeed: JournalNeed = {},
): Promise<Connection> {
  const { http, apiKeys, connections, debug } = await openHttp(settings, options, context);
  const { baseUrl, requestTimeoutMs } = http;
  const { clock, random, signal, reporter } = context;
  const journal = journalOf(context, { quiet: options.quiet, ...journalNeed });
  // With `needed`, reading throws, and a duration isn't worth the end of a watch.
  const journalForDurations = journalNeed.needed ? journalOf(context, { quiet: true }) : journal;
  const { createHttpService } = await import('../service/http-service.ts');
  const ignoresKeys = optionalValue(settings.idempotencyKeys) === 'ignored';
  return {
    context,
    settings,
    baseUrl,
    service: createHttpService(http),
    journal,
    account: async (idempotencyKey) => accountOf((await apiKeys.apiKeyFor(idempotencyKey)).value),
    async readApiKey() {
      await apiKeys.apiKeyFor();
    },
    reloadApiKey: apiKeys.reloadApiKey,
    releaseApiKey: apiKeys.releaseApiKey,
    ignoresKeys,
    processes: createProcesses({ ignoresKeys }),
    usualDuration: (target) => usualOf(journalForDurations.pastDurationsMs({ baseUrl, target })),
    hintContext: hintContextOf({ journal, baseUrl, context }),
    limiter: createRateLimiter(options.rate ?? defaults.rate, clock, { connections }),
    session: createWatchSession(options.timeout || Number.POSITIVE_INFINITY, clock),
    requestTimeoutMs,
    giveUpAfterMs: options.giveUpAfter ?? defaults.giveUpAfterMs,
    watchOptions: options,
    clock,
    random,
    signal,
    emit: reporter.emit,
    debug,
  };
}
