import { setMaxListeners } from 'node:events';
import { vi } from 'vitest';
import type { Opened } from '../../src/commands/open.ts';
import { recover } from '../../src/commands/recover.ts';
import { trigger } from '../../src/commands/trigger.ts';
import type { Context } from '../../src/context.ts';
import { type ExitName, exitNameOfSeveral } from '../../src/core/exit-codes.ts';
import { type Answer, type FailureKind, failureOf, rowOf } from '../../src/core/failure.ts';
import type { Ports, StartedRun, Trigger } from '../../src/core/ports.ts';
import { exitNameOf, Problem, type RunOrTriggerReport } from '../../src/core/report.ts';
import { hourMs } from '../../src/core/time.ts';
import { createRecorder } from '../../src/journal/recorder.ts';
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
  /** The keys that it minted, and the time of day when it did. */
  minted: Map<string, number>;
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

export interface World extends ReturnType<typeof createWorld> {}

function createWorld({ seed, traits }: History) {
  const time = createTime();
  return {
    time,
    machines: [createMachine(time), createMachine(time)] as const,
    service: createService(traits, time),
    areKeysIgnored: traits.ignoresKeys,
    random: createRandom(seed),
    commands: [] as Command[],
    /** The calm sweeps among them. */
    sweeps: [] as Command[],
    errors: [] as unknown[],
  };
}

/** Lets a history happen, and then a calm sweep on each machine with each API key. */
export async function play(history: History): Promise<World> {
  const world = createWorld(history);
  const { time, machines, service, commands } = world;
  let atMs = 0;
  for (const { afterMs, place, uses, setByMs = 0, sleepMs = 0, hasOtherRun } of history.moments) {
    atMs += afterMs;
    time.after(atMs, () => {
      if (hasOtherRun) service.start({ projectId, name: 'nightly' });
      machines[0].setByMs += setByMs;
      machines[0].sleep(sleepMs);
    });
    for (const use of uses) begin({ ...place, ...use }, atMs + use.startsMs, world);
  }
  await time.pass();
  const played = commands.length;
  for (const machine of [0, 1] as const) {
    for (const apiKey of ['one', 'two'] as const) {
      begin({ command: 'recover', machine, apiKey, network: [] }, hourMs, world);
      await time.pass();
    }
  }
  world.sweeps.push(...commands.slice(played));
  for (const error of world.errors) throw error;
  return world;
}

/** Runs a command as a process of its own. */
function begin(use: Use, afterMs: number, world: World): void {
  const machine = world.machines[use.machine];
  const start = () => {
    const facts = { minted: new Map(), requests: [], look: { atMs: 0, lines: 0 }, reports: [] };
    const number = world.commands.length;
    const command: Command = { use, machine, number, hasWarned: false, ...facts };
    world.commands.push(command);
    execute(command, world).catch((error) => world.errors.push(error));
  };
  world.time.after(afterMs, start, machine);
}

/** Never resolves if the command is killed. */
async function execute(command: Command, world: World): Promise<void> {
  const { command: name, projectId, key: idempotencyKey, ...flags } = command.use;
  const step = createStep(command, world);
  const opened = openSimulated(command, step, world);
  const { clock, emit } = opened.ports;
  const context = { opened, clock, emit } as unknown as Context;
  try {
    const { reports, afterPrint } =
      name === 'recover'
        ? await recover(undefined, flags, context)
        : await trigger([`${projectId}/nightly`], { ...flags, idempotencyKey }, context);
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

/** A use of a port takes time, before and after, and may be the last thing that a command does. */
type Step = <T>(act: () => T | Promise<T>) => Promise<T>;

function createStep({ use, machine }: Command, { time, random }: World): Step {
  let halves = 0;
  async function half(): Promise<void> {
    const tookMs = random() * (use.stepMs ?? 10);
    await new Promise<void>((resolve) => time.after(tookMs, resolve, machine));
    if (++halves === use.killedAt) await new Promise(() => {});
  }
  return async (act) => {
    await half();
    const value = await act();
    await half();
    return value;
  };
}

function openSimulated(command: Command, step: Step, world: World): Opened {
  const { use, machine, number, minted } = command;
  const { time, random, areKeysIgnored } = world;
  const { clock } = machine;
  const { apiKey, interruptedAfterMs } = use;
  const interrupt = new AbortController();
  const { signal } = interrupt;
  setMaxListeners(0, signal);
  if (interruptedAfterMs !== undefined) {
    time.after(interruptedAfterMs, () => interrupt.abort('SIGINT'), machine);
  }
  let ids = 0;
  const journal = createMemoryJournal(machine, use);
  const records = createRecorder({
    journal,
    apiKeyHash: apiKey,
    areKeysIgnored,
    newId: () => `sent-${number}-${++ids}`,
    scrub: (text) => text,
    onUnwritable() {
      command.hasWarned = true;
    },
  });
  const send = createSender(command, signal, world);
  const refuse = () => step(() => ({ ok: false as const, failure: failureOf('unauthorized') }));
  const ports: Ports = {
    service: {
      // Whether it may be sent was asked at this moment, so no step comes before it.
      async trigger(...args) {
        const answer = await send(...args);
        return step(() => answer);
      },
      // Nothing can be followed, which must not look as if nothing had been started.
      status: refuse,
      result: refuse,
    },
    recorder: {
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
      minted.set(key, clock.nowMs());
      return key;
    },
    signal,
    requestTimeoutMs: 30_000,
    turn: () => step(() => {}),
    emit() {},
  };
  const settings = { idempotencyKeys: { value: areKeysIgnored ? 'ignored' : 'honored' } };
  return { settings: settings as Opened['settings'], journal, ports, apiKeyHash: apiKey };
}

/** Sends triggers over a network to which happens what the command's `network` says. */
function createSender(command: Command, signal: AbortSignal, { time, service }: World) {
  const { use, machine } = command;
  const network = [...use.network];
  return ({ automation, idempotencyKey: key }: Trigger, timeoutMs: number) => {
    const condition = network.shift() ?? { arrivesMs: 50 };
    const { arrivesMs, reply, retryAfterMs } = condition;
    const isSent = !reply || rowOf(failureOf(reply)).effect === 'unknown';
    const sent = { sentMs: time.nowMs(), sentNowMs: machine.clock.nowMs() };
    const request: Request = { command, automation, key, ...sent };
    command.requests.push(request);
    return new Promise<Answer<StartedRun>>((resolve) => {
      const end = (answer: Answer<StartedRun>) => {
        request.answer ??= answer;
        resolve(answer);
      };
      const fail = (kind: FailureKind) =>
        end({ ok: false, failure: failureOf(kind, { retryAfterMs }) });
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
