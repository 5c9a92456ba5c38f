import { setMaxListeners } from 'node:events';
import { vi } from 'vitest';
import type { Opened } from '../../src/commands/open.ts';
import { recover } from '../../src/commands/recover.ts';
import { trigger } from '../../src/commands/trigger.ts';
import type { Context } from '../../src/context.ts';
import { createTriggerJournal } from '../../src/journal/trigger-journal.ts';
import { type ExitName, exitNameOfSeveral } from '../../src/run/exit-codes.ts';
import { type Answer, failure, rowOf } from '../../src/run/failure.ts';
import type { Ports, Service, StartedRun, Trigger } from '../../src/run/ports.ts';
import { exitNameOf, Problem, type Report } from '../../src/run/report.ts';
import type { Run, RunStatus } from '../../src/run/run.ts';
import { createMemoryJournal, type Disk, type DiskFault } from './journal.ts';
import type { Condition, createService, Request } from './service.ts';
import type { Machine, Time } from './time.ts';

// A command gets the simulated service and journal in place of those that its settings name.
vi.mock('../../src/commands/open.ts', () => ({
  open: async ({ opened }: { opened: Opened }) => opened,
}));

/** A command as somebody types it, and what happens to it. */
export interface Use {
  command: 'trigger' | 'recover';
  machine: 0 | 1;
  apiKey: 'one' | 'two';
  /** Of two projects that have an automation of the same name. */
  projectId: string;
  /** `--idempotency-key` */
  key: string | undefined;
  ifActive: 'fail' | 'skip' | 'wait';
  watch: boolean;
  giveUpAfterMs: number | undefined;
  timeoutMs: number | undefined;
  /** What becomes of its requests to trigger, in order. */
  network: Condition[];
  writeFaults: DiskFault[];
  isUnreadable: boolean;
  /** It dies before or after one of its uses of service, journal and clock. */
  killedAt: number | undefined;
  interruptedAfterMs: number | undefined;
}

/** A command that ran, and all that it did and said. */
export interface Command {
  use: Use;
  /** The time of day when it began with each key of its own. */
  keySinceMs: Map<string, number>;
  requests: Request[];
  /** When it last looked into the journal. */
  lookedMs: number;
  /** That the journal can't be written. */
  hasWarned: boolean;
  reports: Report[];
  /** Undefined: it was killed. */
  exit?: ExitName;
}

export interface World {
  time: Time;
  machines: Machine[];
  /** One for each machine. */
  disks: Disk[];
  service: ReturnType<typeof createService>;
  areKeysIgnored: boolean;
  random(): number;
  commands: Command[];
}

/** A use of a port, which takes time, and may be the last thing that a command does. */
type Step = <T>(act: Promise<T> | (() => T | Promise<T>)) => Promise<T>;

/** Runs a command as a process of its own. Resolves when it has exited or was killed. */
export async function runCommand(use: Use, world: World): Promise<void> {
  const command: Command = {
    use,
    keySinceMs: new Map(),
    requests: [],
    lookedMs: Number.NEGATIVE_INFINITY,
    hasWarned: false,
    reports: [],
  };
  world.commands.push(command);
  let kill = () => {};
  const killed = new Promise<void>((resolve) => {
    kill = resolve;
  });
  const machine = world.machines[use.machine] as Machine;
  let steps = 0;
  async function pass(): Promise<void> {
    // Most steps take milliseconds, a few take a minute.
    const tookMs = world.random() ** 8 * 60_000;
    await new Promise<void>((resolve) => world.time.after(tookMs, resolve, machine));
    if (++steps === use.killedAt) {
      kill();
      await new Promise(() => {});
    }
  }
  const step: Step = async (act) => {
    if (typeof act === 'function') await pass();
    const value = await (typeof act === 'function' ? act() : act);
    await pass();
    return value;
  };
  await Promise.race([execute(command, step, world), killed]);
}

async function execute(command: Command, step: Step, world: World): Promise<void> {
  const { use } = command;
  const opened = openSimulated(command, step, world);
  const { clock, emit } = opened.ports;
  const context = { opened, clock, emit } as unknown as Context;
  const { watch, ifActive, giveUpAfterMs, timeoutMs, key } = use;
  const flags = { watch, giveUpAfterMs, timeoutMs };
  if (key !== undefined) command.keySinceMs.set(key, clock.nowMs());
  try {
    const { reports, afterPrint } =
      use.command === 'recover'
        ? await recover(undefined, flags, context)
        : await trigger(
            [`${use.projectId}/nightly`],
            { ...flags, ifActive, idempotencyKey: key },
            context,
          );
    await step(() => {
      command.reports = [...reports];
    });
    afterPrint?.();
    command.exit = exitNameOfSeveral(reports.map(exitNameOf));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    command.exit = error.exit;
  }
}

function openSimulated(command: Command, step: Step, world: World): Opened {
  const { use } = command;
  const { random, areKeysIgnored } = world;
  const machine = world.machines[use.machine] as Machine;
  const { clock } = machine;
  const number = world.commands.indexOf(command);
  const interrupt = new AbortController();
  setMaxListeners(0, interrupt.signal);
  if (use.interruptedAfterMs !== undefined) {
    world.time.after(use.interruptedAfterMs, () => interrupt.abort('SIGINT'), machine);
  }
  const journal = createMemoryJournal(world.disks[use.machine] as Disk, {
    nowMs: clock.nowMs,
    writeFaults: [...use.writeFaults],
    isUnreadable: use.isUnreadable,
  });
  let ids = 0;
  const records = createTriggerJournal({
    journal,
    apiKey: use.apiKey,
    areKeysIgnored,
    newId: () => `sent-${number}-${++ids}`,
    scrub: (text) => text,
    onUnwritable: () => {
      command.hasWarned = true;
    },
  });
  const ports: Ports = {
    service: openService(command, step, interrupt.signal, world),
    journal: {
      appendSent: (...args) => step(() => records.appendSent(...args)),
      appendRefused: (...args) => step(() => records.appendRefused(...args)),
      appendAccepted: (...args) => step(() => records.appendAccepted(...args)),
      appendStatus: records.appendStatus,
      look: (trigger) =>
        step(() => {
          command.lookedMs = world.time.nowMs();
          return records.look(trigger);
        }),
    },
    clock: { ...clock, sleep: (ms, signal) => step(() => clock.sleep(ms, signal)) },
    random,
    newKey() {
      const key = `key-${number}-${++ids}`;
      command.keySinceMs.set(key, clock.nowMs());
      return key;
    },
    signal: interrupt.signal,
    requestTimeoutMs: 30_000,
    turn: () => step(() => {}),
    emit() {},
  };
  const settings = { idempotencyKeys: { value: areKeysIgnored ? 'ignored' : 'honored' } };
  return { settings: settings as Opened['settings'], journal, ports, apiKey: use.apiKey };
}

const outages = ['server_error', 'connection_lost', 'unauthorized', 'rate_limited'] as const;

/** The service as a command reaches it. */
function openService(
  command: Command,
  step: Step,
  signal: AbortSignal,
  world: World,
): Service {
  const { use } = command;
  const { time, service, random } = world;
  const machine = world.machines[use.machine] as Machine;
  const network = [...use.network];

  function send(trigger: Trigger, timeoutMs: number): Promise<Answer<StartedRun>> {
    const { arrivesMs, ...condition } = network.shift() ?? { arrivesMs: 50 };
    const { reply, retryAfterMs } = condition;
    const isSent = arrivesMs !== undefined || !reply || rowOf(failure(reply)).effect === 'unknown';
    const request: Request = {
      by: world.commands.indexOf(command),
      apiKey: use.apiKey,
      automation: trigger.automation,
      key: trigger.idempotencyKey,
      sentMs: time.nowMs(),
      sentNowMs: machine.clock.nowMs(),
    };
    command.requests.push(request);
    return new Promise((resolve) => {
      const end = (answer: Answer<StartedRun>) => {
        request.answer ??= answer;
        resolve(request.answer);
      };
      const fail = (kind: Parameters<typeof failure>[0]) =>
        end({ ok: false, failure: failure(kind, { retryAfterMs }) });
      const interrupt = () => fail(isSent ? 'no_response' : 'interrupted');
      if (signal.aborted) interrupt();
      signal.addEventListener('abort', interrupt);
      time.after(timeoutMs, () => fail(isSent ? 'no_response' : 'unreachable'), machine);
      const receive = (answer?: Answer<StartedRun>) => {
        if (reply === 'no_response') return;
        time.after(50, () => (reply ? fail(reply) : answer && end(answer)), machine);
      };
      if (arrivesMs === undefined) receive();
      else time.after(arrivesMs, () => service.trigger(request, condition).then(receive));
    });
  }

  /** A run's status, but for an outage now and then. */
  async function poll(run: Run): Promise<Answer<RunStatus>> {
    await new Promise<void>((resolve) => time.after(100, resolve, machine));
    if (signal.aborted) return { ok: false, failure: failure('interrupted') };
    const outage = outages[Math.floor(random() * 40)];
    if (outage) return { ok: false, failure: failure(outage) };
    return service.status(run);
  }

  return {
    // Whether it may still be sent was asked at this moment.
    trigger: (trigger, timeoutMs) => step(send(trigger, timeoutMs)),
    status: (run) => step(() => poll(run)),
    async result(run) {
      const answer = await step(() => poll(run));
      return answer.ok ? { ok: true, value: { ...answer.value, output: null } } : answer;
    },
  };
}
