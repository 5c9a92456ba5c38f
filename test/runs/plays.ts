import { Problem } from '../../src/problems/problem.ts';
import { exitNameOf } from '../../src/problems/watch-problems.ts';
import type { FollowOptions } from '../../src/runs/await-end.ts';
import { createBudget } from '../../src/runs/budget.ts';
import { follow } from '../../src/runs/follow.ts';
import { endingOf } from '../../src/runs/run.ts';
import { createTempo } from '../../src/runs/tempo.ts';
import { type KeyHistory, triggerRun } from '../../src/runs/trigger.ts';
import type { Connection } from '../../src/session/connect.ts';
import { lookAt } from '../../src/session/poll-once.ts';
import { createMemory } from '../helpers/memory-context.ts';
import { run, target } from '../helpers/scripted-service.ts';
import { createVirtualClock } from '../helpers/virtual-clock.ts';
import { scriptedWire } from '../helpers/wire.ts';

export interface Given {
  /** What every chance comes out as, 0 to 1. */
  chance?: number;
  giveUpAfterMs?: number;
  timeoutMs?: number;
  intervalMs?: number;
  /** The watch follows a trigger of our own that has just been answered. */
  own?: boolean;
}

interface Outcome {
  end: string;
  /** Between one request and the next. */
  gapsMs: number[];
}

export type Play = (script: string, given?: Given) => Promise<Outcome>;

const signal = new AbortController().signal;

function stage(script: string, { chance = 0.5 }: Given) {
  const clock = createVirtualClock();
  const wire = scriptedWire(script, clock);
  const ports = { clock, signal, random: () => chance, service: wire.service, budget: createBudget(1000, clock) };
  const ended = (end: string): Outcome => ({
    end,
    gapsMs: wire.sentAtMs.slice(1).map((atMs, index) => atMs - (wire.sentAtMs[index] ?? 0)),
  });
  return { ...ports, ended };
}

const trigger =
  (key: KeyHistory): Play =>
  async (script, given = {}) => {
    const { ended, ...ports } = stage(script, given);
    const earlier = key.ageMs === undefined ? undefined : ({ state: 'open', ageMs: key.ageMs } as const);
    const record = {
      intent() {},
      doubtful() {},
      started() {},
      refused: () => true,
      mayBeOfAnother: () => false,
      look: () => earlier,
    };
    const { giveUpAfterMs = 30_000 } = given;
    const request = { target, idempotencyKey: 'key-1', body: '{}' };
    const outcome = await triggerRun(request, { ...ports, record, giveUpAfterMs }, key);
    if (outcome.end === 'started') return ended('ok');
    return ended(outcome.end === 'unknown' ? 'outcome_unknown' : exitNameOf(outcome.fault));
  };

const look =
  (operation: 'status' | 'result'): Play =>
  async (script, given = {}) => {
    const { ended, service, budget, clock } = stage(script, given);
    const context = { ...createMemory(), clock, random: () => given.chance ?? 0.5 };
    const flags = { giveUpAfterMs: given.giveUpAfterMs, quiet: true };
    try {
      await lookAt(operation, { run }, flags, { service, budget } as unknown as Connection, context);
      return ended('ok');
    } catch (problem) {
      if (problem instanceof Problem) return ended(problem.facts.name);
      throw problem;
    }
  };

const watch: Play = async (script, given = {}) => {
  const { ended, ...ports } = stage(script, given);
  const { intervalMs = 10_000, timeoutMs = Number.POSITIVE_INFINITY, giveUpAfterMs = 600_000 } = given;
  const options: FollowOptions = { pace: { gapMs: () => intervalMs }, timeoutMs, giveUpAfterMs };
  if (given.own) options.triggeredAtMs = ports.clock.nowMs();
  const { problem, execution } = await follow(run, options, { ...ports, tempo: createTempo(), observe() {} });
  return ended(problem?.facts.name ?? endingOf(execution?.status ?? ''));
};

/** The requests that are asked again, each by its own rules, against a script of answers (`wire.ts`). */
export const plays = {
  trigger: trigger({}),
  'trigger in doubt': trigger({ ageMs: 60_000 }),
  status: look('status'),
  result: look('result'),
  watch,
};
