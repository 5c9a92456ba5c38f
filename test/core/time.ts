import type { Clock } from '../../src/run/ports.ts';

export const secondMs = 1000;
export const minuteMs = 60 * secondMs;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

interface Event {
  dueMs: number;
  act(): void;
  machine: Machine | undefined;
}

/** Simulated time. It passes only when nobody has anything left to do at this moment. */
export interface Time {
  nowMs(): number;
  /** What a machine is to do waits while that machine sleeps. */
  after(delayMs: number, act: () => void, machine?: Machine): void;
  /** Resolves once nothing is left to happen. */
  pass(): Promise<void>;
  events: Event[];
}

export function createTime(): Time {
  let nowMs = 0;
  const events: Event[] = [];
  return {
    events,
    nowMs: () => nowMs,
    after(delayMs, act, machine) {
      events.push({ dueMs: Math.max(nowMs + delayMs, machine?.wakesAtMs ?? 0), act, machine });
    },
    async pass() {
      for (;;) {
        await new Promise((resolve) => setImmediate(resolve));
        const [first] = events;
        if (!first) return;
        const next = events.reduce((one, other) => (other.dueMs < one.dueMs ? other : one), first);
        events.splice(events.indexOf(next), 1);
        nowMs = Math.max(nowMs, next.dueMs);
        next.act();
      }
    },
  };
}

/** A computer with clocks of its own. */
export interface Machine {
  clock: Clock;
  wakesAtMs: number;
  /** How long it has slept in all. */
  sleptMs: number;
  /** By how much its time of day has been set, forward or back. */
  setByMs: number;
  sleep(ms: number): void;
}

/** `countsSleep`: its other clock goes on while it sleeps, as on macOS. */
export function createMachine(time: Time, countsSleep: boolean): Machine {
  const machine: Machine = {
    wakesAtMs: 0,
    sleptMs: 0,
    setByMs: 0,
    clock: {
      nowMs: () => Date.UTC(2026, 10, 28, 12) + time.nowMs() + machine.setByMs,
      elapsedMs: () => time.nowMs() - (countsSleep ? 0 : machine.sleptMs),
      sleep: (ms, signal) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => resolve());
          if (signal.aborted) resolve();
          else time.after(ms, resolve, machine);
        }),
    },
    sleep(ms) {
      machine.sleptMs += ms;
      machine.wakesAtMs = Math.max(machine.wakesAtMs, time.nowMs()) + ms;
      for (const event of time.events.filter((each) => each.machine === machine)) {
        if (countsSleep) event.dueMs = Math.max(event.dueMs, machine.wakesAtMs);
        else event.dueMs += ms;
      }
    },
  };
  return machine;
}

/** Numbers from 0 to below 1 (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
