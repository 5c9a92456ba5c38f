import { describe, expect, test } from 'vitest';
import { followAll } from '../../src/actions/follow-all.ts';
import type { Following } from '../../src/actions/following.ts';
import { planOf } from '../../src/actions/plan.ts';
import { triggerAll } from '../../src/actions/trigger-all.ts';
import { exitCodeOfAll } from '../../src/problems/exit-codes.ts';
import type { OutputOptions } from '../../src/render/output.ts';
import { type CommandResult, printResult } from '../../src/render/output.ts';
import { createReporter } from '../../src/render/reporter.ts';
import type { Clock } from '../../src/runs/clock.ts';
import { nameOf, type Run } from '../../src/runs/run.ts';
import type { Service } from '../../src/runs/service.ts';
import { createConnection } from '../helpers/connection.ts';
import { jsonLines } from '../helpers/json-lines.ts';
import { createMemory } from '../helpers/memory-context.ts';
import { fault, projectId, resultOf, state } from '../helpers/scripted-service.ts';

const minute = 60_000;
const durationMs = 10 * minute;

const idOf = (number: number) => `6f1c9f5e-3a53-4c1b-9f0a-${String(number).padStart(12, '0')}`;
const targetOf = (number: number) => ({
  projectId,
  automationName: `nightly ${number}`,
});

const runOf = (number: number): Run => ({ target: targetOf(number), executionId: idOf(number) });

/** Runs of ten minutes, each of an automation of its own, in virtual time. */
function createRunsHarness(changes: (elapsedMs: () => number, sleep: Clock['sleep']) => Partial<Service> = () => ({})) {
  const context = createMemory();
  const { clock } = context;
  const polls = { count: 0 };
  const service: Service = {
    async trigger({ target }) {
      const executionId = idOf(Number(nameOf(target).slice(8)));
      return state('RUNNING', { executionId, document: { executionId, status: 'RUNNING' } });
    },
    async status({ executionId }) {
      polls.count++;
      return state(clock.elapsedMs() < durationMs ? 'RUNNING' : 'COMPLETED', {
        executionId,
        document: { executionId },
      });
    },
    result: async ({ executionId }) => resultOf('COMPLETED', { document: { executionId } }),
    ...changes(clock.elapsedMs, clock.sleep),
  };
  /** Runs a command as the command line does: with its reporter, and its result printed. Returns the exit code. */
  const command = async (flags: OutputOptions, run: (connection: Following) => Promise<CommandResult>) => {
    const own = { ...context, reporter: createReporter(flags, context) };
    const result = await run(createConnection(service, { context: own }));
    printResult(result, flags, own);
    return exitCodeOfAll(result.exitNames ?? []);
  };
  const numbers = (count: number) => Array.from({ length: count }, (_, number) => number);
  const harness = {
    polls,
    err: context.err,
    out: context.out,
    watch: (count: number, flags = {}) => harness.follow(numbers(count).map(runOf), flags),
    follow: (runs: Run[], flags = {}) =>
      command(flags, (connection) =>
        followAll(
          runs.map((run) => ({ run })),
          planOf(flags),
          connection,
        ),
      ),
    trigger: (count: number, flags = {}) =>
      command(flags, (connection) =>
        triggerAll(
          numbers(count).map((number) => ({ target: targetOf(number), body: '{}' })),
          planOf({ watch: true, ...flags }),
          connection,
        ),
      ),
  };
  return harness;
}

test('one of several that is refused is named while the others are watched, and reported at the end', async () => {
  const active = () =>
    Promise.resolve(fault('already_active', { httpStatus: 422, message: 'the service answered 422' }));
  const { trigger, err } = createRunsHarness(() => ({
    trigger: ({ target }) =>
      nameOf(target) === 'nightly 0' ? active() : Promise.resolve(state('RUNNING', { executionId: idOf(1) })),
  }));
  expect(await trigger(2)).toBe(5);
  expect(err()).toMatch(
    /^nightly 0: already active\n[\s\S]*still RUNNING[\s\S]*runctl: nightly 0 .*\(HTTP 422\)\n {2}/m,
  );
  expect(err().match(/HTTP 422/g)).toHaveLength(1);
});

test.each([
  [3, 3, null],
  [9, 9, null],
  [10, 9, ['runctl: and 1 more problem; `runctl list` shows every run']],
  [40, 9, ['runctl: and 31 more problems; `runctl list` shows every run']],
])(
  'of %i watches that failed, %i are reported and the others counted, and each has its document',
  async (runs, shown, counted) => {
    const { watch, err, out } = createRunsHarness(() => ({
      status: ({ executionId }) => Promise.resolve(fault(executionId === idOf(2) ? 'unavailable' : 'unreachable')),
    }));
    expect(await watch(runs, { json: true, quiet: true })).toBe(10);
    const problems = err().match(/^runctl: .*\n {2}→ .*$/gm) ?? [];
    expect(problems).toHaveLength(shown);
    for (const [n, problem] of problems.entries())
      expect(problem).toMatch(new RegExp(`nightly ${n} .*→ runctl watch .*${idOf(n)}`, 's'));
    expect(err().match(/^.*more problem.*$/gm)).toEqual(counted);
    const documents = jsonLines(out());
    expect(documents.map(({ executionId }) => executionId)).toEqual(Array.from({ length: runs }, (_, n) => idOf(n)));
    for (const [n, { runctl }] of documents.entries()) expect(runctl.problem.message).toContain(`nightly ${n} `);
  },
);

describe('a run that is named twice', () => {
  test('is followed once, and has its document in both places', async () => {
    const once = createRunsHarness();
    await once.watch(2);
    const twice = createRunsHarness();
    expect(await twice.follow([1, 0, 1].map(runOf), { json: true })).toBe(0);
    expect(twice.polls.count).toBe(once.polls.count);
    const documents: { executionId: string }[] = jsonLines(twice.out());
    expect(documents.map(({ executionId }) => executionId)).toEqual([idOf(1), idOf(0), idOf(1)]);
  });

  test('is one to those who count', async () => {
    const { follow, out, err } = createRunsHarness();
    await follow([1, 0, 1].map(runOf));
    expect(out().match(/COMPLETED/g)).toHaveLength(2);
    expect(err()).toContain('2 completed');
  });

  test('is one to those who look for the next step', async () => {
    const { follow, err } = createRunsHarness(() => ({ status: async () => state('FAILED') }));
    expect(await follow([runOf(0), runOf(0)])).toBe(1);
    expect(err()).toContain(`runctl trigger`);
  });

  test('is another under the name of another automation', async () => {
    const { follow, err } = createRunsHarness(() => ({
      status: async ({ target }) =>
        nameOf(target) === 'nightly 1' ? fault('not_found', { httpStatus: 422 }) : state('COMPLETED'),
    }));
    const wrong = { target: targetOf(1), executionId: idOf(0) };
    expect(await follow([wrong, runOf(0)], { quiet: true })).toBe(6);
    expect(err()).toContain('nightly 1 has no run');
  });
});

test('a status that this version does not know is warned of when it is first seen, not at every poll', async () => {
  const { watch, out, err, polls } = createRunsHarness((elapsedMs) => ({
    async status({ executionId }) {
      polls.count++;
      return state(elapsedMs() < durationMs ? 'PAUSED' : 'COMPLETED', { executionId });
    },
  }));
  expect(await watch(1, { json: true })).toBe(0);
  expect(polls.count).toBeGreaterThan(2);
  expect(err().match(/^runctl: .*PAUSED/gm)).toHaveLength(1);
  expect(jsonLines(out())).toMatchObject([{ runctl: { warnings: [{ name: 'unknown_status' }] } }]);
});

test('each run that a trigger started has one document, which says that it was started', async () => {
  const { trigger, out } = createRunsHarness();
  expect(await trigger(2, { json: true, timeoutMs: minute })).toBe(124);
  expect(jsonLines(out()).map(({ executionId, runctl }) => [executionId, runctl.trigger?.started])).toEqual([
    [idOf(0), 'yes'],
    [idOf(1), 'yes'],
  ]);
});

test('skipped automations are not counted as incomplete', async () => {
  const { trigger, err } = createRunsHarness(() => ({
    trigger: async ({ target }) =>
      nameOf(target) === 'nightly 0' ? fault('already_active') : state('RUNNING', { executionId: idOf(1) }),
  }));
  expect(await trigger(2, { ifActive: 'skip' })).toBe(0);
  expect(err()).toContain('1 completed · 1 skipped');
});
