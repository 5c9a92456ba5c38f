// An idempotency key starts one run: where the service honors it, where it doesn't, and what is said of a run that it has.
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { loseResponse, type Scenario } from '../fault-kit/scenario.ts';
import { withMachine } from '../helpers/machine.ts';

const trigger = 'trigger nightly';
const given = `${trigger} --idempotency-key k`;
const waiting = '--if-active wait';
const instant = { '*': { duration: '1ms' } };
const short = { '*': { duration: '10s' } };
const loss = loseResponse({ nth: 1 });

describe('{automation} in an idempotency key', () => {
  test('stands for the project and the name, percent-encoded, so that a command for several automations can be repeated', async () => {
    const { run, emulator, keys } = await withMachine();
    const argv = ['trigger', 'a', 'b ü', '--idempotency-key', 'day-1-{automation}'];
    const first = await run(argv);
    expect(await run(argv)).toMatchObject({ code: 0, stdout: first.stdout });
    expect(keys().sort()).toEqual(['a', 'b%20%C3%BC'].map((name) => `day-1-${emulator.projectId}%2F${name}`));
  });

  test('is replaced for a single automation, too, so that it starts no second run when it is named alone', async () => {
    const { run, ids } = await withMachine();
    const both = await run('trigger a b --idempotency-key {automation}');
    const { stdout } = await run('trigger b --idempotency-key {automation}');
    expect([both.stdout.endsWith(stdout), ids().length]).toEqual([true, 2]);
  });
});

test('a project in capitals is the same project, so the key starts no second run, and the run is found', async () => {
  const { run, ids } = await withMachine();
  const project = '6f1c9f5e-3a53-4c1b-9f0a-0d6f2c1f8a11';
  const name = `${project.toUpperCase()}/nightly`;
  const { stdout } = await run(`trigger ${project}/nightly --idempotency-key k`);
  expect(await run(`trigger ${name} --idempotency-key k`)).toMatchObject({ code: 0, stdout });
  expect(await run(`status ${name} --field executionId`)).toMatchObject({ code: 0, stdout });
  expect(await run(`list ${name} --field executionId`)).toMatchObject({ code: 0, stdout });
  expect(ids()).toHaveLength(1);
});

test('a trigger that an earlier command left in doubt is one trigger, first sent then', async () => {
  const { run, records } = await withMachine({ faults: [loseResponse({ to: 2 })] });
  for (const code of [12, 12, 0]) expect((await run(`${given} --give-up-after 1ms`)).code).toBe(code);
  const sent = records().filter(({ type }) => type === 'triggered');
  expect(sent.map(({ first }) => first)).toEqual([true, undefined, undefined]);
});

test.each(['--watch -q', '--watch', '--watch --json', '-q', '--json', '--field status'])(
  'an earlier run of a given key that failed is reported as an old one, once, with its time: %s',
  async (flags) => {
    const { run, ids } = await withMachine({ automations: { '*': { finalStatus: 'FAILED', duration: '1ms' } } });
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

describe('a refusal that is repeated with the same idempotency key', () => {
  const unpaid = { on: 'trigger', do: 'status', status: 402 } as const;
  const hinted = /use a new key, which starts no second run/;

  test.each([401, 402])('may be the repeated response to the key from the second time on: %i', async (status) => {
    const { run } = await withMachine({ faults: [{ ...unpaid, status }] });
    expect((await run(given)).stderr).not.toMatch(hinted);
    expect((await run(trigger)).stderr).not.toMatch(hinted);
    for (const _ of ['second', 'third']) {
      const { stderr, documents } = await run(`${given} --json`);
      expect([documents[0].runctl.next, stderr]).toEqual([null, expect.stringMatching(hinted)]);
    }
  });

  test('is another response with another API key', async () => {
    const { run } = await withMachine({ faults: [unpaid], apiKeys: ['another-key-123456'] });
    await run(given);
    const { stderr } = await run(given, { env: { RUNCTL_API_KEY: 'another-key-123456' } });
    expect(stderr).not.toMatch(hinted);
  });

  test('suggests no new key while the first one is in doubt', async () => {
    const { run } = await withMachine({ faults: [loss, unpaid] });
    expect((await run(`${given} --give-up-after 1ms`)).code).toBe(12);
    for (const _ of ['first', 'second'])
      expect(await run(given)).toMatchObject({ code: 8, stderr: expect.not.stringMatching(hinted) });
  });
});

test('a run that the service no longer knows is reported in one sentence, with a hint to use another key', async () => {
  const { run } = await withMachine({
    faults: [{ on: 'status', do: 'status', status: 422, body: { code: 'notFound' } }],
  });
  await run(`${given} --json`);
  for (const [flags, code, next] of [
    ['', 6, ' --idempotency-key k-2'],
    [' --watch', 14, ' --watch --idempotency-key k-2'],
  ] as const) {
    const ended = await run(given + flags);
    expect([ended.code, ended.stderr.match(/^[a-z].*$/gm)?.length]).toEqual([code, 1]);
    expect(ended.stderr).toMatch(new RegExp(`^ +runctl trigger .*/nightly${next}$`, 'm'));
    expect((await run('list --offline')).stdout).toMatch(/^NOT_FOUND +nightly/m);
  }
});

test('a given key whose response was lost is sent again without a warning of that same trigger', async () => {
  const { run, clock } = await withMachine({ faults: [loss] });
  expect((await run(`${given} --give-up-after 1ms`)).code).toBe(12);
  clock.leap(60_000);
  const { documents } = await run(`${given} --json`);
  expect(documents).toMatchObject([{ runctl: { exitCode: 0, warnings: [] } }]);
});

describe('a trigger with a lost response and then a conflict', () => {
  const lost: Scenario = { order: 'activeFirst', namesActiveRun: true, automations: short, faults: [loss] };

  test.each([
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
});

test('if keys are ignored, a trigger that may have arrived is not sent again, and the hint is for a person only', async () => {
  const { run, ids } = await withMachine({ automations: instant, idempotencyKeys: 'ignored', faults: [loss] });
  const known = { env: { RUNCTL_IDEMPOTENCY_KEYS: 'ignored' } };
  for (const line of [given, given, `${given} ${waiting}`, 'recover']) {
    const { code, documents, stderr } = await run(`${line} --json`, known);
    expect([line, code, documents[0].runctl.next, ids().length]).toEqual([line, 12, null, 1]);
    expect(stderr).toMatch(/a second run could start.*runctl recover .*nightly --resend/s);
  }
});

test.runIf(process.platform === 'linux')(
  'where keys are ignored, a process of another boot may be that of another host of the same name, and is waited for',
  async () => {
    const { run, journal, ids } = await withMachine({
      automations: instant,
      idempotencyKeys: 'ignored',
      faults: [loss],
    });
    const known = { env: { RUNCTL_IDEMPOTENCY_KEYS: 'ignored' } };
    expect((await run(trigger, known)).code).toBe(12);
    const text = readFileSync(journal, 'utf8').replace(/(?<="process":"[^/"]+\/)[^/"]+/g, 'another-boot');
    // The outcome was lost with the process.
    writeFileSync(journal, text.replace(/^.*"in_doubt".*$/gm, ''));
    const { code, stderr } = await run('recover --resend', known);
    expect([code, stderr, ids().length]).toEqual([12, expect.stringContaining('is still being sent by process'), 1]);
  },
);

test('if keys are ignored, only one of several processes sends the same key, and the others say so', async () => {
  const { run, ids, records } = await withMachine({
    automations: { '*': { duration: '10s' } },
    idempotencyKeys: 'ignored',
  });
  const known = { env: { RUNCTL_IDEMPOTENCY_KEYS: 'ignored' } };
  const ended = await Promise.all([1, 2, 3, 4].map(() => run(`${given} --json`, known)));
  expect([ids().length, ended.map(({ code }) => code).sort()]).toEqual([1, [0, 12, 12, 12]]);
  const others = ended.filter(({ code }) => code === 12);
  for (const { documents, stderr } of others) {
    expect(documents).toMatchObject([{ runctl: { trigger: { how: 'unknown', safeToRepeat: false } } }]);
    expect(stderr).toContain('is still being sent by process');
  }
  // The key has the run, and nothing is left to recover.
  expect(ended.find(({ code }) => code === 0)?.documents).toMatchObject([
    { runctl: { trigger: { safeToRepeat: true } } },
  ]);
  expect(await run(`${given} --json`, known)).toMatchObject({ code: 0, documents: [{ executionId: ids()[0] }] });
  expect(records().filter(({ type }) => type === 'accepted')).toHaveLength(1);
});
