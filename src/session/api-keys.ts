import { requireApiKey, type Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { Problem } from '../problems/problem.ts';
import type { Answer, Service } from '../runs/service.ts';
import { runApiKeyCommand } from './api-key-command.ts';

interface ApiKeys {
  /** The API key to send. An idempotency key keeps its first, by which it is scoped. Throws as `runApiKeyCommand` does. */
  of(idempotencyKey?: string): Promise<string>;
  /** Runs the command, if there is one, again after a refusal of the API key, at most once a minute. Never throws. */
  renew(): void;
}

const betweenRenewalsMs = 60_000;

/** Throws a usage problem if no API key is set. A command is run when the first API key is asked for. */
export function createApiKeys({ apiKey, ...settings }: Settings, context: Context): ApiKeys {
  const { clock, reporter } = context;
  const { command, source = '' } = apiKey;
  const given = command === undefined ? requireApiKey({ apiKey, ...settings }) : undefined;
  const ofTriggers = new Map<string, Promise<string>>();
  let current: Promise<string> | undefined;
  let renewedAtMs = Number.NEGATIVE_INFINITY;
  const inForce = () => {
    current ??= given === undefined ? runApiKeyCommand(command ?? '', source, context) : Promise.resolve(given);
    return current;
  };
  return {
    of(idempotencyKey) {
      if (idempotencyKey === undefined) return inForce();
      const own = ofTriggers.get(idempotencyKey) ?? inForce();
      ofTriggers.set(idempotencyKey, own);
      return own;
    },
    renew() {
      if (command === undefined || clock.elapsedMs() - renewedAtMs < betweenRenewalsMs) return;
      renewedAtMs = clock.elapsedMs();
      const old = inForce();
      // Polls wait for the command. If it fails, they are refused again, and the watch ends as without a command.
      current = runApiKeyCommand(command, source, context).catch((error) => {
        if (!(error instanceof Problem)) throw error;
        reporter.observe({ event: 'warning', name: 'api_key_command_failed', message: error.message });
        return old;
      });
    },
  };
}

/** The service, which has the API key renewed after a 401 that follows a valid answer. */
export function withRenewal({ trigger, status, result }: Service, apiKeys: ApiKeys): Service {
  let hasAnswered = false;
  const renewIfRefused = <T>(answer: Answer<T>): Answer<T> => {
    if (answer.kind === 'ok') hasAnswered = true;
    else if (hasAnswered && answer.fault.httpStatus === 401) apiKeys.renew();
    return answer;
  };
  return {
    trigger: (...request) => trigger(...request).then(renewIfRefused),
    status: (...request) => status(...request).then(renewIfRefused),
    result: (...request) => result(...request).then(renewIfRefused),
  };
}
