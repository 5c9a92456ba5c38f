import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Connection } from '../../src/connection/connection.ts';
import { openJournal } from '../../src/journal/journal.ts';
import type { Processes } from '../../src/journal/processes.ts';
import { parseRecord } from '../../src/journal/records.ts';
import { runHandleOf } from '../../src/journal/run-handle.ts';
import { defaults } from '../../src/run/limits.ts';
import type { Recovery } from '../../src/run/outcome.ts';
import type { Service } from '../../src/run/service.ts';
import type { IfActive } from '../../src/run/trigger.ts';
import { triggerPath } from '../../src/service/endpoints.ts';
import { createRateLimiter } from '../../src/service/rate-limiter.ts';
import { recoverAll } from '../../src/start/recover.ts';
import { startRun } from '../../src/start/start-run.ts';
import type { StartResult } from '../../src/start/trigger-result.ts';
import type { Clock } from '../../src/system/clock.ts';
import { type WatchOutcome, watchRun } from '../../src/watch/watch-run.ts';
import { createWatchSession } from '../../src/watch/watch-session.ts';
import { baseUrl, createConnection } from '../helpers/connection.ts';
import { createMemory } from '../helpers/memory-context.ts';
import { createRandom } from '../helpers/random.ts';
import { target } from '../helpers/scripted-service.ts';
import { createVirtualClock } from '../helpers/virtual-clock.ts';
import {
  apiKeys,
  type Condition,
  createSimulatedService,
  type SentTrigger,
  type ServiceOptions,
} from './simulated-service.ts';

/** One use of the program: a process of its own, that is perhaps killed. */
export interface Use {
  /** `schedule`: a run of the automation starts without any of us. */
  command: 'trigger' | 'recover' | 'watch' | 'schedule';
  machine: 0 | 1;
  key?: string;
  ifActive: IfActive;
  /** After the moment has begun. */
  lateMs: number;
  /** Follows what it started. */
  watches: boolean;
  conditions: Condition[];
  /** Dies at its nth call of the service or the journal: before that has happened, or after. */
  kill?: { nth: number; after: boolean };
  /** So long after its start the wall clock of its machine is set, or the machine sleeps, as `disturbance` says. */
  disturbed?: { afterMs: number; byMs: number };
}

/** What the program said. */
export interface Outcome {
  start?: StartResult;
  recoveries?: Recovery[];
  followed?: WatchOutcome;
  isKilled?: true;
}

export interface SimulationOptions extends Omit<ServiceOptions, 'clock' | 'random'> {
  seed: number;
  /** The setting says that the service ignores idempotency keys. */
  ignoresKeys: boolean;
  /** By how much the wall clock of each machine is off at first. */
  offsetsMs: [number, number];
  /** A larger file of the journal is followed by another. No more are begun than are always read. */
  fileBytes?: number;
  /** What disturbs a machine: one of its clocks goes wrong, never both. */
  disturbance: 'set' | 'sleep';
}

class Killed extends Error {}

export type Simulation = ReturnType<typeof createSimulation>;

interface Machine {
  folder: string;
  clock: Clock;
  offsetMs: number;
  /** When its wall clock was last set, in true time. */
  setAtMs: number;
}

/** A service, machines with a journal each, and time: everything that outlives a process. */
export function createSimulation(
  folder: string,
  { seed, ignoresKeys, offsetsMs, disturbance, fileBytes, ...options }: SimulationOptions,
) {
  const clock = createVirtualClock();
  const random = createRandom(seed);
  const service = createSimulatedService({ ...options, clock, random });
  const machines = offsetsMs.map((offsetMs, index): Machine => {
    const machine = { folder: join(folder, String(index)), offsetMs, setAtMs: Number.NEGATIVE_INFINITY };
    const nowMs = () => clock.nowMs() + machine.offsetMs;
    return Object.assign(machine, { clock: { nowMs, elapsedMs: clock.elapsedMs, sleep: clock.sleep } });
  });
  const machineOf = ({ machine }: Use) => machines[machine] as Machine;
  /** The requests to start a run, by the use that they were made for. */
  const sentBy = new Map<Use, SentTrigger[]>();
  const running = new Set<string>();
  let processes = 0;
  let disturbances = 0;

  const journalOf = (use: Use) =>
    openJournal({
      ...machineOf(use),
      fileBytes,
      nowMs: machineOf(use).clock.nowMs,
      onFailure: (what) => expect.unreachable(what),
    });

  /** The idempotency keys of triggers that were closed because a later one has a run. */
  function supersededIn({ folder }: Machine): Set<string> {
    const lines = readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'));
    const records = lines.flatMap((line) => parseRecord(line) ?? []);
    return new Set(records.flatMap((record) => (record.type === 'superseded' ? record.idempotencyKey : [])));
  }

  function openProcess(use: Use, apiKey: string, onKill: () => void): Connection & { own: string } {
    const machine = machineOf(use);
    const journal = journalOf(use);
    const own = `machine-${use.machine} ${++processes} 1`;
    running.add(own);
    let calls = 0;
    let isDead = false;
    const die = () => {
      isDead = true;
      running.delete(own);
      onKill();
    };
    const isTime = (after: boolean) => use.kill?.nth === calls && use.kill.after === after;
    const mortal =
      <A extends unknown[], T>(act: (...args: A) => Promise<T>) =>
      async (...args: A): Promise<T> => {
        calls += 1;
        if (isTime(false)) die();
        if (!isDead) {
          const answer = await act(...args);
          if (isTime(true)) die();
          if (!isDead) return answer;
        }
        return new Promise(() => {});
      };
    const conditions = [...use.conditions];
    const nextCondition = () => conditions.shift() ?? { kind: 'normal' };
    const sent: SentTrigger[] = [];
    sentBy.set(use, sent);
    const connected = service.connect(apiKey, machine.clock.nowMs, nextCondition, sent);
    const mortalService: Service = {
      trigger: mortal(connected.trigger),
      status: mortal(connected.status),
      result: mortal(connected.result),
    };
    const append = journal.append.bind(journal);
    journal.append = (record) => {
      if (isDead) throw new Killed();
      calls += 1;
      if (isTime(false)) {
        die();
        throw new Killed();
      }
      const isWritten = append(record);
      // For all that the next process can know, it was sent then.
      if (record.type === 'triggered')
        sent.push({ ...record, apiKey, atMs: clock.nowMs(), isInDoubt: true, wasSent: false });
      if (!isTime(true)) return isWritten;
      die();
      throw new Killed();
    };
    const context = { ...createMemory(), clock: machine.clock, random };
    const stateOf: Processes['stateOf'] = (name) => (running.has(name) ? 'running' : 'ended');
    const limiter = createRateLimiter(10, machine.clock);
    const parts = {
      context,
      // A process may take its time between its look into the journal and its request.
      limiter: {
        pausePolls: (ms: number) => limiter.pausePolls(ms),
        acquire: async (request: Parameters<typeof limiter.acquire>[0]) => {
          await clock.sleep(random() * options.latencyMs);
          return limiter.acquire(request);
        },
      },
      ignoresKeys,
      account: async () => apiKey,
      journal,
      processes: { own, stateOf },
    };
    return { ...createConnection(mortalService, parts), own };
  }

  /** Somebody sets the wall clock of the first machine. */
  function setClock(byMs: number): void {
    const [machine] = machines;
    if (!machine || byMs === 0) return;
    machine.offsetMs += byMs;
    machine.setAtMs = clock.nowMs();
  }

  async function disturb({ disturbed, ...use }: Use): Promise<void> {
    if (!disturbed) return;
    disturbances += 1;
    await clock.sleep(disturbed.afterMs);
    if (disturbance === 'sleep') return clock.suspend(Math.abs(disturbed.byMs));
    const machine = machineOf(use);
    machine.offsetMs += disturbed.byMs;
    machine.setAtMs = clock.nowMs();
  }

  /** What the program does, without its command line and its words; `account` is which API key it has. */
  async function run(use: Use, account = 0): Promise<Outcome> {
    let kill = () => {};
    const killed = new Promise<Outcome>((resolve) => {
      kill = () => resolve({ isKilled: true });
    });
    await clock.sleep(use.lateMs);
    if (use.command === 'schedule') {
      service.startElsewhere(triggerPath(target));
      return {};
    }
    void disturb(use);
    const connection = openProcess(use, apiKeys[account] ?? '', kill);
    try {
      return await Promise.race([killed, act(use, connection)]);
    } catch (error) {
      if (error instanceof Killed) return { isKilled: true };
      throw error;
    } finally {
      running.delete(connection.own);
    }
  }

  async function act(use: Use, connection: Connection): Promise<Outcome> {
    const { journal, clock } = connection;
    if (use.command === 'recover') {
      return { recoveries: await recoverAll({}, connection) };
    }
    if (use.command === 'watch') {
      const last = journal.entries({ baseUrl }).next().value;
      if (!last || last.kind === 'unresolved') return {};
      const { target, executionId } = last;
      return { followed: await watchRun(runHandleOf({ target, executionId }, last, clock), connection) };
    }
    const request = { target, body: '{}', idempotencyKey: use.key, ifActive: use.ifActive };
    const start = await startRun(request, { ...connection, session: createWatchSession(180_000, clock) });
    if (!start.handle?.triggerResponse || !use.watches) return { start };
    const session = createWatchSession(defaults.timeoutMs, clock);
    return { start, followed: await watchRun(start.handle, { ...connection, session }, start.outcome.triggerInfo) };
  }

  return {
    get disturbances() {
      return disturbances;
    },
    service,
    clock,
    machines,
    machineOf,
    run,
    setClock,
    sentBy,
    journalOf,
    supersededIn,
  };
}
