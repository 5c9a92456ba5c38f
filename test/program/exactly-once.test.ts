// A trigger starts one run, and none is lost: what a person sees who loses an answer, repeats, recovers, or is interrupted.
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { type Fault, loseResponse, type Scenario } from '../fault-kit/scenario.ts';
import { withMachine } from '../helpers/machine.ts';

const trigger = 'trigger nightly';
const hasty = `${trigger} --give-up-after 1ms`;
const once = { on: 'trigger', nth: 1 } as const;
const lost: Scenario = { faults: [loseResponse({ nth: 1 })] };
/** The repeat after the lost answer meets its own run. */
const conflict: Scenario = { ...lost, order: 'activeFirst', namesActiveRun: true };

describe('a response to a trigger that is', () => {
  test.each<[string, Fault]>([
    ['lost', loseResponse({ nth: 1 })],
    ['closed', { ...once, do: 'close', acts: true }],
    ['truncated', { ...once, do: 'truncate' }],
    ['a 502 of a gateway', { ...once, do: 'status', status: 502, acts: true }],
    ['a page', { ...once, do: 'html', status: 200, acts: true }],
    ['JSON of another kind', { ...once, do: 'wrongJson' }],
  ])('%s is repeated with the same bytes, which start no second run', async (_, fault) => {
    const { run, emulator, ids } = await withMachine({ faults: [fault] });
    const { code, stdout } = await run(trigger);
    expect([code, ids()]).toEqual([0, [stdout.trim()]]);
    const sent = emulator.requests.map(({ headers, body }) => JSON.stringify([headers, body]));
    expect([sent.length, new Set(sent).size]).toEqual([2, 1]);
  });
});

describe('a conflict after a lost response', () => {
  test('exits with 12, and names the run that may be its own, and each next step', async () => {
    const { run, keys, ids, endRuns } = await withMachine(conflict);
    const { code, documents, stderr } = await run(`${trigger} --json`);
    const [id] = ids();
    const [{ runctl }] = documents;
    expect([code, runctl.activeExecutionId]).toEqual([12, id]);
    expect(runctl.next).toMatch(new RegExp(`^runctl watch .*/nightly/${id}$`));
    for (const step of [`nightly/${id}`, '/nightly --resend', `--idempotency-key ${keys()[0]}`])
      expect(stderr).toContain(step);
    endRuns();
    // Over an hour old: it could start a run late.
    const withheld = await run('recover');
    expect([withheld.code, withheld.stdout]).toEqual([12, '']);
    expect(await run('recover --resend')).toMatchObject({ code: 0, stdout: `${id}\n` });
    expect((await run('recover --json')).documents).toEqual([]);
    expect(ids()).toHaveLength(1);
  });

  test('does not say that the active run may be its own if the journal has it as the run of another key', async () => {
    const { run, ids, clock } = await withMachine({
      namesActiveRun: true,
      faults: [...(lost.faults ?? []), { on: 'trigger', nth: 2, do: 'status', status: 502 }],
    });
    await run(hasty);
    const [id] = ids();
    expect((await run(trigger)).stderr).toContain(`run ${id} was already active, perhaps its own`);
    expect(await run('recover --resend')).toMatchObject({ code: 12, stdout: `${id}\n` });
    for (const line of ['recover', 'recover --resend', 'recover']) {
      const { code, stderr } = await run(line);
      expect([line, code, stderr]).toEqual([line, 12, expect.not.stringMatching(/perhaps|may be the one/)]);
      // The last one is too old to be sent.
      if (line === 'recover --resend') clock.leap(2 * 3_600_000);
    }
    expect(ids()).toHaveLength(1);
  });
});

test('a trigger warns of an unresolved one, even with -q, and names the command that resolves it', async () => {
  const { run, endRuns } = await withMachine(conflict);
  expect((await run(trigger)).code).toBe(12);
  endRuns();
  const { code, stderr } = await run(`${trigger} -q`);
  expect([code, stderr]).toEqual([0, expect.stringMatching(/earlier trigger of nightly.*runctl recover/)]);
});

test("a trigger whose record is dated in the future is sent by --resend alone, and its time isn't named", async () => {
  const { run, clock, ids } = await withMachine(lost);
  const given = `${hasty} --idempotency-key k`;
  expect((await run(given)).stderr).toContain('runctl recover');
  clock.leap(-3_600_000);
  for (const [line, exitCode] of [
    [given, 12],
    ['recover', 12],
    ['recover --dry-run', 0],
  ] as const) {
    const { code, stderr } = await run(line);
    expect([line, code, stderr]).toEqual([line, exitCode, expect.stringContaining('dated in the future')]);
    expect(stderr).not.toMatch(/\d{4}-\d\d-\d\d|24h ago|new idempotency key/);
  }
  expect((await run('recover --resend')).code).toBe(0);
  expect(ids()).toHaveLength(1);
});

describe('a run that the service no longer knows', () => {
  /** A machine whose run the service has lost, as after a restored backup. `knowAgain` brings it back. */
  async function lostRun(env: Record<string, string> = {}) {
    const apiKeys = ['another-key-123456'];
    const { run, clock, journal, emulator, records } = await withMachine({
      apiKeys,
      automations: { '*': { duration: '1h' } },
    });
    const { emulator: empty } = await withMachine({ apiKeys });
    await run(trigger);
    let url = emulator.url;
    const move = (to: string) => {
      writeFileSync(journal, readFileSync(journal, 'utf8').replaceAll(url, to));
      url = to;
    };
    move(empty.url);
    clock.leap(60_000);
    return {
      run: (line: string) => run(line, { env: { RUNCTL_BASE_URL: url, ...env } }),
      isRecorded: () => records().some(({ type }) => type === 'not_found'),
      knowAgain: () => move(emulator.url),
    };
  }

  test.each(['watch --all', 'watch nightly', 'status nightly', 'result nightly'])(
    'is reported and recorded once: %s',
    async (line) => {
      const { run, isRecorded } = await lostRun();
      const { code, stderr } = await run(line);
      expect([code, stderr, isRecorded()]).toEqual([6, expect.stringContaining('restored from a backup'), true]);
      expect((await run('list --status not_found')).stdout).toMatch(/^NOT_FOUND +nightly/m);
      expect(await run('watch --all')).toMatchObject({ code: 0, stdout: '' });
      expect(await run('list')).toMatchObject({ code: 0, stderr: expect.not.stringContaining('polled') });
      // Whoever names it wants to know.
      expect((await run('watch nightly')).code).toBe(6);
    },
  );

  test('is followed again once the service knows it again', async () => {
    const { run, knowAgain } = await lostRun();
    await run('watch --all');
    knowAgain();
    expect((await run('list')).stdout).toMatch(/^RUNNING +nightly/m);
    expect((await run('watch --all --timeout 1s')).code).toBe(124);
  });

  test('is not recorded for another API key, which may not see it', async () => {
    const { run, isRecorded } = await lostRun({ RUNCTL_API_KEY: 'another-key-123456' });
    const { code, stderr } = await run('watch --all');
    expect([code, isRecorded(), stderr]).toEqual([6, false, expect.not.stringContaining('trigger again')]);
  });
});

test.each(['status', 'watch', 'result'])(
  '`%s` bears that the service does not know a new run yet, by name and by id',
  async (command) => {
    const { run } = await withMachine({
      automations: { '*': { duration: '5s', statusLate: '20s', resultLate: '20s' } },
    });
    const { stdout: id } = await run(trigger);
    for (const argument of [id.trim(), 'nightly']) expect((await run([command, argument])).code).toBe(0);
  },
);

describe('recover', () => {
  const withUnresolvedTrigger = async (scenario = lost) => {
    const machine = await withMachine(scenario);
    expect((await machine.run(hasty)).code).toBe(12);
    return { ...machine, sent: () => machine.keys().length - 1 };
  };

  test.each([
    ['recover --dry-run', 1],
    ['recover --dry-run --resend', 24],
  ])('sends nothing with `%s`, and says until when it would send: %i h after the trigger', async (line, hours) => {
    const { run, sent } = await withUnresolvedTrigger();
    const { documents } = await run(`${line} --json`);
    const { at, until } = documents[0].runctl.recover;
    expect([(Date.parse(until) - Date.parse(at)) / 3_600_000, sent()]).toEqual([hours, 0]);
    const { code, stderr } = await run(line);
    expect([code, stderr]).toEqual([0, expect.stringMatching(/trigger of nightly at .* until .* \+0000/)]);
  });

  test('sends no trigger of an automation that was not named', async () => {
    const { run, sent } = await withUnresolvedTrigger({ ...lost, automations: { nightly: {}, weekly: {} } });
    await run('trigger weekly');
    const before = sent();
    expect(await run('recover weekly')).toMatchObject({ code: 0, stderr: expect.stringContaining('weekly') });
    expect(sent()).toBe(before);
    expect((await run('recover weekly nightly')).stdout).toMatch(/^[\w-]{36}\n$/);
  });

  test.each([
    ['nigthly', 'did you mean nightly?', null],
    ['NIGHTLY', 'did you mean nightly?', null],
    ['weekly', 'runctl recover --dry-run', 'runctl recover --dry-run'],
    ['nightly weekly', 'runctl recover --dry-run', 'runctl recover --dry-run'],
  ])('sends nothing for an automation that this machine has no record of: %s', async (names, hint, next) => {
    const { run, sent } = await withUnresolvedTrigger();
    const { code, stdout, stderr } = await run(`recover ${names}`);
    expect([code, stdout, sent()]).toEqual([6, '', 0]);
    expect(stderr).toContain(hint);
    const { documents } = await run(`recover ${names} --json`);
    const trigger = { how: 'not_started', started: 'no' };
    expect(documents).toMatchObject([
      { executionId: null, runctl: { exitCode: 6, outcome: 'not_found', next, trigger } },
    ]);
  });

  test('succeeds if nothing is unresolved and no automation has such a name, so that a script can begin with it', async () => {
    const { run } = await withMachine(lost);
    const noted = { code: 0, stderr: expect.stringContaining('Nothing to recover') };
    expect(await run('recover nightly')).toMatchObject(noted);
    await run('trigger other');
    expect(await run('recover nightly')).toMatchObject(noted);
  });

  test('knows an automation whose triggers were all refused', async () => {
    const { run } = await withMachine({ faults: [{ on: 'trigger', do: 'status', status: 402 }] });
    expect((await run('trigger nightly')).code).toBe(8);
    expect((await run('recover nightly')).code).toBe(0);
  });

  test.each(['', ' -q'])(
    'says why it waits, and how to watch the run, unless it is to be quiet: recover%s',
    async (flag) => {
      const { run, ids } = await withUnresolvedTrigger({
        faults: [
          { ...once, do: 'close', acts: true },
          { on: 'trigger', nth: 2, do: 'status', status: 503 },
        ],
      });
      const { code, stdout, stderr } = await run(`recover${flag}`);
      const [id] = ids();
      expect(code).toBe(0);
      if (flag) expect([stdout, stderr]).toEqual(['', '']);
      else expect([stdout, stderr]).toEqual([`${id}\n`, expect.stringMatching(`retrying(.|\n)*runctl watch ${id}`)]);
    },
  );

  test('leaves the trigger unresolved if it is interrupted before it sends, and the exit code says so', async () => {
    const { run, records } = await withUnresolvedTrigger();
    const before = records();
    const { code, documents } = await run('recover --json', { signal: AbortSignal.abort('SIGTERM') });
    expect(documents).toMatchObject([
      { runctl: { outcome: 'interrupted', trigger: { started: 'unknown' }, next: 'runctl recover' } },
    ]);
    expect([code, records()]).toEqual([143, before]);
  });
});

describe('a trigger that was lost', () => {
  test.each([23, 49])('%i hours ago is mentioned if the run before it is shown', async (hours) => {
    const { run, clock } = await withMachine({
      automations: { '*': { duration: '1s' } },
      faults: [loseResponse({ from: 2 })],
    });
    await run(`${trigger} --watch -q`);
    expect((await run(hasty)).code).toBe(12);
    clock.leap(hours * 3_600_000);
    const { documents } = await run('status nightly --json');
    expect(documents).toMatchObject([{ runctl: { warnings: [{ name: 'unresolved_trigger' }] } }]);
  });

  test.each([
    [23, 'runctl recover'],
    [25, null],
  ])('%i hours ago is listed, with the next step %j', async (hours, next) => {
    const { run, clock } = await withMachine(lost);
    await run(hasty);
    clock.leap(hours * 3_600_000);
    expect((await run('list --offline --json')).documents).toMatchObject([{ runctl: { next } }]);
  });
});

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
])(
  '%s while the response is awaited exits with %i, says that the outcome is unknown, and recover resolves it',
  async (name, exitCode) => {
    const { run, emulator, ids } = await withMachine({ faults: [{ ...once, do: 'hang', acts: true }] });
    const interrupt = new AbortController();
    const running = run(`${trigger} --json`, { signal: interrupt.signal });
    await vi.waitUntil(() => emulator.requests.length > 0, { timeout: 10_000, interval: 5 });
    interrupt.abort(name);
    const { code, documents, stderr } = await running;
    expect([code, stderr.includes("'setsid -f'")]).toEqual([exitCode, name === 'SIGHUP']);
    expect(documents).toMatchObject([{ runctl: { trigger: { started: 'unknown', safeToRepeat: false } } }]);
    expect((await run('recover')).stdout).toBe(`${ids()[0]}\n`);
    expect(ids()).toHaveLength(1);
  },
);

test('a signal while the response is awaited has no next command if keys are ignored, as a second run could start', async () => {
  const { run, emulator } = await withMachine({ faults: [{ ...once, do: 'hang', acts: true }] });
  const interrupt = new AbortController();
  const env = { RUNCTL_IDEMPOTENCY_KEYS: 'ignored' };
  const running = run(`${trigger} --json`, { env, signal: interrupt.signal });
  await vi.waitUntil(() => emulator.requests.length > 0, { timeout: 10_000, interval: 5 });
  interrupt.abort('SIGINT');
  const { code, documents } = await running;
  expect([code, documents[0].runctl.next]).toEqual([130, null]);
});
