// A follower that runs for hours, by a clock that leaps over every pause.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { Scenario } from '../../src/emulator/scenario.ts';
import { withEmulator } from '../helpers/emulator.ts';
import type { LeapingClock } from '../helpers/leaping-clock.ts';
import { runProgram } from '../helpers/run-program.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

// Hundreds of requests, which take as much longer as the machine has other work.
vi.setConfig({ testTimeout: 120_000 });
const patience = { timeout: 110_000, interval: 20 };
const firstKey = 'test-key-4f1b7c9d2e';
const renewed = 'sk-live-fedcba9876543210';

/** What waits for a command of the user's waits for it, and the journal is read every nine seconds, not every one. */
const patientClock = (clock: LeapingClock): LeapingClock => ({
  ...clock,
  sleep(ms, signal) {
    if (ms === 500 || ms === 30_000) return clock.sleepReally(ms, signal);
    return clock.sleep(ms === 1_000 ? 9_000 : ms, signal);
  },
});

/** Follows a run of this scenario until its hook has reported it. */
async function followed(scenario: Scenario, settings: Record<string, string> = {}, pace = ['--interval', '5m']) {
  const { env, emulator, clock } = await withEmulator(scenario, { apiKey: firstKey });
  const file = join(temporaryFolder(), 'reported');
  const hook = `echo "$RUNCTL_AUTOMATION $RUNCTL_STATUS" >> '${file}'`;
  const reported = () => (existsSync(file) ? readFileSync(file, 'utf8') : '');
  const trigger = () => runProgram(['trigger', 'nightly', '-q'], { env, clock });
  await trigger();
  const interrupt = new AbortController();
  const argv = ['watch', '--follow', '--events', ...pace, '--on-final', hook];
  const own = { ...env, PATH: process.env.PATH ?? '', ...settings };
  const ended = runProgram(argv, { env: own, clock: patientClock(clock), signal: interrupt.signal });
  return {
    clock,
    emulator,
    trigger,
    /** Stops the follower once the run is reported, and returns its end and its events. */
    async untilReported() {
      await vi.waitFor(() => expect(reported()).not.toBe(''), patience);
      interrupt.abort('SIGTERM');
      const { code, stdout, stderr } = await ended;
      const events = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      return { code, stderr, events, reported: reported() };
    },
    /** How it ended by itself. */
    ended,
  };
}

const once = { code: 143, reported: 'nightly COMPLETED\n' };

test('a network that is lost for half an hour, far longer than `--give-up-after`, does not end a follower', async () => {
  const { untilReported } = await followed({
    automations: { '*': { duration: '35m' } },
    faults: [{ on: 'status', during: { after: '2m', for: '30m' }, do: 'reset' }],
  });
  const { events, ...end } = await untilReported();
  expect(end).toMatchObject(once);
  const back = events.filter(({ event }) => event === 'service_back');
  expect(back).toHaveLength(1);
  expect(back[0].afterMs).toBeGreaterThan(24 * 60_000);
});

test('a follower that never gets an answer ends after `--give-up-after`', async () => {
  const down: Scenario = { faults: [{ on: 'status', do: 'status', status: 503 }] };
  const { ended, clock } = await followed(down, {}, ['--give-up-after', '10m']);
  const startMs = clock.nowMs();
  expect((await ended).code).toBe(10);
  expect(clock.nowMs() - startMs).toBeLessThan(15 * 60_000);
});

test('a follower whose machine slept polls again, also where it is refused at first', async () => {
  const { untilReported, clock, emulator } = await followed({
    automations: { '*': { duration: '2h' } },
    faults: [{ on: 'status', during: { after: '2h' }, to: 2, do: 'status', status: 401 }],
  });
  await vi.waitFor(() => expect(emulator.requests.length).toBeGreaterThan(2), patience);
  clock.leap(8 * 3_600_000);
  expect(await untilReported()).toMatchObject(once);
  expect(emulator.requests.filter(({ status }) => status === 401)).toHaveLength(2);
});

const revoked: Scenario = {
  apiKeys: [renewed],
  automations: { '*': { duration: '1h' } },
  faults: [{ on: 'status', nth: 3, do: 'revokeKey' }],
};

test('an API key that is revoked is asked for again, and the run is followed on', async () => {
  const file = join(temporaryFolder(), 'key');
  const command = `cat '${file}'; echo ${renewed} > '${file}'`;
  writeFileSync(file, firstKey);
  const { untilReported, emulator } = await followed(revoked, {
    RUNCTL_API_KEY: '',
    RUNCTL_API_KEY_COMMAND: command,
  });
  expect(await untilReported()).toMatchObject(once);
  const keys = emulator.requests.map(({ headers }) => headers['x-api-key']);
  expect(new Set(keys)).toEqual(new Set([firstKey, renewed]));
});

test('one that stays refused ends the follower after half a minute, and its run is left alone', async () => {
  const { ended, emulator } = await followed(revoked);
  const { code, stderr } = await ended;
  expect(code).toBe(7);
  expect(stderr).toContain('runctl:');
  expect(emulator.requests.filter(({ status }) => status === 401).length).toBeGreaterThan(1);
});

test('what a follower has seen of the durations of runs is used for later ones', async () => {
  const { clock, emulator, trigger, untilReported } = await followed(
    { automations: { '*': { duration: '20m' } } },
    {},
    [],
  );
  const pollsOf = (n: number) => {
    const id = emulator.runs()[n]?.executionId ?? 'none';
    const urls = emulator.requests.map(({ url }) => url).filter((url) => url.includes(id));
    return { polls: urls.length, hasFinished: urls.some((url) => url.endsWith('/result')) };
  };
  await vi.waitFor(() => expect(pollsOf(0).hasFinished).toBe(true), patience);
  clock.leap(2 * 3_600_000);
  await trigger();
  await vi.waitFor(() => expect(pollsOf(1).hasFinished).toBe(true), patience);
  await untilReported();
  expect(pollsOf(1).polls).toBeLessThan(pollsOf(0).polls / 2);
});
