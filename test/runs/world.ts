import { expect } from 'vitest';
import type { Context } from '../../src/context.ts';
import { type Journal, openJournal } from '../../src/journal/journal.ts';
import { createTriggerRecord } from '../../src/journal/trigger-record.ts';
import { Problem } from '../../src/problems/problem.ts';
import { createBudget } from '../../src/runs/budget.ts';
import type { Ending } from '../../src/runs/follow.ts';
import type { Service } from '../../src/runs/service.ts';
import { createTempo } from '../../src/runs/tempo.ts';
import { triggerRun } from '../../src/runs/trigger.ts';
import type { Connection } from '../../src/session/connect.ts';
import { knownRun } from '../../src/session/find-run.ts';
import { followRun } from '../../src/session/follow-run.ts';
import { type IfActive, startRun } from '../../src/session/start-run.ts';
import { createMemory } from '../helpers/memory-context.ts';
import { target } from '../helpers/scripted-service.ts';
import { createServiceModel, type ModelOptions, type ModelRun, type Weather } from '../helpers/service-model.ts';
import { createVirtualClock } from '../helpers/virtual-clock.ts';

/** One use of the program: a process of its own, that is perhaps killed. */
export interface Use {
  /** `elsewhere`: another machine starts a run, and this one looks at it. */
  command: 'trigger' | 'recover' | 'watch' | 'elsewhere';
  key?: string;
  ifActive: IfActive;
  /** After the moment has begun. */
  lateMs: number;
  /** Follows what it started. */
  watches: boolean;
  weather: Weather[];
  /** Dies at its nth call of the service or the journal: before that has happened, or after. */
  kill?: { nth: number; after: boolean };
  /** Time until the next one. */
  restMs: number;
}

export const baseUrl = 'https://service.test';
export const account = 'account';
class Killed extends Error {}

export type ServiceOptions = Pick<ModelOptions, 'order' | 'namesActiveRun' | 'replaysRefusals' | 'durationMs'>;

export type World = ReturnType<typeof createWorld>;

/** A service, a machine whose journal is in `folder`, and time: everything that outlives a process. */
export function createWorld(folder: string, options: ServiceOptions) {
  const clock = createVirtualClock();
  let weather: Weather[] = [];
  const struck = () => weather.shift() ?? { kind: 'fair' };
  const model = createServiceModel({ ...options, nowMs: clock.nowMs, weather: struck });
  /** The key of every request to start a run, by the use that it was made for. */
  const keysOf = new Map<Use, Set<string>>();

  const foreignKeys = new Set<string>();

  function openProcess(use: Use, onKill: () => void) {
    const itsWeather = [...use.weather];
    const onTrouble = (message: string) => expect.unreachable(message);
    const journal = openJournal({ folder, nowMs: clock.nowMs, onTrouble });
    let calls = 0;
    let isDead = false;
    const die = () => {
      isDead = true;
      onKill();
    };
    const isTime = (after: boolean) => use.kill?.nth === calls && use.kill.after === after;
    const mortal =
      <A extends unknown[], T>(act: (...args: A) => Promise<T>) =>
      async (...args: A): Promise<T> => {
        calls += 1;
        if (isTime(false)) die();
        weather = itsWeather;
        if (!isDead) {
          const answer = await act(...args);
          if (isTime(true)) die();
          if (!isDead) return answer;
        }
        return new Promise(() => {});
      };
    const service: Service = {
      trigger: mortal((request, signal) => {
        keysOf.set(use, (keysOf.get(use) ?? new Set()).add(request.idempotencyKey));
        return model.trigger(request, signal);
      }),
      status: mortal(model.status),
      result: mortal(model.result),
    };
    const append: Journal['append'] = (record) => {
      calls += 1;
      if (isTime(false)) {
        die();
        throw new Killed();
      }
      const isWritten = journal.append(record);
      if (!isTime(true)) return isWritten;
      die();
      throw new Killed();
    };
    const connection = {
      account,
      baseUrl,
      service,
      journal: { ...journal, append },
      budget: createBudget(10, clock),
      tempo: createTempo(),
      sentKeys: new Set(),
      history: () => [],
    } as unknown as Connection;
    const context: Context = { ...createMemory(), clock };
    return { connection, context };
  }

  /** What the program does, without its command line and its words. */
  async function run(use: Use): Promise<{ started?: ModelRun; problem?: Problem; ending?: Ending; isKilled?: true }> {
    let kill = () => {};
    const killed = new Promise<{ isKilled: true }>((resolve) => {
      kill = () => resolve({ isKilled: true });
    });
    await clock.sleep(use.lateMs);
    const { connection, context } = openProcess(use, kill);
    try {
      return await Promise.race([killed, act(use, connection, context)]);
    } catch (error) {
      if (error instanceof Killed) return { isKilled: true };
      if (error instanceof Problem) return { problem: error };
      throw error;
    }
  }

  async function act(use: Use, connection: Connection, context: Context) {
    const { journal } = connection;
    if (use.command === 'recover') {
      await recover(connection, context);
      return {};
    }
    if (use.command === 'elsewhere') {
      const idempotencyKey = `elsewhere-${foreignKeys.size}`;
      foreignKeys.add(idempotencyKey);
      weather = [];
      const answer = await model.trigger({ target, idempotencyKey, body: '{}' }, context.signal);
      if (answer.kind === 'fault') return {};
      journal.recordStatus(baseUrl, { target, executionId: answer.value.executionId ?? '' }, answer.value);
      return {};
    }
    if (use.command === 'watch') {
      const last = journal.last({ baseUrl });
      if (!last?.executionId) return {};
      const known = knownRun(last, { target: last.target, executionId: last.executionId });
      return { ending: await followRun(known, {}, connection, reporter, context) };
    }
    const flags = { idempotencyKey: use.key, ifActive: use.ifActive, timeoutMs: 180_000 };
    const start = await startRun({ target, body: '{}' }, flags, connection, reporter, context);
    if (start.kind === 'skipped') return {};
    const { executionId } = start.run;
    const started = model.runs.find((candidate) => candidate.executionId === executionId);
    expect(started, 'an id that was told is that of a run').toBeDefined();
    if (start.kind !== 'started') return {};
    if (!use.watches) return { started };
    const ours = { run: start.run, known: start.execution, triggeredAtMs: clock.nowMs() };
    return { started, ending: await followRun(ours, {}, connection, reporter, context) };
  }

  async function recover({ journal, service, budget }: Connection, { clock, random, signal }: Context) {
    for (const { target, idempotencyKey, body, userProvided, ageMs } of journal
      .unresolvedTriggers({ baseUrl })
      .reverse()) {
      const record = createTriggerRecord(journal, {
        baseUrl,
        account,
        target,
        idempotencyKey,
        body,
        userProvided,
        isRepeat: true,
      });
      const ports = { service, budget, record, clock, random, signal, giveUpAfterMs: 30_000 };
      await triggerRun({ target, idempotencyKey, body }, ports, { given: userProvided, ageMs });
    }
  }

  const journal = () => openJournal({ folder, nowMs: clock.nowMs, onTrouble() {} });
  return { model, clock, run, keysOf, foreignKeys, journal };
}

const reporter = { observe() {}, say() {}, stop() {} };
