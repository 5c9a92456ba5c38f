import type { CommandContext } from '../context.ts';
import type { ApiKeyReload } from '../run/api-key-reload.ts';
import type { Fault } from '../run/fault.ts';
import { problemOrThrow } from '../run/problem.ts';
import type { ApiKey } from '../service/http-request.ts';
import { refuseApiKeyIn } from '../settings/api-key.ts';
import { requiredValue, type Settings } from '../settings/resolve.ts';
import { optionalValue } from '../settings/table.ts';
import { runApiKeyCommand } from './api-key-command.ts';

interface ApiKeys {
  /**
   * The API key to send. An idempotency key keeps its first API key, which scopes it. Throws like
   * `runApiKeyCommand`.
   */
  apiKeyFor(idempotencyKey?: string): Promise<ApiKey>;
  /**
   * Reads the API key again after the service has refused one. It is read at most every 30 seconds,
   * because a command that prints it may be slow.
   */
  reloadApiKey(refused: Fault): Promise<ApiKeyReload>;
  /**
   * From now on, sends this idempotency key with the current API key. That is safe, because no
   * request with the idempotency key is in doubt.
   */
  releaseApiKey(idempotencyKey: string): void;
}

const betweenReloadsMs = 30_000;

/**
 * Throws a usage problem if no API key is set, or if it is part of what is sent or recorded. Runs a
 * command only when the first API key is needed.
 */
export function createApiKeys({ apiKey, ...settings }: Settings, context: CommandContext): ApiKeys {
  const { clock } = context;
  const { command, source = '', reread } = apiKey;
  const given =
    command === undefined ? requiredValue('apiKey', { apiKey, ...settings }) : undefined;
  const sentOrRecorded = [...context.typed, requiredValue('baseUrl', settings)];
  refuseApiKeyIn(sentOrRecorded, context);
  const ofTriggers = new Map<string, Promise<ApiKey>>();
  let current: Promise<ApiKey> | undefined;
  /**
   * Which reading of the API key this is. The refusal of an API key with a lower version says
   * nothing about the current one.
   */
  let version = 1;
  let lastReload: { atMs: number; result: Promise<ApiKeyReload> } | undefined;

  function currentApiKey(): Promise<ApiKey> {
    current ??= readFirst().then((value) => ({ value, version }));
    return current;
  }

  return {
    apiKeyFor(idempotencyKey) {
      if (idempotencyKey === undefined) return currentApiKey();
      const own = ofTriggers.get(idempotencyKey) ?? currentApiKey();
      ofTriggers.set(idempotencyKey, own);
      return own;
    },
    async reloadApiKey({ apiKeyVersion = version }) {
      if (apiKeyVersion < version) return { kind: 'changed' };
      const nowMs = clock.elapsedMs();
      if (!lastReload || nowMs - lastReload.atMs >= betweenReloadsMs)
        lastReload = { atMs: nowMs, result: reload() };
      const result = await lastReload.result;
      // The API key may have been read again in the meantime.
      if (apiKeyVersion < version) return { kind: 'changed' };
      // That reading brought the API key that was refused now.
      return result.kind === 'changed' ? { kind: 'same' } : result;
    },
    releaseApiKey(idempotencyKey) {
      ofTriggers.delete(idempotencyKey);
    },
  };

  /**
   * While the API key is read, other requests use the old one. If it is refused, they wait for the
   * result of this reading.
   */
  async function reload(): Promise<ApiKeyReload> {
    try {
      const value = await readAgain();
      if (value === undefined || value === (await currentApiKey()).value) return { kind: 'same' };
      version += 1;
      current = Promise.resolve({ value, version });
      return { kind: 'changed' };
    } catch (error) {
      return { kind: 'unreadable', reason: problemOrThrow(error).message };
    }
  }

  async function readFirst(): Promise<string> {
    return given ?? runCommand();
  }

  /** Undefined if there is nothing to read, such as for an API key in the environment. */
  async function readAgain(): Promise<string | undefined> {
    if (command !== undefined) return runCommand();
    const read = await reread?.();
    return read && optionalValue(read);
  }

  async function runCommand(): Promise<string> {
    const printed = await runApiKeyCommand(command ?? '', source, context);
    refuseApiKeyIn(sentOrRecorded, context);
    return printed;
  }
}
