// An idempotency key starts one run: where the service honors it, where it doesn't, and what is said of a run that it has.
import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Scenario } from '../fault-kit/scenario.ts';
import { withMachine } from '../helpers/machine.ts';

const trigger = 'trigger nightly';
const given = `${trigger} --idempotency-key k`;
const waiting = '--if-active wait';
const instant = { '*': { duration: '1ms' } };
const short = { '*': { duration: '10s' } };
const loss = { on: 'trigger', nth: 1, do: 'loseAnswer' } as const;

describe('{automation} in an idempotency key', () => {
  test('stands for the project and the name, percent-encoded, so that a command for several can be repeated', async () => {
    const { run, emulator, keys } = await withMachine();
    const argv = ['trigger', 'a', 'b ü', '--idempotency-key', 'day-1-{automation}'];
    const first = await run(argv);
    expect(await run(argv)).toMatchObject({ code: 0, stdout: first.stdout });
    expect(keys().sort()).toEqual(['a', 'b%20%C3%BC'].map((name) => `day-1-${emulator.projectId}%2F${name}`));
  });

  test('is another one for the same name in another project', async () => {
    const { run, keys, ids } = await withMachine();
    const other = '00000000-0000-4000-8000-0000000000aa';
    expect((await run(`trigger a ${other}/a --idempotency-key {automation}`)).code).toBe(0);
    expect([new Set(keys()).size, ids().length]).toEqual([2, 2]);
  });

  test('is replaced for one automation, too, so that it starts no second run when it is named alone', async () => {
    const { run, ids } = await withMachine();
    const both = await run('trigger a b --idempotency-key {automation}');
    const { stdout } = await run('trigger b --idempotency-key {automation}');
    expect([both.stdout.endsWith(stdout), ids().length]).toEqual([true, 2]);
  });
});

test.each([
  ['several automations that would share an idempotency key', ['a', 'b', '--idempotency-key', 'k']],
  ['an idempotency key that is too long', ['a', '--idempotency-key', '{automation}'.repeat(9)]],
  ['an idempotency key with a blank', ['a', '--idempotency-key', 'k k']],
])('%s: exit 2, and nothing is sent or written', async (_, argv) => {
  const { run, emulator, journal } = await withMachine();
  expect(await run(['trigger', ...argv])).toMatchObject({ code: 2, stdout: '' });
  expect([emulator.requests, existsSync(journal)]).toEqual([[], false]);
});

describe('a given idempotency key whose run', () => {
  test.each([
    ['COMPLETED', 0],
    ['FAILED', 1],
  ] as const)('finished %s ends with %i, and -q hides that only if it is a success', async (outcome, exitCode) => {
    const { run, ids, endRuns } = await withMachine({ automations: { '*': { outcome } } });
    await run(given);
    endRuns();
    const { code, stdout, stderr } = await run(`${given} -q`);
    expect([code, stdout, ids().length]).toEqual([exitCode, `${ids()[0]}\n`, 1]);
    expect(stderr).toMatch(exitCode === 0 ? /^$/ : /finished FAILED/);
  });

  test.each(['--watch -q', '--watch', '--watch --json', '-q'])(
    'failed earlier is said to be an old one, once, with its time: %s',
    async (flags) => {
      const { run, ids } = await withMachine({ automations: { '*': { outcome: 'FAILED', duration: '1ms' } } });
      const old = / at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0000, which finished FAILED/g;
      expect((await run(`${given} --watch`)).stderr).not.toMatch(old);
      const { code, stderr, documents } = await run(`${given} ${flags}`);
      expect([code, ids().length, stderr.match(old)?.length]).toEqual([1, 1, 1]);
      expect(stderr).not.toMatch(/runctl (watch|trigger)/);
      for (const { runctl } of documents)
        expect(runctl).toMatchObject({
          next: `runctl result ${ids()[0]}`,
          warnings: [{ name: 'replayed_failure', message: expect.stringMatching(old) }],
        });
    },
  );

  test('is not known to the service yet is followed', async () => {
    const { run, ids } = await withMachine({ automations: { '*': { duration: '60s', statusLate: '20s' } } });
    await run(given);
    const { documents } = await run(`${given} --watch --json --give-up-after 1m`);
    expect(documents).toMatchObject([{ status: 'COMPLETED', runctl: { exitCode: 0, trigger: { how: 'replayed' } } }]);
    expect(ids()).toHaveLength(1);
  });

  test('was started with another API key is reported, and not started again', async () => {
    const { run, keys } = await withMachine({ apiKeys: ['another-key-123456'] });
    const { stdout } = await run(given);
    expect(await run(given, { env: { RUNCTL_API_KEY: 'another-key-123456' } })).toMatchObject({ code: 0, stdout });
    expect(keys()).toEqual(['k']);
  });

  test('is started by two machines at once: neither says that it did', async () => {
    const { run, elsewhere, ids } = await withMachine();
    for (const { documents } of await Promise.all([run(`${given} --json`), elsewhere(`${given} --json`)]))
      expect(documents).toMatchObject([{ runctl: { exitCode: 0, trigger: { how: 'found', started: 'unknown' } } }]);
    expect(ids()).toHaveLength(1);
  });

  test("can't be polled, for --give-up-after at most, ends with 0, its id and a warning", async () => {
    const { run, ids, clock } = await withMachine({ faults: [{ on: 'status', do: 'status', status: 503 }] });
    await run(given);
    const startMs = clock.elapsedMs();
    const { code, stdout, stderr } = await run(`${given} -q --give-up-after 5s`);
    expect([code, stdout]).toEqual([0, `${ids()[0]}\n`]);
    expect(stderr).toContain("can't be read");
    expect(clock.elapsedMs() - startMs).toBeLessThan(10_000);
  });
});

test('a given key whose answer was lost is sent again without a warning of that same trigger', async () => {
  const { run, clock } = await withMachine({ faults: [loss] });
  expect((await run(`${given} --give-up-after 1ms`)).code).toBe(12);
  clock.leap(60_000);
  const { documents } = await run(`${given} --json`);
  expect(documents).toMatchObject([{ runctl: { exitCode: 0, warnings: [] } }]);
});

describe('a trigger whose answer is lost, then a conflict', () => {
  const lost: Scenario = { order: 'activeFirst', namesActiveRun: true, automations: short, faults: [loss] };

  test.each([
    ['waits, as keys are taken to be honored', `${trigger} ${waiting}`, undefined, 0, 3, false],
    ['waits if keys are honored', `${trigger} ${waiting}`, 'honored', 0, 3, false],
    ['is sent once if keys are ignored', `${trigger} ${waiting}`, 'ignored', 12, 1, false],
    ['is safe to repeat under a given key', given, undefined, 12, 2, true],
    ['is not under a minted one', trigger, undefined, 12, 2, false],
    ['is not if keys are ignored', given, 'ignored', 12, 1, false],
  ] as const)('%s', async (_, line, setting, exitCode, sent, safeToRepeat) => {
    const { run, keys, ids } = await withMachine(lost);
    const { documents } = await run(`${line} --json`, { env: { RUNCTL_IDEMPOTENCY_KEYS: setting } });
    expect(documents).toMatchObject([{ runctl: { exitCode, trigger: { safeToRepeat } } }]);
    expect([keys().length, new Set(keys()).size, ids().length]).toEqual([sent, 1, 1]);
  });

  test.each([
    ['is sent again by `recover`', undefined, 0],
    ['is not sent again by `recover` if keys are ignored', 'ignored', 12],
  ] as const)('%s', async (_, setting, exitCode) => {
    const { run, clock, ids } = await withMachine(lost);
    expect((await run(trigger)).code).toBe(12);
    clock.leap(60_000);
    expect((await run('recover', { env: { RUNCTL_IDEMPOTENCY_KEYS: setting } })).code).toBe(exitCode);
    expect(ids()).toHaveLength(1);
  });
});

type Step = [line: string, ends: string] | 'the runs finish';

/** The setting, the exit code with `how` and `started` of each step, and the runs of the service in the end. */
const histories: [string, 'ignored' | undefined, Scenario, Step[], number][] = [
  [
    'lost: neither the trigger nor `recover` sends it again',
    'ignored',
    { faults: [loss] },
    [
      [trigger, '12 unknown unknown'],
      ['recover --dry-run', '0 unknown unknown'],
      'the runs finish',
      ['recover', '12 unknown unknown'],
    ],
    1,
  ],
  [
    'lost: `recover --resend` is somebody’s word, and what it starts is not called recovered from before',
    'ignored',
    { faults: [loss] },
    [[trigger, '12 unknown unknown'], 'the runs finish', ['recover --resend', '0 recovered unknown']],
    2,
  ],
  [
    'lost under a given key: the same command again sends nothing, nor does `--if-active wait`',
    'ignored',
    { faults: [loss], automations: instant },
    [given, given, `${given} ${waiting}`].map((line): Step => [line, '12 unknown unknown']),
    1,
  ],
  [
    'a 429 is repeated all the same',
    'ignored',
    { faults: [{ on: 'trigger', nth: 1, do: 'status', status: 429 }], automations: instant },
    [[trigger, '0 started yes']],
    1,
  ],
  [
    'nobody said so: the trigger is repeated, and what `recover` starts is not called recovered from before',
    undefined,
    { faults: [loss], namesActiveRun: true },
    [[trigger, '12 unknown unknown'], 'the runs finish', ['recover', '0 recovered unknown']],
    2,
  ],
  [
    'nobody said so, and the run has ended before the repeat: nothing is said of the first attempt',
    undefined,
    { faults: [loss], automations: instant },
    [[trigger, '0 started yes']],
    2,
  ],
  [
    'the same under a given key: nobody claims the run',
    undefined,
    { faults: [loss], automations: instant },
    [[given, '0 found unknown']],
    2,
  ],
];

describe('at a service that ignores idempotency keys', () => {
  test.each(histories)('%s', async (_, setting, scenario, steps, runs) => {
    const { run, clock, ids } = await withMachine({ automations: short, idempotencyKeys: 'ignored', ...scenario });
    for (const step of steps) {
      if (step === 'the runs finish') {
        clock.leap(60_000);
        continue;
      }
      const [line, ends] = step;
      const { code, documents, stderr } = await run(`${line} --json`, { env: { RUNCTL_IDEMPOTENCY_KEYS: setting } });
      const { how, started } = documents[0].runctl.trigger;
      expect(`${code} ${how} ${started}`, stderr).toBe(ends);
    }
    expect(ids()).toHaveLength(runs);
  });

  test('no program is told to send a trigger again: `next` is null, and the hint is for a person', async () => {
    const { run } = await withMachine({ idempotencyKeys: 'ignored', faults: [loss] });
    for (const line of [trigger, 'recover']) {
      const known = { env: { RUNCTL_IDEMPOTENCY_KEYS: 'ignored' } };
      const { code, documents, stderr } = await run(`${line} --json`, known);
      expect([code, documents[0].runctl.next]).toEqual([12, null]);
      expect(stderr).toMatch(/a second run could start.*runctl recover .*nightly --resend/s);
    }
  });
});
