import type { Clock } from '../../src/core/ports.ts';

/** Simulated time. It passes only once nobody has anything left to do at this moment. */
export function createTime() {
  let nowMs = 0;
  const events: { dueMs: number; act(): void; machine: Machine | undefined }[] = [];
  return {
    events,
    nowMs: () => nowMs,
    /** What a machine is to do has to wait while it sleeps. */
    after(delayMs: number, act: () => void, machine?: Machine) {
      events.push({ dueMs: Math.max(nowMs + delayMs, machine?.wakesAtMs ?? 0), act, machine });
    },
    /** Resolves once nothing is left to happen. */
    async pass() {
      for (;;) {
        await new Promise((resolve) => setImmediate(resolve));
        const [first] = events;
        if (!first) return;
        const next = events.reduce((one, other) => (other.dueMs < one.dueMs ? other : one), first);
        events.splice(events.indexOf(next), 1);
        nowMs = next.dueMs;
        next.act();
      }
    },
  };
}
export type Time = ReturnType<typeof createTime>;

/** A computer with a disk and clocks of its own. */
export interface Machine {
  clock: Clock;
  /** What the files of its journal hold. */
  lines: { file: number; text: string }[];
  /** By how much its time of day has been set. */
  setByMs: number;
  wakesAtMs: number;
  sleptMs: number;
  sleep(ms: number): void;
}

/** `countsSleep`: the clock that can't be set goes on while the machine sleeps. */
export function createMachine(time: Time, countsSleep = false): Machine {
  const machine: Machine = {
    lines: [],
    setByMs: 0,
    wakesAtMs: 0,
    sleptMs: 0,
    clock: {
      nowMs: () => Date.UTC(2026, 10, 28, 12) + time.nowMs() + machine.setByMs,
      elapsedMs: () => time.nowMs() - (countsSleep ? 0 : machine.sleptMs),
      sleep: (ms, signal) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => resolve());
          time.after(signal.aborted ? 0 : ms, resolve, machine);
        }),
    },
    sleep(ms) {
      machine.sleptMs += ms;
      machine.wakesAtMs = Math.max(machine.wakesAtMs, time.nowMs()) + ms;
      for (const event of time.events) {
        if (event.machine !== machine) continue;
        event.dueMs = countsSleep ? Math.max(event.dueMs, machine.wakesAtMs) : event.dueMs + ms;
      }
    },
  };
  return machine;
}

/** Numbers from 0 to below 1. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}
