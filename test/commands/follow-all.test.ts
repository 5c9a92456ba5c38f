import { expect, test } from 'vitest';
import type { Connection } from '../../src/commands/connect.ts';
import { triggerAll } from '../../src/commands/trigger.ts';
import { followAll } from '../../src/commands/watch.ts';
import { openJournal } from '../../src/journal/journal.ts';
import { createBudget } from '../../src/runs/budget.ts';
import type { Service } from '../../src/runs/service.ts';
import { createTempo } from '../../src/runs/tempo.ts';
import { createMemory } from '../helpers/memory-context.ts';
import { fault, projectId, resultOf, state } from '../helpers/scripted-service.ts';

const minute = 60_000;
const durationMs = 10 * minute;
/** A record of runs that took about ten minutes. */
const record = Array.from({ length: 20 }, (_, i) => durationMs * (0.8 + 0.02 * i));

const idOf = (number: number) => `6f1c9f5e-3a53-4c1b-9f0a-${String(number).padStart(12, '0')}`;
const targetOf = (number: number) => ({
  family: 'automation' as const,
  projectId,
  automationName: `nightly ${number}`,
});

/** Runs of ten minutes, each of an automation of its own, in virtual time. */
function createStage(changes: (elapsedMs: () => number) => Partial<Service> = () => ({})) {
  const context = createMemory();
  const { clock } = context;
  const looks = { count: 0 };
  const service: Service = {
    async trigger({ target }) {
      const executionId = idOf(target.family === 'automation' ? Number(target.automationName.slice(8)) : 0);
      return state('RUNNING', { executionId, document: { executionId, status: 'RUNNING' } });
    },
    async status({ executionId }) {
      looks.count++;
      return state(clock.elapsedMs() < durationMs ? 'RUNNING' : 'COMPLETED', {
        executionId,
        document: { executionId },
      });
    },
    result: async ({ executionId }) => resultOf('COMPLETED', { document: { executionId } }),
    ...changes(clock.elapsedMs),
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
  const numbers = (count: number) => Array.from({ length: count }, (_, number) => number);
  return {
    looks,
    err: context.err,
    out: context.out,
    watch: (count: number, flags = {}, named = numbers(count)) =>
      followAll(
        named.map((number) => ({ run: { target: targetOf(number), executionId: idOf(number) } })),
        { plural: named.length > 1, ...flags },
        connection,
        context,
      ),
    trigger: (count: number, flags = {}) =>
      triggerAll(
        numbers(count).map((number) => ({ target: targetOf(number), body: '{}' })),
        { watch: true, ...flags },
        connection,
        context,
      ),
  };
}

test.each(['watch', 'trigger'] as const)(
  'the more runs a %s follows, up to five, the fewer looks it spends on each',
  async (how) => {
    const looksAtEach = async (count: number) => {
      const stage = createStage();
      expect(await stage[how](count, { quiet: true })).toBe(0);
      return stage.looks.count / count;
    };
    const [one = 0, two = 0, five = 0, ten = 0] = await Promise.all([1, 2, 5, 10].map(looksAtEach));
    expect(two).toBeLessThan(one);
    expect(five).toBeLessThan(two);
    expect(five).toBeGreaterThan(one / 3);
    expect(ten).toBe(five);
  },
);

test('one of several that is refused is told while the others go on, and its remedy at the end', async () => {
  const active = () =>
    Promise.resolve(fault('already_active', { httpStatus: 422, message: 'the service answered 422' }));
  const { trigger, err } = createStage(() => ({
    trigger: ({ target }) =>
      target.family === 'automation' && target.automationName === 'nightly 0'
        ? active()
        : Promise.resolve(state('RUNNING', { executionId: idOf(1) })),
  }));
  expect(await trigger(2)).toBe(5);
  expect(err()).toMatch(
    /^nightly 0: .*no run was started[\s\S]*still RUNNING[\s\S]*runctl: nightly 0: .*no run was started\n {2}/m,
  );
});

test('those that --fail-fast leaves are counted, with how to go on', async () => {
  const { watch, err } = createStage((elapsedMs) => ({
    status: async ({ executionId }) => state(executionId === idOf(0) && elapsedMs() > minute ? 'FAILED' : 'RUNNING'),
    result: async () => resultOf('FAILED'),
  }));
  expect(await watch(3, { failFast: true })).toBe(1);
  expect(err()).toContain('2 runs go on: follow them again with `runctl watch --all`');
});

test('a run that is named twice is followed once, and told in both places', async () => {
  const once = createStage();
  await once.watch(2);
  const twice = createStage();
  expect(await twice.watch(2, { json: true }, [1, 0, 1])).toBe(0);
  expect(twice.looks.count).toBe(once.looks.count);
  const documents: { executionId: string }[] = JSON.parse(twice.out());
  expect(documents.map(({ executionId }) => executionId)).toEqual([idOf(1), idOf(0), idOf(1)]);
});
