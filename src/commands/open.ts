import { version } from '../../package.json';
import type { Context } from '../context.ts';
import type { Ports } from '../core/ports.ts';
import { createJournal, type Journal } from '../journal/journal.ts';
import { createRecorder } from '../journal/recorder.ts';
import { createService, type ServiceClient } from '../service/service.ts';
import {
  requireApiKey,
  requireBaseUrl,
  resolveSettings,
  type Settings,
} from '../settings/settings.ts';

/** What a command needs that sends: settings that were checked, the journal, and the core's ports. */
export interface Opened {
  settings: Settings;
  journal: Journal;
  ports: Ports;
  /** A hash of the API key that the command began with, and that triggers are sent with. */
  apiKeyHash: string;
}

/** Throws a `Problem` for a setting that is missing or wrong, before anything is sent or written. */
export async function open(context: Context): Promise<Opened> {
  const settings = resolveSettings(context);
  const service = openService(context, settings);
  const journal = openJournal(context, settings);
  const apiKeyHash = await hashOf(await service.readApiKey());
  const { clock, signal, random, randomUuid, secrets, emit } = context;
  const ports: Ports = {
    service,
    recorder: createRecorder({
      journal,
      apiKeyHash,
      areKeysIgnored: settings.idempotencyKeys.value === 'ignored',
      newId: randomUuid,
      scrub: secrets.scrub,
      onUnwritable: ({ message }) =>
        emit({
          type: 'warning',
          text: `the journal in ${journal.folder} can't be written, so recover and list won't find this: ${message.split(', ')[0]}`,
        }),
    }),
    clock,
    random,
    newKey: randomUuid,
    signal,
    requestTimeoutMs: settings.requestTimeoutMs.value,
    turn: createTurns(context),
    emit,
  };
  return { settings, journal, ports, apiKeyHash };
}

export const openJournal = ({ clock }: Context, { stateDir, baseUrl }: Settings): Journal =>
  createJournal({ stateDir, baseUrl: baseUrl?.value, nowMs: clock.nowMs });

export function openService(context: Context, settings: Settings): ServiceClient {
  const options = {
    baseUrl: requireBaseUrl(settings),
    apiKey: requireApiKey(settings),
    requestTimeoutMs: settings.requestTimeoutMs.value,
    userAgent: `runctl/${version}`,
  };
  return createService(options, context);
}

/** Tells API keys apart in the journal, and can't be turned back into one. */
async function hashOf(apiKey: string): Promise<string> {
  const { createHash } = await import('node:crypto');
  return createHash('sha256').update(apiKey).digest('hex').slice(0, 12);
}

const requestGapMs = 100;

/** Lets ten requests a second pass, by the clock that can't be set. */
function createTurns({ clock, signal }: Context): () => Promise<void> {
  let nextMs = 0;
  return async () => {
    const nowMs = clock.elapsedMs();
    const turnMs = Math.max(nowMs, nextMs);
    nextMs = turnMs + requestGapMs;
    if (turnMs > nowMs) await clock.sleep(turnMs - nowMs, signal);
  };
}
