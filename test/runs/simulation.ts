import { expect } from 'vitest';
import { type Journal, openJournal } from '../../src/journal/journal.ts';
import type { Problem } from '../../src/problems/problem.ts';
import type { Service } from '../../src/runs/service.ts';
import { knownRun } from '../../src/session/find-run.ts';
import { type Followed, followRun } from '../../src/session/follow-run.ts';
import { recoverTriggers } from '../../src/session/recover-triggers.ts';
import type { Session } from '../../src/session/session.ts';
import { type IfActive, startRun } from '../../src/session/start-run.ts';
import { createMemory } from '../helpers/memory-context.ts';
import { target } from '../helpers/scripted-service.ts';
import { type Condition, createServiceModel, type ModelOptions, type ModelRun } from '../helpers/service-model.ts';
import { baseUrl, createSession } from '../helpers/session.ts';
import { createVirtualClock } from '../helpers/virtual-clock.ts';

/** One use of the program: a process of its own, that is perhaps killed. */
export interface Use {
  /** `elsewhere`: another machine starts a run, and this one polls it. */
  command: 'trigger' | 'recover' | 'watch' | 'elsewhere';
  key?: string;
  ifActive: IfActive;
  /** After the moment has begun. */
  lateMs: number;
  /** Follows what it started. */
  watches: boolean;
  conditions: Condition[];
  /** Dies at its nth call of the service or the journal: before that has happened, or after. */
  kill?: { nth: number; after: boolean };
  /** Time until the next one. */
  restMs: number;
}

class Killed extends Error {}

export type ServiceOptions = Pick<ModelOptions, 'order' | 'namesActiveRun' | 'replaysRefusals' | 'durationMs'>;

export type Simulation = ReturnType<typeof createSimulation>;

/** A service, a machine whose journal is in `folder`, and time: everything that outlives a process. */
export function createSimulation(folder: string, options: ServiceOptions) {
  const clock = createVirtualClock();
  let conditions: Condition[] = [];
  const nextCondition = () => conditions.shift() ?? { kind: 'normal' };
  const model = createServiceModel({ ...options, nowMs: clock.nowMs, nextCondition });
  /** The key of every request to start a run, by the use that it was made for. */
  const keysOf = new Map<Use, Set<string>>();

  const foreignKeys = new Set<string>();

  function openProcess(use: Use, onKill: () => void) {
    const itsConditions = [...use.conditions];
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
        conditions = itsConditions;
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
    const context = { ...createMemory(), clock };
    return createSession(service, { context, journal: { ...journal, append } });
  }

  /** What the program does, without its command line and its words. */
  async function run(
    use: Use,
  ): Promise<{ started?: ModelRun; problem?: Problem; followed?: Followed; isKilled?: true }> {
    let kill = () => {};
    const killed = new Promise<{ isKilled: true }>((resolve) => {
      kill = () => resolve({ isKilled: true });
    });
    await clock.sleep(use.lateMs);
    const session = openProcess(use, kill);
    try {
      return await Promise.race([killed, act(use, session)]);
    } catch (error) {
      if (error instanceof Killed) return { isKilled: true };
      throw error;
    }
  }

  async function act(use: Use, session: Session) {
    const { journal, context } = session;
    if (use.command === 'recover') {
      await recover(session);
      return {};
    }
    if (use.command === 'elsewhere') {
      const idempotencyKey = `elsewhere-${foreignKeys.size}`;
      foreignKeys.add(idempotencyKey);
      conditions = [];
      const answer = await model.trigger({ target, idempotencyKey, body: '{}' }, context.signal);
      if (answer.kind === 'fault') return {};
      journal.recordStatus(baseUrl, { target, executionId: answer.value.executionId ?? '' }, answer.value);
      return {};
    }
    if (use.command === 'watch') {
      const last = journal.last({ baseUrl });
      if (!last?.executionId) return {};
      const known = knownRun(last, { target: last.target, executionId: last.executionId });
      return { followed: await followRun(known, {}, session) };
    }
    const flags = { idempotencyKey: use.key, ifActive: use.ifActive, timeoutMs: 180_000 };
    const start = await startRun({ target, body: '{}' }, flags, session);
    if (start.kind === 'failed') return { problem: start.problem };
    if (start.kind === 'skipped') return {};
    const { executionId } = start.run;
    const started = model.runs.find((candidate) => candidate.executionId === executionId);
    expect(started, 'an id that was told is that of a run').toBeDefined();
    if (start.kind !== 'started') return {};
    if (!use.watches) return { started };
    const ours = { run: start.run, known: start.execution, triggeredAtMs: clock.nowMs() };
    return { started, followed: await followRun(ours, {}, session) };
  }

  async function recover(session: Session) {
    const recoveries = [];
    for await (const recovery of recoverTriggers({ onRetry() {} }, session)) recoveries.push(recovery);
  }

  const journal = () => openJournal({ folder, nowMs: clock.nowMs, onTrouble() {} });
  return { model, clock, run, keysOf, foreignKeys, journal };
}
