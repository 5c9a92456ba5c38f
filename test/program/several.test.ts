// One command for several automations or runs: what is said of each, in which order, and once.
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/process.ts';
import { type Fault, loseResponse } from '../fault-kit/scenario.ts';
import { withMachine } from '../helpers/machine.ts';

const runs = (duration: string, more = {}) => ({ automations: { '*': { duration, ...more } } });

test('line n is the id of argument n, in any order of the responses, and empty for an argument without a run', async () => {
  const late = { on: 'trigger', automation: 'a', do: 'delay', delay: '100ms' } as const;
  const { run, emulator } = await withMachine({ ...runs('1h'), faults: [late] });
  await run('trigger b');
  const { code, stdout } = await run('trigger a b c --if-active skip');
  const idOf = (name: string) => emulator.runs().find(({ target }) => target.automationName === name)?.executionId;
  expect([code, stdout]).toEqual([0, `${idOf('a')}\n\n${idOf('c')}\n`]);
  expect(await run('trigger b --if-active skip')).toMatchObject({ code: 0, stdout: '' });
});

test('a trigger that is refused is named while the others are watched, and reported at the end', async () => {
  const { run, elsewhere } = await withMachine(runs('10m'));
  await elsewhere('trigger a');
  const { code, stderr } = await run('trigger a b --watch');
  expect([code, stderr.match(/HTTP 422/g)?.length]).toEqual([5, 1]);
  expect(stderr).toMatch(/^a: already active\n.*RUNNING.*^runctl: a .*\(HTTP 422/ms);
});

test.each([
  [9, 9],
  [40, 9],
])(
  'of %i watches that fail %i are reported and the others counted, and each has its document',
  async (count, shown) => {
    const names = Array.from({ length: count }, (_, n) => `a${n}`);
    const { run, ids } = await withMachine({ ...runs('10m'), faults: [{ on: 'status', do: 'status', status: 503 }] });
    for (const name of names) await run(`trigger ${name}`);
    const { code, documents, stderr } = await run(`watch ${names.join(' ')} --json --quiet --give-up-after 1s`);
    const problems = [...stderr.matchAll(/^runctl: (a\d+) .*\n.*runctl watch (\S+)$/gm)];
    expect([code, problems.map(([, name, id]) => [name, id])]).toEqual([
      10,
      names.slice(0, shown).map((name, n) => [name, ids()[n]]),
    ]);
    expect(/^runctl: and (\d+) more/m.exec(stderr)?.[1]).toBe(count > shown ? String(count - shown) : undefined);
    expect(documents.map(({ executionId }) => executionId)).toEqual(ids());
    for (const [n, { runctl }] of documents.entries()) expect(runctl.problem.message).toContain(`a${n} `);
  },
);

test('two runs with the same warning each have it in their document', async () => {
  const { run, endRuns } = await withMachine({
    ...runs('10m', { finalStatus: 'FAILED' }),
    faults: [{ on: 'result', do: 'status', status: 503 }],
  });
  for (const name of ['a', 'b']) await run(`trigger ${name}`);
  endRuns();
  const { documents } = await run('watch a b --json --give-up-after 1s');
  const warned = { runctl: { warnings: [{ name: 'result_unavailable' }] } };
  expect(documents).toMatchObject([warned, warned]);
});

test('a warning about one earlier run that failed keeps the others that failed in the report', async () => {
  const { run, endRuns } = await withMachine(runs('10m', { finalStatus: 'FAILED' }));
  const key = '--idempotency-key k-{automation}';
  await run(`trigger a ${key}`);
  endRuns();
  const { code, stderr } = await run(`trigger a b --watch -q --json ${key}`);
  expect([code, stderr.match(/(started a|b FAILED)/g)]).toEqual([1, ['started a', 'b FAILED']]);
});

test('the document for --on-final is not safe to repeat if another trigger of the command is not', async () => {
  const { run } = await withMachine({ ...runs('500ms'), faults: [loseResponse({ automation: 'b' })] });
  const words = 'trigger a b --watch --interval 50ms --idempotency-key k-{automation} --on-final'.split(' ');
  const env = { PATH: process.env.PATH ?? '', RUNCTL_IDEMPOTENCY_KEYS: 'ignored' };
  // A hook is a process, which takes real time.
  const { code, stderr } = await run([...words, 'cat'], { clock: systemClock, env });
  expect([code, /"safeToRepeat":(\w+)/.exec(stderr)?.[1]]).toEqual([12, 'false']);
});

describe('a run that is named twice', () => {
  test('is followed and counted once, and has its document in both places', async () => {
    const watched = async (line: string) => {
      const { run, ids, emulator } = await withMachine(runs('10m'));
      for (const name of ['a', 'b']) await run(`trigger ${name}`);
      return { ids: ids(), ...(await run(line)), requests: emulator.requests.length };
    };
    const twice = await watched('watch b a b --interval 1m --json');
    const [a, b] = twice.ids;
    expect(twice.documents.map(({ executionId }) => executionId)).toEqual([b, a, b]);
    expect(twice.requests).toBe((await watched('watch b a --interval 1m')).requests);
  });

  test.each<[flags: string, faults: Fault[]]>([
    ['', []],
    [' -q', []],
    [' --give-up-after 1ms', [{ on: 'status', do: 'status', status: 503 }]],
  ])('is reported once: `watch%s` %j', async (flags, faults) => {
    const { run, endRuns } = await withMachine({ ...runs('10m', { finalStatus: 'FAILED' }), faults });
    for (const name of ['a', 'b']) await run(`trigger ${name}`);
    endRuns();
    const watched = async (names: string) => {
      const { stdout, stderr } = await run(`watch ${names}${flags}`);
      const withoutTimes = stderr.replace(/^[\d-]+ [\d:]+ /gm, '').replace(/\d+h[\w ]*ago/g, '');
      return { stdout, said: withoutTimes.split('\n').toSorted() };
    };
    expect(await watched('b a b')).toEqual(await watched('b a'));
  });

  test('has one next step', async () => {
    const { run, ids, endRuns } = await withMachine(runs('10m', { finalStatus: 'FAILED' }));
    await run('trigger a');
    endRuns();
    expect(await run(`watch a ${ids()[0]}`)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('runctl trigger'),
    });
  });

  test('is another run if it is named with another automation', async () => {
    const { run, elsewhere, ids } = await withMachine(runs('10m'));
    await elsewhere('trigger a');
    const { code, documents } = await run(`watch b/${ids()[0]} a/${ids()[0]} --json`);
    expect([code, documents]).toMatchObject([
      6,
      [
        { automationName: 'b', runctl: { outcome: 'not_found' } },
        { automationName: 'a', status: 'COMPLETED' },
      ],
    ]);
  });
});
