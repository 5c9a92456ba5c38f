import { exitNameOfOutcome } from '../../src/run/exit-of.ts';
import { exitNameOfFault } from '../../src/run/fault.ts';
import type { RunResource } from '../../src/run/service.ts';
import { createRateLimiter } from '../../src/service/rate-limiter.ts';
import type { SendOptions } from '../../src/start/send-attempts.ts';
import { fetchResource } from '../../src/watch/fetch-run.ts';
import { watchRun } from '../../src/watch/watch-run.ts';
import { createWatchSession } from '../../src/watch/watch-session.ts';
import { account, baseUrl, createConnection } from '../helpers/connection.ts';
import { run, target } from '../helpers/scripted-service.ts';
import { scriptedTransport } from '../helpers/scripted-transport.ts';
import { sendAndSettle } from '../helpers/send-and-settle.ts';
import { createVirtualClock } from '../helpers/virtual-clock.ts';

export interface Given {
  /** What every chance comes out as, 0 to 1. */
  chance?: number;
  giveUpAfterMs?: number;
  timeoutMs?: number;
  intervalMs?: number;
  /** The watch follows a trigger of our own that has just been answered. */
  isOurs?: boolean;
  /** It follows a trigger that another process of this machine sent a moment ago. */
  isOfAnotherProcess?: boolean;
}

interface Outcome {
  /** The name in the table of exit codes. */
  end: string;
  /** Between one request and the next. */
  gapsMs: number[];
}

export type Runner = (script: string, given?: Given) => Promise<Outcome>;

const signal = new AbortController().signal;

function prepare(script: string, { chance = 0.5 }: Given) {
  const clock = createVirtualClock();
  const transport = scriptedTransport(script, clock);
  const ports = {
    clock,
    signal,
    random: () => chance,
    service: transport.service,
    limiter: createRateLimiter(1000, clock),
  };
  const ended = (end: string): Outcome => ({
    end,
    gapsMs: transport.sentAtMs.slice(1).map((atMs, index) => atMs - (transport.sentAtMs[index] ?? 0)),
  });
  return { ...ports, ended };
}

const trigger =
  (sendOptions: Partial<SendOptions>): Runner =>
  async (script, given = {}) => {
    const { ended, ...ports } = prepare(script, given);
    const record = {
      triggered() {},
      inDoubt() {},
      accepted() {},
      refused() {},
      isTaken: () => false,
      readKey: () => undefined,
    };
    const { giveUpAfterMs = 30_000, timeoutMs = Number.POSITIVE_INFINITY } = given;
    const limits = {
      giveUpAfterMs,
      requestTimeoutMs: 30_000,
      commandLeftMs: createWatchSession(timeoutMs, ports.clock).leftMs,
    };
    const sent = { baseUrl, account, target, idempotencyKey: 'key-1', userProvided: false, body: '{}' };
    const result = await sendAndSettle(sent, sendOptions, { ...ports, ...limits, record });
    if (result.kind === 'has_run') return ended('ok');
    return ended(result.kind === 'in_doubt' ? 'outcome_unknown' : exitNameOfFault(result.fault));
  };

const poll =
  (operation: RunResource): Runner =>
  async (script, { giveUpAfterMs = 30_000, ...given } = {}) => {
    const { ended, service, ...ports } = prepare(script, given);
    const answer = await fetchResource(operation, { run }, createConnection(service, { ...ports, giveUpAfterMs }));
    return ended(answer.kind === 'ok' ? 'ok' : exitNameOfFault(answer.fault));
  };

const watch: Runner = async (script, given = {}) => {
  const { ended, service, ...ports } = prepare(script, given);
  const { intervalMs = 10_000, timeoutMs = Number.POSITIVE_INFINITY, giveUpAfterMs = 600_000 } = given;
  const { clock } = ports;
  const sinceTriggerMs = given.isOurs || given.isOfAnotherProcess ? () => clock.elapsedMs() : undefined;
  const session = createWatchSession(timeoutMs, clock);
  if (given.isOurs) session.noteValidResponse();
  const connection = createConnection(service, {
    ...ports,
    session,
    giveUpAfterMs,
    watchOptions: { interval: intervalMs },
  });
  return ended(exitNameOfOutcome(await watchRun({ run, sinceTriggerMs }, connection)));
};

/** The requests that are retried, each by its own rules, against a script of answers (`scripted-transport.ts`). */
export const runners = {
  trigger: trigger({}),
  'trigger in doubt': trigger({ earlier: { ageMs: 60_000, sentByThisCommand: true } }),
  status: poll('status'),
  result: poll('result'),
  watch,
};
