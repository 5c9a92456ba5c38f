// `recover` as a user types it, after a trigger whose response was lost.
import { appendFileSync, symlinkSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  accepted,
  acceptedAs,
  alreadyActive,
  connectionLost,
  executionId,
  failed,
  failedResult,
  fullPath,
  given,
  interrupting,
  json,
  keyOf,
  noonMs,
  otherId,
  type Response,
  running,
} from './given.ts';

const hourMs = 3_600_000;
const noCredits = json(402, { code: 'insufficientCredits', message: 'Your balance is 0' });
const otherKey = { RUNCTL_API_KEY: 'another-key' };
const keysIgnored = { RUNCTL_IDEMPOTENCY_KEYS: 'ignored' };

/** `trigger nightly` was typed, and its response was lost. `answers` are those to what comes next. */
async function givenLost(
  answers: Response[] = [accepted],
  { env, ...others }: Parameters<typeof given>[0] & { env?: Record<string, string> } = {},
) {
  const world = await given({ trigger: [connectionLost, ...answers], ...others });
  await world.runctl('trigger nightly --give-up-after 0', env);
  const key = keyOf(world.requests[0]);
  const triggers = () => world.requests.filter(({ method }) => method === 'POST');
  return { ...world, key, sentAgain: () => triggers().length - 1 };
}

test('recover sends the trigger again with its key, and prints the id of its run', async () => {
  const { runctl, requests, journal, key } = await givenLost();

  const { exitCode, stdout, stderr } = await runctl('recover');

  expect([exitCode, stdout, stderr]).toEqual([0, `${executionId}\n`, '']);
  expect(requests.map(keyOf)).toEqual([key, key]);
  expect(journal()).toMatchObject([
    { type: 'sent', key, repeats: false },
    { type: 'sent', key, repeats: true },
    { type: 'accepted', key, executionId },
  ]);
  const again = await runctl('recover');
  expect([again.exitCode, again.stdout, requests.length]).toEqual([0, '', 2]);
  expect(again.stderr).toContain('nothing is left to recover');
  expect((await runctl('recover nightly')).exitCode).toBe(0);
});

test('the document of a run that was found says that nobody knows who started it', async () => {
  const { runctl, key } = await givenLost();
  const { document } = await runctl('recover nightly --json');
  expect(document).toMatchObject({ executionId, automationName: 'nightly' });
  expect(document.runctl).toEqual({
    schema: 1,
    command: 'recover',
    outcome: 'ok',
    exitCode: 0,
    next: null,
    warnings: [],
    trigger: { started: 'unknown', idempotencyKey: key },
  });
});

test.each(['recover -q', 'recover nightly --quiet'])('%s prints no id', async (typed) => {
  const { runctl, clock, sentAgain } = await givenLost();
  clock.pass(4 * hourMs); // at most
  const { exitCode, stdout, stderr } = await runctl(typed);
  expect([exitCode, stdout, stderr, sentAgain()]).toEqual([0, '', '', 1]);
});

test('recover --watch follows the run, and exits with its code', async () => {
  const { runctl } = await givenLost([accepted], {
    status: [running, failed],
    result: [failedResult],
  });
  const { exitCode, stdout } = await runctl('recover --watch -q');
  expect(exitCode).toBe(1);
  expect(stdout).toMatch(/nightly FAILED .*the mail server said no/);
});

describe('a trigger that stays unknown', () => {
  test.each<{ got: string; answer: Response; words: string }>([
    { got: 'a lost response', answer: connectionLost, words: 'broke before the response' },
    { got: 'a refusal', answer: noCredits, words: '402' },
    { got: 'runAlreadyActive', answer: alreadyActive, words: 'recover finds out once' },
  ])(
    'after $got exits with 12, silently with -q, and is asked again',
    async ({ answer, words }) => {
      const { runctl, sentAgain } = await givenLost([answer, answer, accepted], { isTTY: true });

      const first = await runctl('recover --watch --give-up-after 0');
      const second = await runctl('recover -q --give-up-after 0');
      const third = await runctl('recover');

      expect([first.exitCode, first.stdout]).toEqual([12, '']);
      expect(first.stderr).toContain(words);
      expect(first.stderr).toMatch(/→ runctl recover nightly --watch\n$/);
      expect([second.exitCode, second.stdout, second.stderr]).toEqual([12, '', '']);
      expect([third.exitCode, sentAgain()]).toEqual([0, 3]);
    },
  );

  test('has a document with both failures in words', async () => {
    const { runctl, key } = await givenLost([noCredits]);
    const { document } = await runctl('recover --json');
    expect(document).toMatchObject({
      executionId: null,
      automationName: 'nightly',
      runctl: {
        outcome: 'outcome_unknown',
        exitCode: 12,
        next: expect.stringMatching(/ runctl recover nightly$/),
        trigger: { started: 'unknown', idempotencyKey: key },
        error: {
          httpStatus: 402,
          message: expect.stringMatching(/no response named its run.*credit/),
        },
      },
    });
  });

  test('is given up after 30 seconds', async () => {
    const { runctl, clock, sentAgain } = await givenLost([connectionLost]);
    expect((await runctl('recover')).exitCode).toBe(12);
    expect(sentAgain()).toBeGreaterThan(2);
    expect(clock.elapsedMs()).toBeGreaterThan(20_000);
    expect(clock.elapsedMs()).toBeLessThanOrEqual(30_000);
  });

  test('after a signal exits with 130', async () => {
    const { runctl } = await givenLost([interrupting()]);
    const { exitCode, document } = await runctl('recover --json');
    expect([exitCode, document.runctl.outcome]).toEqual([130, 'outcome_unknown']);
  });

  test("if the journal can't be written is not sent", async () => {
    const { runctl, folder, sentAgain } = await givenLost();
    symlinkSync('/proc/missing/file', `${folder}/journal/00000009.jsonl`);
    const { exitCode, stderr } = await runctl('recover');
    expect([exitCode, sentAgain()]).toEqual([12, 0]);
    expect(stderr).toMatch(/journal.* can't be written/);
  });
});

describe("a trigger that isn't sent", () => {
  test.each([
    { hours: 4.01, next: / runctl trigger nightly --idempotency-key / },
    { hours: -4.01, next: / runctl trigger nightly --idempotency-key / },
    { hours: 25, next: /^$/ }, // its key may be forgotten
  ])('because of its age: after $hours hours', async ({ hours, next }) => {
    const { runctl, clock, sentAgain } = await givenLost();
    clock.set(noonMs + hours * hourMs);
    const { exitCode, document, stderr } = await runctl('recover -q --json');
    expect([exitCode, sentAgain()]).toEqual([12, 0]);
    expect(document.runctl.next ?? '').toMatch(next);
    expect(stderr).toContain('Look in the service');
  });

  test('counts as long as that could not be printed', async () => {
    const { runctl, clock } = await givenLost([], { stdoutError: 'EPIPE' });
    clock.pass(5 * hourMs);
    await runctl('recover --json');
    expect((await runctl('recover --json')).stdout).toContain('outcome_unknown');
  });

  test('may be sent all the same with its key', async () => {
    const { runctl, clock, requests } = await givenLost();
    clock.pass(5 * hourMs);
    const { document } = await runctl('recover --json --watch');
    const { exitCode } = await runctl(document.runctl.next.replace(/^.*?runctl /, ''));
    expect(exitCode).toBe(0);
    expect(keyOf(requests[1])).toBe(keyOf(requests[0]));
    expect(requests.at(-1)?.path).toMatch(/result$/);
  });

  test('because a later one has a run: no command helps', async () => {
    const { runctl, sentAgain } = await givenLost([acceptedAs(otherId)]);
    await runctl('trigger nightly');
    const { exitCode, document } = await runctl('recover --json');
    expect([exitCode, sentAgain()]).toEqual([12, 1]);
    expect(document.runctl).toMatchObject({ outcome: 'outcome_unknown', next: null });
  });

  test('because a later one is unknown, which is sent', async () => {
    const { runctl, requests, key } = await givenLost([connectionLost, accepted]);
    await runctl('trigger nightly --give-up-after 0');
    const { exitCode, documents } = await runctl('recover --json');
    expect(exitCode).toBe(12);
    expect(documents).toMatchObject([
      { executionId: null, runctl: { trigger: { idempotencyKey: key }, exitCode: 12 } },
      { executionId, runctl: { trigger: { idempotencyKey: keyOf(requests[1]) }, exitCode: 0 } },
    ]);
    expect((await runctl('recover nightly')).stdout).toBe('');
    expect(requests.map(keyOf).filter((each) => each === key)).toHaveLength(1);
  });

  test.each([
    { when: 'now', first: {}, second: keysIgnored },
    { when: 'when it was sent', first: keysIgnored, second: {} },
  ])('because keys are ignored $when: no command helps', async ({ first, second }) => {
    const { runctl, sentAgain } = await givenLost([accepted], { env: first });
    const quiet = await runctl('recover -q', second);
    const { document } = await runctl('recover nightly --json', second);
    expect([quiet.exitCode, sentAgain()]).toEqual([12, 0]);
    expect(quiet.stderr).toMatch(/ignored.*Look in the service/);
    expect(document.runctl.next).toBeNull();
  });

  test('because of its API key stays as it is, silently with -q, until it is 4 hours old', async () => {
    const { runctl, clock, sentAgain } = await givenLost([connectionLost], { env: otherKey });
    const quiet = await runctl('recover -q');
    const loud = await runctl('recover');
    expect([quiet.exitCode, quiet.stderr]).toEqual([12, '']);
    expect([loud.exitCode, sentAgain()]).toEqual([12, 0]);
    expect(loud.stderr).toContain('another API key');

    clock.pass(5 * hourMs);
    const old = await runctl('recover -q');
    expect([old.exitCode, sentAgain()]).toEqual([12, 0]);
    expect(old.stderr).toMatch(/Look in the service[^→]*$/);
    expect((await runctl('recover')).exitCode).toBe(0);
  });

  test('because one of its attempts was made with another API key', async () => {
    const { runctl, folder, journal, key, sentAgain } = await givenLost([connectionLost]);
    await runctl('trigger export --give-up-after 0', otherKey);
    const other = { ...journal()[1], key, name: 'nightly' };
    appendFileSync(`${folder}/journal/00000001.jsonl`, `${JSON.stringify(other)}\n`);
    const { exitCode, stderr } = await runctl('recover nightly --give-up-after 0');
    expect([exitCode, sentAgain()]).toEqual([12, 1]); // `export` was
    expect(stderr).toContain('another API key');
  });

  test('because of its API key is found with that one', async () => {
    const { runctl } = await givenLost([accepted], { env: otherKey });
    await runctl('recover');
    expect((await runctl('recover', otherKey)).stdout).toBe(`${executionId}\n`);
  });

  test('is told once, and for a day by its name, and then counts no more', async () => {
    const { runctl, clock, journal } = await givenLost();
    clock.pass(5 * hourMs);
    expect((await runctl('recover')).exitCode).toBe(12);
    expect(journal().at(-1)).toMatchObject({ type: 'reported', name: 'nightly' });

    expect((await runctl('recover')).exitCode).toBe(0);
    expect((await runctl('recover nightly -q')).exitCode).toBe(12);
    const { document } = await runctl('trigger nightly --json');
    expect(document.runctl.warnings).toEqual([]);
    clock.pass(20 * hourMs);
    expect((await runctl('recover nightly')).exitCode).toBe(0);
  });

  test('counts again once it is sent again', async () => {
    const { runctl, clock, key } = await givenLost([connectionLost]);
    clock.pass(5 * hourMs);
    await runctl('recover');
    await runctl(`trigger nightly --idempotency-key ${key} --give-up-after 0`);
    expect((await runctl('recover')).exitCode).toBe(12);
  });
});

test('a repetition that was recorded after the refusal of its trigger counts for nothing', async () => {
  const { runctl, folder, journal } = await given({ trigger: [noCredits] });
  await runctl('trigger nightly');
  const repetition = { ...journal()[0], id: 'later', repeats: true };
  appendFileSync(`${folder}/journal/00000001.jsonl`, `${JSON.stringify(repetition)}\n`);
  expect((await runctl('recover')).stderr).toContain('nothing is left to recover');
  expect((await runctl('list')).stdout).toContain('NOT_STARTED');
});

test('a trigger that was reported hides the run before it no more', async () => {
  const { runctl, clock } = await given({ trigger: [accepted, connectionLost] });
  await runctl('trigger nightly');
  await runctl('trigger nightly --give-up-after 0');
  expect((await runctl('status nightly')).exitCode).toBe(12);
  clock.pass(5 * hourMs);
  await runctl('recover');
  expect((await runctl('status nightly')).exitCode).toBe(0);
});

test('a run that was only watched since is no later trigger, and may be the one that is found', async () => {
  const { runctl, sentAgain } = await givenLost([accepted], { status: [running] });
  await runctl(`status ${fullPath}`);
  expect([(await runctl('recover')).exitCode, sentAgain()]).toEqual([0, 1]);
  const { documents } = await runctl('list --json');
  expect(documents).toMatchObject([{ executionId }]);
  expect(documents).toHaveLength(1);
});

describe('the argument', () => {
  test('restricts it to one automation', async () => {
    const { runctl, requests } = await givenLost([connectionLost, accepted]);
    await runctl('trigger export --give-up-after 0');
    const { exitCode, stdout } = await runctl('recover export');
    expect([exitCode, stdout]).toEqual([0, `${executionId}\n`]);
    expect(requests.at(-1)?.path).toContain('/export/');
    expect(requests).toHaveLength(3);
  });

  test.each(['export', `${otherId}/nightly`])('must be known to the journal: %s', async (name) => {
    const { runctl, sentAgain } = await givenLost();
    const { exitCode, stdout } = await runctl(`recover ${name}`);
    expect([exitCode, stdout, sentAgain()]).toEqual([6, '', 0]);
  });

  test.each(['@', '..', 'nightly export', '--idempotency-key k1'])(
    'must be an automation: %s',
    async (typed) => {
      const { runctl, sentAgain } = await givenLost();
      expect((await runctl(`recover ${typed}`)).exitCode).toBe(2);
      expect(sentAgain()).toBe(0);
    },
  );
});

test.each(['recover', 'recover -q', 'recover --json'])(
  'an empty journal is no failure: %s',
  async (typed) => {
    const { runctl, requests } = await given();
    const { exitCode, stdout, stderr } = await runctl(typed);
    expect([exitCode, stdout, requests]).toEqual([0, '', []]);
    expect(stderr === '').toBe(typed === 'recover -q');
  },
);
