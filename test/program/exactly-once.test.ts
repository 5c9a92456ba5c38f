import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import type { Scenario } from '../fault-kit/scenario.ts';
import { withEmulator } from '../helpers/emulator.ts';
import { jsonLines } from '../helpers/json-lines.ts';
import { runProgram } from '../helpers/run-program.ts';

const posts = (emulator: { requests: readonly { method: string }[] }) =>
  emulator.requests.filter(({ method }) => method === 'POST');

const lossyAnswers: [string, NonNullable<Scenario['faults']>[number]][] = [
  ['lost', { on: 'trigger', nth: 1, do: 'loseAnswer' }],
  ['closed', { on: 'trigger', nth: 1, do: 'close', acts: true }],
  ['truncated', { on: 'trigger', nth: 1, do: 'truncate' }],
  ['a 502 of a gateway', { on: 'trigger', nth: 1, do: 'status', status: 502, acts: true }],
  ['a 200 with HTML', { on: 'trigger', nth: 1, do: 'html', status: 200, acts: true }],
  ['JSON of another kind', { on: 'trigger', nth: 1, do: 'wrongJson' }],
];

test("a trigger whose record is dated in the future is sent by --resend alone, and its time isn't named", async () => {
  const { env, clock, emulator } = await withEmulator({ faults: [{ on: 'trigger', nth: 1, do: 'loseAnswer' }] });
  const argv = ['trigger', 'nightly', '--idempotency-key', 'k', '--give-up-after', '1ms'];
  const { stderr } = await runProgram(argv, { env, clock });
  clock.leap(-3_600_000);
  for (const again of [argv, ['recover'], ['recover', '--dry-run']]) {
    const { code, ...said } = await runProgram(again, { env, clock });
    expect([again, code]).toEqual([again, again.includes('--dry-run') ? 0 : 12]);
    expect(said.stderr).toContain('dated in the future');
    expect(said.stderr).not.toMatch(/\d{4}-\d\d-\d\d|new idempotency key/);
  }
  expect(stderr).toContain('runctl recover');
  const resent = await runProgram(['recover', '--resend'], { env, clock });
  expect([resent.code, emulator.runs().length]).toEqual([0, 1]);
});

test('a run that the journal has as the run of another key is never called perhaps its own', async () => {
  const { env, clock, emulator } = await withEmulator({
    namesActiveRun: true,
    faults: [
      { on: 'trigger', nth: 1, do: 'loseAnswer' },
      { on: 'trigger', nth: 2, do: 'status', status: 502 },
    ],
  });
  await runProgram(['trigger', 'nightly', '--give-up-after', '1ms'], { env, clock });
  const [{ executionId } = { executionId: '' }] = emulator.runs();
  const perhaps = `run ${executionId} was active and may be the one it started`;
  expect((await runProgram(['trigger', 'nightly'], { env, clock })).stderr).toContain(perhaps);
  const first = await runProgram(['recover', '--resend'], { env, clock });
  expect([first.code, first.stdout]).toEqual([12, `${executionId}\n`]);
  for (const flags of [[], ['--resend']]) {
    const { code, stderr } = await runProgram(['recover', ...flags], { env, clock });
    expect(code).toBe(12);
    expect(stderr).not.toMatch(/perhaps|may be the one/);
  }
  expect(emulator.runs()).toHaveLength(1);
});

test('a given key whose record is dated in the future is not called old', async () => {
  const { env, clock, emulator } = await withEmulator({ faults: [{ on: 'trigger', nth: 1, do: 'loseAnswer' }] });
  const argv = ['trigger', 'nightly', '--idempotency-key', 'k', '--give-up-after', '1ms'];
  expect((await runProgram(argv, { env, clock })).code).toBe(12);
  const file = join(env.RUNCTL_STATE_DIR ?? '', 'journal.jsonl');
  const inAnHour = new Date(clock.nowMs() + 3_600_000).toISOString();
  writeFileSync(file, readFileSync(file, 'utf8').replace(/"at":"[^"]+"/g, `"at":"${inAnHour}"`));
  const { code, stderr } = await runProgram(argv, { env, clock });
  expect([code, stderr]).toEqual([12, expect.stringContaining('dated in the future')]);
  expect([stderr, emulator.runs().length]).toEqual([expect.not.stringContaining('24h ago'), 1]);
});

describe('an answer to a trigger that is', () => {
  test.each(lossyAnswers)(
    '%s: a service that looks up the key first answers the repeat with the one run',
    async (_, fault) => {
      const { env, clock, emulator } = await withEmulator({ faults: [fault] });
      const { code, stdout } = await runProgram(['trigger', 'nightly'], { env, clock });
      expect(code).toBe(0);
      expect(emulator.runs().map(({ executionId }) => executionId)).toEqual([stdout.trim()]);
      expect(
        new Set(posts(emulator).map((request) => 'headers' in request && JSON.stringify(request.headers))).size,
      ).toBe(1);
    },
  );

  test.each(lossyAnswers)(
    '%s: a service that looks for an active run first leaves it open until `recover --resend`',
    async (_, fault) => {
      const { env, clock, emulator, endRuns } = await withEmulator({ order: 'activeFirst', faults: [fault] });
      const { code, stdout, stderr } = await runProgram(['trigger', 'nightly', '--json'], { env, clock });
      expect(code).toBe(12);
      const { outcome, trigger } = JSON.parse(stdout).runctl;
      expect(outcome).toBe('outcome_unknown');
      expect(trigger).toMatchObject({ how: 'unknown', started: 'unknown', safeToRepeat: false });
      expect(trigger.idempotencyKey).toMatch(/^[0-9a-f-]{36}$/);
      expect(stderr).toContain('runctl recover');
      endRuns();
      const withheld = await runProgram(['recover'], { env, clock });
      expect([withheld.code, withheld.stdout]).toEqual([12, '']);
      expect(withheld.stderr).toContain('look in the service for a run of nightly');
      const recovered = await runProgram(['recover', '--resend'], { env, clock });
      expect(recovered.stdout.trim()).toBe(emulator.runs()[0]?.executionId);
      expect(recovered.code).toBe(0);
      expect(emulator.runs()).toHaveLength(1);
      expect((await runProgram(['recover'], { env, clock })).stderr).toContain('Nothing to recover');
    },
  );
});

test('a conflict after a lost answer is 12, and names the run that may be the one and each next step', async () => {
  const { env, clock, emulator, endRuns } = await withEmulator({
    order: 'activeFirst',
    namesActiveRun: true,
    faults: [{ on: 'trigger', nth: 1, do: 'loseAnswer' }],
  });
  const { code, stdout, stderr } = await runProgram(['trigger', 'nightly', '--json'], { env, clock });
  const [{ executionId, idempotencyKey } = { executionId: '' }] = emulator.runs();
  const { runctl } = JSON.parse(stdout);
  expect([code, runctl.activeExecutionId]).toEqual([12, executionId]);
  expect(runctl.next).toMatch(new RegExp(`^runctl watch .*/nightly/${executionId}$`));
  const [, ...said] = stderr.trim().split('\n');
  expect(said).toHaveLength(4);
  expect(said.join('\n')).toMatch(
    new RegExp(`watch[^]*when it has finished.*recover .*/nightly --resend[^]*other machine.*${idempotencyKey}`),
  );
  endRuns();
  const recovered = await runProgram(['recover', '--resend'], { env, clock });
  expect([recovered.code, recovered.stdout.trim()]).toEqual([0, executionId]);
});

test('a trigger beside an unresolved one says so, with the command that resolves it', async () => {
  const { env, clock, endRuns } = await withEmulator({
    order: 'activeFirst',
    faults: [{ on: 'trigger', nth: 1, do: 'loseAnswer' }],
  });
  expect((await runProgram(['trigger', 'nightly'], { env, clock })).code).toBe(12);
  endRuns();
  const { stderr, code } = await runProgram(['trigger', 'nightly'], { env, clock });
  expect(code).toBe(0);
  expect(stderr).toContain('an earlier trigger of nightly may or may not have started a run');
  expect(stderr).toContain('runctl recover');
});

test("a repeated key follows its run, though the service doesn't know it yet", async () => {
  const { env, clock, emulator } = await withEmulator({ automations: { '*': { duration: '60s', statusLate: '20s' } } });
  const argv = ['trigger', 'nightly', '--idempotency-key', 'n'];
  expect((await runProgram(argv, { env, clock })).code).toBe(0);
  const { code, stdout } = await runProgram([...argv, '--watch', '--json', '--give-up-after', '1m'], {
    env,
    clock,
  });
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ status: 'COMPLETED', runctl: { trigger: { how: 'replayed' } } });
  expect(emulator.runs()).toHaveLength(1);
});

test('a repeated key starts no second run under a new API key', async () => {
  const { env, clock, emulator } = await withEmulator({ apiKeys: ['another-key-123456'] });
  const argv = ['trigger', 'nightly', '--idempotency-key', 'n'];
  const first = await runProgram(argv, { env, clock });
  const { code, stdout } = await runProgram(argv, { env: { ...env, RUNCTL_API_KEY: 'another-key-123456' }, clock });
  expect([code, stdout]).toEqual([0, first.stdout]);
  expect(emulator.runs()).toHaveLength(1);
});

test('a final status that `result` learned is known to `list` and `watch --all`', async () => {
  const { env, clock, endRuns } = await withEmulator({});
  await runProgram(['trigger', 'nightly'], { env, clock });
  endRuns();
  for (const flags of [['--json'], []]) expect((await runProgram(['result', ...flags], { env, clock })).code).toBe(0);
  // Otherwise the list would poll the run itself.
  expect(jsonLines((await runProgram(['list', '--offline', '--json'], { env, clock })).stdout)).toMatchObject([
    { status: 'COMPLETED' },
  ]);
  expect((await runProgram(['watch', '--all'], { env, clock })).stderr).toContain('No unfinished runs.');
});

describe('a run that the service no longer knows', () => {
  /** A machine whose run the service has lost, as after a restored backup. `knowAgain` brings it back. */
  async function lostRun(key: Record<string, string> = {}) {
    const apiKeys = ['another-key-123456'];
    const { env, clock } = await withEmulator({ apiKeys, automations: { '*': { duration: '1h' } } });
    const { env: empty } = await withEmulator({ apiKeys });
    const file = join(env.RUNCTL_STATE_DIR ?? '', 'journal.jsonl');
    await runProgram(['trigger', 'nightly'], { env, clock });
    const rename = (from = '', to = '') => writeFileSync(file, readFileSync(file, 'utf8').replaceAll(from, to));
    rename(env.RUNCTL_BASE_URL, empty.RUNCTL_BASE_URL);
    clock.leap(60_000);
    let url = empty.RUNCTL_BASE_URL;
    return {
      run: (line: string) => runProgram(line.split(' '), { env: { ...env, RUNCTL_BASE_URL: url, ...key }, clock }),
      isRecorded: () => readFileSync(file, 'utf8').includes('"type":"not_found"'),
      knowAgain() {
        rename(empty.RUNCTL_BASE_URL, env.RUNCTL_BASE_URL);
        url = env.RUNCTL_BASE_URL;
      },
    };
  }

  test.each(['watch --all', 'watch nightly', 'status nightly', 'result nightly'])(
    'is said and recorded once: %s',
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
    await run('watch nightly --timeout 1s');
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
    const { env, clock } = await withEmulator({
      automations: { '*': { duration: '5s', statusLate: '20s', resultLate: '20s' } },
    });
    const { stdout } = await runProgram(['trigger', 'nightly'], { env, clock });
    for (const run of [stdout.trim(), 'nightly'])
      expect((await runProgram([command, run], { env, clock })).code).toBe(0);
  },
);

describe('--if-active', () => {
  const busy = async (scenario: Scenario = {}) => {
    const { env, clock, emulator } = await withEmulator({ automations: { '*': { duration: '1h' } }, ...scenario });
    const other = { ...env, RUNCTL_STATE_DIR: `${env.RUNCTL_STATE_DIR}-other` };
    const { stdout } = await runProgram(['trigger', 'nightly'], { env: other, clock });
    return { env, clock, other, emulator, active: stdout.trim() };
  };

  test('fail (the default) ends with 5', async () => {
    const { env, clock } = await busy();
    const { code, stdout } = await runProgram(['trigger', 'nightly', '--json'], { env, clock });
    expect(code).toBe(5);
    expect(JSON.parse(stdout).runctl.trigger.started).toBe('no');
  });

  test('skip ends with 0, says so, and follows nothing', async () => {
    const { env, clock, emulator } = await busy();
    const { code, stdout, stderr } = await runProgram(['trigger', 'nightly', '--if-active', 'skip', '--watch'], {
      env,
      clock,
    });
    expect(code).toBe(0);
    expect(stdout).toBe('');
    expect(stderr).toContain('skipped');
    expect(emulator.runs()).toHaveLength(1);
  });

  test.each([true, false])(
    'wait starts one run when the slot is free (active run named: %s), with a new key for each try',
    async (namesActiveRun) => {
      const { env, clock, emulator } = await busy({ namesActiveRun, automations: { '*': { duration: '5s' } } });
      const { code, stdout } = await runProgram(['trigger', 'nightly', '--if-active', 'wait', '-q'], { env, clock });
      expect(code).toBe(0);
      expect(emulator.runs().map(({ executionId }) => executionId)[1]).toBe(stdout.trim());
      const keys = emulator.requests.flatMap(({ method, headers }) =>
        method === 'POST' ? [headers['idempotency-key']] : [],
      );
      expect(new Set(keys).size).toBe(keys.length);
    },
  );

  test.each([
    ['at once', 0],
    ['the second while the first is sent', 1],
  ])('two with one key, %s, are both refused, and leave Nothing to recover', async (_, sentBefore) => {
    const { env, emulator } = await busy({ faults: [{ on: 'trigger', do: 'delay', delay: '300ms', nth: 2 }] });
    const argv = ['trigger', 'nightly', '--if-active', 'skip', '--idempotency-key', 'k'];
    const before = emulator.requests.length;
    const first = runProgram(argv, { env });
    await vi.waitUntil(() => emulator.requests.length >= before + sentBefore, { timeout: 10_000 });
    const ended = await Promise.all([first, runProgram(argv, { env })]);
    expect(ended.map(({ code }) => code)).toEqual([0, 0]);
    expect((await runProgram(['recover'], { env })).stderr).toContain('Nothing to recover');
  });

  test('wait is bounded by --timeout', async () => {
    const { env, clock } = await busy();
    const argv = ['trigger', 'nightly', '--if-active', 'wait', '--timeout', '300ms', '--json'];
    const { code, stdout } = await runProgram(argv, { env, clock });
    expect(code).toBe(5);
    expect(JSON.parse(stdout).runctl.trigger.started).toBe('no');
  });
});

describe('recover', () => {
  const lost: Scenario = { faults: [{ on: 'trigger', nth: 1, do: 'loseAnswer' }] };
  const triggerOnce = ['trigger', 'nightly', '--give-up-after', '1ms'];
  const withUnresolvedTrigger = async (scenario = lost) => {
    const emulated = await withEmulator(scenario);
    expect((await runProgram(triggerOnce, { env: emulated.env })).code).toBe(12);
    emulated.endRuns();
    return { ...emulated, sent: posts(emulated.emulator).length };
  };

  test('--dry-run lists and sends nothing', async () => {
    const { env, clock, emulator, sent } = await withUnresolvedTrigger();
    const { stderr, code } = await runProgram(['recover', '--dry-run', '--resend'], { env, clock });
    expect(stderr).toMatch(/the trigger of nightly at .* would be sent again, until .* \+0000/);
    expect(code).toBe(0);
    expect(posts(emulator)).toHaveLength(sent);
  });

  test.each([
    ['', 1],
    ['--resend', 24],
  ])('--dry-run %s says until when it would send: %d h after the trigger', async (flag, hours) => {
    const { env, clock } = await withEmulator(lost);
    await runProgram(triggerOnce, { env, clock });
    const argv = ['recover', '--dry-run', '--json', ...flag.split(' ').filter(Boolean)];
    const [{ runctl }] = jsonLines((await runProgram(argv, { env, clock })).stdout);
    const { at, until } = runctl.recover;
    expect((Date.parse(until) - Date.parse(at)) / 3_600_000).toBe(hours);
  });

  test('is told the automations that are meant, and sends no trigger of any other', async () => {
    const { env, clock, emulator, sent } = await withUnresolvedTrigger();
    const other = await runProgram(['recover', 'weekly'], { env, clock });
    expect([other.code, other.stderr]).toEqual([0, expect.stringContaining('no unresolved triggers of weekly')]);
    expect(posts(emulator)).toHaveLength(sent);
    const both = await runProgram(['recover', 'weekly', 'nightly', '--resend'], { env, clock });
    expect(both.stdout).toMatch(/^[\w-]{36}\n$/);
  });

  test('sends no trigger that is older than an hour', async () => {
    const { env, clock, emulator, sent } = await withUnresolvedTrigger();
    const old = await runProgram(['recover'], { env, clock });
    expect(old.stderr).toContain("isn't sent again");
    expect(old.code).toBe(12);
    expect(posts(emulator)).toHaveLength(sent);
  });

  test('says why it waits, unless it is to be quiet', async () => {
    for (const flags of [[], ['-q']]) {
      const { env, clock, emulator } = await withEmulator({
        faults: [
          { on: 'trigger', nth: 1, do: 'hang', acts: true },
          { on: 'trigger', nth: 2, do: 'status', status: 503 },
        ],
      });
      expect(
        (
          await runProgram(['trigger', 'nightly', '--give-up-after', '1ms'], {
            env: { ...env, RUNCTL_REQUEST_TIMEOUT: '300ms' },
          })
        ).code,
      ).toBe(12);
      const { code, stdout, stderr } = await runProgram(['recover', ...flags], { env, clock });
      expect(code).toBe(0);
      const id = emulator.runs()[0]?.executionId;
      if (flags.length > 0) expect([stdout, stderr]).toEqual(['', '']);
      else expect([stdout, stderr]).toEqual([`${id}\n`, expect.stringMatching(`retrying[^]*runctl watch ${id}`)]);
    }
  });

  test('with another API key sends nothing: it could start a second run', async () => {
    const { env, clock, emulator, sent } = await withUnresolvedTrigger();
    const { stderr, code } = await runProgram(['recover', '--resend'], {
      env: { ...env, RUNCTL_API_KEY: 'another-key-123456' },
      clock,
    });
    expect(stderr).toContain('another API key');
    expect(code).toBe(12);
    expect(posts(emulator)).toHaveLength(sent);
  });
});

test('several automations are started side by side: a line each in order, empty for the one that was not, whose code counts', async () => {
  const { env, clock, emulator } = await withEmulator({
    automations: { '*': {}, 'is slow': {} },
    faults: [{ on: 'trigger', automation: 'b', do: 'status', status: 402 }],
  });
  const { code, stdout, stderr } = await runProgram(['trigger', 'a', 'b', 'c'], { env, clock });
  const idOf = (name: string) =>
    emulator.runs().find(({ target }) => 'automationName' in target && target.automationName === name)?.executionId;
  expect(stdout).toBe(`${idOf('a')}\n\n${idOf('c')}\n`);
  expect(stderr).toContain("runctl: b couldn't be triggered");
  expect(code).toBe(8);
});

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)(
  '%s while the answer is awaited ends at once with %i, says that nobody knows, and recover settles it',
  async (signal, exitCode) => {
    const { env, clock, emulator } = await withEmulator({
      faults: [{ on: 'trigger', nth: 1, do: 'hang', acts: true }],
    });
    const interrupt = new AbortController();
    const running = runProgram(['trigger', 'nightly', '--json'], { env, clock, signal: interrupt.signal });
    await vi.waitUntil(() => posts(emulator).length > 0, { timeout: 10_000, interval: 5 });
    interrupt.abort(signal);
    const { code, stdout, stderr } = await running;
    expect(code).toBe(exitCode);
    expect(stderr).toContain('may have been started');
    expect(stderr.includes('`setsid -f`')).toBe(signal === 'SIGHUP');
    expect(JSON.parse(stdout).runctl.trigger).toMatchObject({ started: 'unknown', safeToRepeat: false });
    expect((await runProgram(['recover'], { env, clock })).stdout.trim()).toBe(emulator.runs()[0]?.executionId);
    expect(emulator.runs()).toHaveLength(1);
  },
);

test('a given key whose answer was lost is sent again without a warning of that same trigger', async () => {
  const { env, clock } = await withEmulator({ faults: [{ on: 'trigger', nth: 1, do: 'loseAnswer' }] });
  const argv = ['trigger', 'nightly', '--idempotency-key', 'k'];
  expect((await runProgram([...argv, '--give-up-after', '1ms'], { env, clock })).code).toBe(12);
  clock.leap(60_000);
  const { code, stderr } = await runProgram(argv, { env, clock });
  expect([code, stderr]).toEqual([0, expect.not.stringContaining('earlier trigger')]);
});

test('what `recover` withholds after a conflict names the run that was active', async () => {
  const { env, clock, emulator } = await withEmulator({
    order: 'activeFirst',
    namesActiveRun: true,
    faults: [{ on: 'trigger', nth: 1, do: 'loseAnswer' }],
  });
  await runProgram(['trigger', 'nightly'], { env, clock });
  const { code, stdout } = await runProgram(['recover', '--json'], { env, clock });
  const [{ executionId } = { executionId: '' }] = emulator.runs();
  expect([code, JSON.parse(stdout).runctl.activeExecutionId]).toEqual([12, executionId]);
});

test.each([
  ['23', ['unresolved_trigger']],
  ['49', ['unresolved_trigger']],
])(
  'a trigger whose answer was lost %s hours ago: whoever asks for the run before it is warned of %j',
  async (hours, names) => {
    const { env, clock } = await withEmulator({
      automations: { '*': { duration: '1s' } },
      faults: [{ on: 'trigger', from: 2, do: 'loseAnswer' }],
    });
    await runProgram(['trigger', 'nightly', '--watch', '-q'], { env, clock });
    expect((await runProgram(['trigger', 'nightly', '--give-up-after', '1ms'], { env, clock })).code).toBe(12);
    clock.leap(Number(hours) * 3_600_000);
    const { stdout } = await runProgram(['status', 'nightly', '--json'], { env, clock });
    expect(JSON.parse(stdout).runctl.warnings.map(({ name }: { name: string }) => name)).toEqual(names);
  },
);

test.each([
  [23, 'runctl recover'],
  [25, null],
])('`list` offers `recover` for a trigger that was lost %i hours ago: %j', async (hours, next) => {
  const { env, clock } = await withEmulator({ faults: [{ on: 'trigger', do: 'loseAnswer' }] });
  await runProgram(['trigger', 'nightly', '--give-up-after', '1ms'], { env, clock });
  clock.leap(hours * 3_600_000);
  const { stdout } = await runProgram(['list', '--offline', '--json'], { env, clock });
  expect(JSON.parse(stdout).runctl.next).toBe(next);
});

test('--give-up-after bounds the poll of the run that a key had started', async () => {
  const { env, clock } = await withEmulator({ faults: [{ on: 'status', do: 'status', status: 503 }] });
  const argv = ['trigger', 'nightly', '--idempotency-key', 'k', '--give-up-after', '5s'];
  await runProgram(argv, { env, clock });
  const startMs = clock.elapsedMs();
  expect((await runProgram(argv, { env, clock })).code).toBe(0);
  expect(clock.elapsedMs() - startMs).toBeLessThan(10_000);
});
