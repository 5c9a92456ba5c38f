import { setMaxListeners } from 'node:events';
import { vi } from 'vitest';
import type { Opened } from '../../src/commands/open.ts';
import { recover } from '../../src/commands/recover.ts';
import { trigger } from '../../src/commands/trigger.ts';
import type { Context } from '../../src/context.ts';
import { createTriggerJournal } from '../../src/journal/trigger-journal.ts';
import { type ExitName, exitNameOfSeveral } from '../../src/run/exit-codes.ts';
import { type Answer, type FailureKind, failure, rowOf } from '../../src/run/failure.ts';
import type { Ports, StartedRun, Trigger } from '../../src/run/ports.ts';
import { exitNameOf, Problem, type RunOrTriggerReport } from '../../src/run/report.ts';
import { hourMs } from '../../src/run/time.ts';
import { type History, projectId, type Use } from './histories.ts';
import { createMemoryJournal } from './journal.ts';
import { createService, type Request } from './service.ts';
import { createMachine, createRandom, createTime, type Machine } from './time.ts';

// A command gets the simulated service and journal in place of those that its settings name.
vi.mock('../../src/commands/open.ts', () => ({
  open: async ({ opened }: { opened: Opened }) => opened,
}));

/** A command that ran, and all that it did and said. */
export interface Command {
  use: Use;
  number: number;
  machine: Machine;
  /** The time of day when it was first to send each key of its own. */
  keySinceMs: Map<string, number>;
  requests: Request[];
  /** When it last looked into the journal, and how many lines it saw. */
  look: { atMs: number; lines: number };
  /** It has said that the journal can't be written. */
  hasWarned: boolean;
  /** What it has printed. */
  reports: RunOrTriggerReport[];
  /** Undefined: it was killed. */
  exit?: ExitName;
}

export type World = ReturnType<typeof createWorld>;

function createWorld({ seed, traits, countsSleep }: History) {
  const time = createTime();
  return {
    time,
    machines: [createMachine(time, countsSleep), createMachine(time, countsSleep)] as const,
    service: createService(traits, time),
    areKeysIgnored: traits.ignoresKeys,
    random: createRandom(seed),
    commands: [] as Command[],
    /** How many commands the history has. Calm sweeps come after it. */
    played: 0,
  };
}

/** Lets a history happen, and then a calm sweep for each journal and API key. */
export async function play(history: History): Promise<World> {
  const world = createWorld(history);
  const { time, machines, service } = world;
  const errors: unknown[] = [];
  const begin = (use: Use) => run(use, world).catch((error) => errors.push(error));
  let atMs = 0;
  for (const { afterMs, act } of history.steps) {
    atMs += afterMs;
    time.after(atMs, () => {
      if (act.type === 'commands') {
        for (const use of act.uses) time.after(use.startsMs, () => begin({ ...act.place, ...use }));
      }
      if (act.type === 'sleep') machines[0].sleep(act.ms);
      if (act.type === 'set clock') machines[0].setByMs += act.byMs;
      if (act.type === 'other run') service.start({ projectId, name: 'nightly' });
    });
  }
  await time.pass();
  world.played = world.commands.length;
  for (const machine of [0, 1] as const) {
    for (const apiKey of ['one', 'two'] as const) {
      time.after(hourMs, () => begin({ command: 'recover', machine, apiKey, network: [] }));
      await time.pass();
    }
  }
  if (errors.length > 0) throw errors[0];
  return world;
}

/** A use of a port, which takes time, and may be the last thing that a command does. */
type Step = <T>(act: () => T | Promise<T>) => Promise<T>;

/** Runs a command as a process of its own. Never resolves if it is killed. */
async function run(use: Use, world: World): Promise<void> {
  const { time, random, commands } = world;
  const machine = world.machines[use.machine];
  const command: Command = {
    use,
    number: commands.length,
    machine,
    keySinceMs: new Map(),
    requests: [],
    look: { atMs: Number.NEGATIVE_INFINITY, lines: 0 },
    hasWarned: false,
    reports: [],
  };
  commands.push(command);
  let steps = 0;
  async function pass(): Promise<void> {
    const tookMs = random() * (use.stepMs ?? 10);
    await new Promise<void>((resolve) => time.after(tookMs, resolve, machine));
    if (++steps === use.killedAt) await new Promise(() => {});
  }
  const step: Step = async (act) => {
    await pass();
    const value = await act();
    await pass();
    return value;
  };

  const opened = openSimulated(command, step, world);
  const { clock, emit } = opened.ports;
  const context = { opened, clock, emit } as unknown as Context;
  const { key, ifActive, watch, giveUpAfterMs, timeoutMs } = use;
  const flags = { ifActive, watch, giveUpAfterMs, timeoutMs, idempotencyKey: key };
  if (use.command === 'trigger' && key !== undefined) command.keySinceMs.set(key, clock.nowMs());
  try {
    const { reports, afterPrint } =
      use.command === 'recover'
        ? await recover(undefined, flags, context)
        : await trigger([`${use.projectId}/nightly`], flags, context);
    await step(() => {
      command.reports = reports as RunOrTriggerReport[];
    });
    afterPrint?.();
    command.exit = exitNameOfSeveral(reports.map(exitNameOf));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    command.exit = error.exit;
  }
}

function openSimulated(command: Command, step: Step, world: World): Opened {
  const { use, machine, number, keySinceMs } = command;
  const { time, random, areKeysIgnored } = world;
  const { clock } = machine;
  const interrupt = new AbortController();
  const { signal } = interrupt;
  setMaxListeners(0, signal);
  if (use.interruptedAfterMs !== undefined) {
    time.after(use.interruptedAfterMs, () => interrupt.abort('SIGINT'), machine);
  }
  let ids = 0;
  const journal = createMemoryJournal(machine, use);
  const records = createTriggerJournal({
    journal,
    apiKey: use.apiKey,
    areKeysIgnored,
    newId: () => `sent-${number}-${++ids}`,
    scrub: (text) => text,
    onUnwritable() {
      command.hasWarned = true;
    },
  });
  const send = createSender(command, signal, world);
  const ports: Ports = {
    service: {
      // Whether it may be sent was asked at this moment, so there is no step before it.
      async trigger(...args) {
        const answer = await send(...args);
        await step(() => {});
        return answer;
      },
      // Nothing can be followed, which must not look as if nothing had been started.
      status: () => step(() => ({ ok: false, failure: failure('unauthorized') })),
      result: () => step(() => ({ ok: false, failure: failure('unauthorized') })),
    },
    journal: {
      ...records,
      appendSent: (...args) => step(() => records.appendSent(...args)),
      appendRefused: (...args) => step(() => records.appendRefused(...args)),
      appendAccepted: (...args) => step(() => records.appendAccepted(...args)),
      look: (sent) =>
        step(() => {
          command.look = { atMs: time.nowMs(), lines: machine.lines.length };
          return records.look(sent);
        }),
    },
    clock: { ...clock, sleep: (ms) => step(() => clock.sleep(ms, signal)) },
    random,
    newKey() {
      const key = `minted-${number}-${++ids}`;
      keySinceMs.set(key, clock.nowMs());
      return key;
    },
    signal,
    requestTimeoutMs: 30_000,
    turn: () => step(() => {}),
    emit() {},
  };
  const settings = { idempotencyKeys: { value: areKeysIgnored ? 'ignored' : 'honored' } };
  return { settings: settings as Opened['settings'], journal, ports, apiKey: use.apiKey };
}

/** Sends triggers over a network to which happens what the command's `network` says. */
function createSender(command: Command, signal: AbortSignal, { time, service }: World) {
  const { use, machine } = command;
  const network = [...use.network];
  return (trigger: Trigger, timeoutMs: number): Promise<Answer<StartedRun>> => {
    const condition = network.shift() ?? { arrivesMs: 50 };
    const { arrivesMs, reply, retryAfterMs } = condition;
    const isSent = !reply || rowOf(failure(reply)).effect === 'unknown';
    const request: Request = {
      by: command.number,
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
      const fail = (kind: FailureKind) =>
        end({ ok: false, failure: failure(kind, { retryAfterMs }) });
      const receive = (answer?: Answer<StartedRun>) =>
        time.after(50, () => (reply ? fail(reply) : answer && end(answer)), machine);
      time.after(timeoutMs, () => fail(isSent ? 'no_response' : 'unreachable'), machine);
      signal.addEventListener('abort', () => fail(isSent ? 'no_response' : 'interrupted'));
      if (arrivesMs !== undefined) {
        time.after(arrivesMs, () => service.trigger(request, condition).then(receive));
      } else if (reply !== 'no_response') receive();
    });
  };
}
