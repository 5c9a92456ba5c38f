import { expect, test } from 'vitest';
import type { Connection } from '../../src/commands/connect.ts';
import { triggerAll } from '../../src/commands/trigger.ts';
import { followAll } from '../../src/commands/watch.ts';
import { openJournal } from '../../src/journal/journal.ts';
import { createBudget } from '../../src/runs/budget.ts';
import type { Service } from '../../src/runs/service.ts';
import { createTempo } from '../../src/runs/tempo.ts';
import { createMemory } from '../helpers/memory-context.ts';
import { projectId, resultOf, state } from '../helpers/scripted-service.ts';

const minute = 60_000;
const durationMs = 10 * minute;
/** A record of runs that took about ten minutes. */
const record = Array.from({ length: 20 }, (_, i) => durationMs * (0.8 + 0.02 * i));

/** Runs of ten minutes, each of an automation of its own, in virtual time. Returns the looks at each. */
async function followSome(count: number, how: 'watch' | 'trigger'): Promise<number> {
  const context = createMemory();
  const { clock } = context;
  let looks = 0;
  let triggered = 0;
  const idOf = (number: number) => `6f1c9f5e-3a53-4c1b-9f0a-${String(number).padStart(12, '0')}`;
  const service: Service = {
    trigger: async () => {
      const executionId = idOf(triggered++);
      return state('RUNNING', { executionId, document: { executionId, status: 'RUNNING' } });
    },
    async status() {
      looks++;
      return state(clock.elapsedMs() < durationMs ? 'RUNNING' : 'COMPLETED');
    },
    result: async () => resultOf('COMPLETED'),
  };
  const connection = {
    settings: { account: 'account' },
    baseUrl: 'https://service.test',
    service,
    journal: openJournal({ folder: undefined, nowMs: clock.nowMs, onTrouble() {} }),
    budget: createBudget(10, clock),
    tempo: createTempo(),
    sentKeys: new Set(),
    history: () => record,
  } as unknown as Connection;
  const targets = Array.from({ length: count }, (_, i) => ({
    family: 'automation' as const,
    projectId,
    automationName: `nightly ${i}`,
  }));
  const code =
    how === 'watch'
      ? await followAll(
          targets.map((target, i) => ({ run: { target, executionId: idOf(i) } })),
          { plural: count > 1, quiet: true },
          connection,
          context,
        )
      : await triggerAll(
          targets.map((target) => ({ target, body: '{}' })),
          { watch: true, quiet: true },
          connection,
          context,
        );
  expect(code).toBe(0);
  return looks / count;
}

test.each(['watch', 'trigger'] as const)(
  'the more runs a %s follows, up to five, the fewer looks it spends on each',
  async (how) => {
    const [one = 0, two = 0, five = 0, ten = 0] = await Promise.all(
      [1, 2, 5, 10].map((count) => followSome(count, how)),
    );
    expect(two).toBeLessThan(one);
    expect(five).toBeLessThan(two);
    expect(five).toBeGreaterThan(one / 3);
    expect(ten).toBe(five);
  },
);
