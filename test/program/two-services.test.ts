// One journal for two services: what is recorded of one says nothing of the other.
import { expect, test } from 'vitest';
import { withEmulator } from '../helpers/emulator.ts';
import { type ProgramOptions, runProgram } from '../helpers/run-program.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

/** A machine that uses two services, `here` and `there`, with the same project. */
async function machine() {
  const { env, clock } = await withEmulator({
    automations: { '*': { duration: '10m' } },
    faults: [{ on: 'trigger', automation: 'lost', do: 'loseAnswer' }],
  });
  const { emulator } = await withEmulator({}, { nowMs: clock.nowMs });
  const urls = { here: env.RUNCTL_BASE_URL ?? '', there: emulator.url };
  const at = (place: keyof typeof urls, line: string, options: ProgramOptions = {}) =>
    runProgram(line.split(' '), { env: { ...env, RUNCTL_BASE_URL: urls[place] }, clock, ...options });
  /** Of a machine with a journal of its own. */
  const otherAt = (place: keyof typeof urls, line: string) =>
    at(place, line, { env: { ...env, RUNCTL_BASE_URL: urls[place], RUNCTL_STATE_DIR: temporaryFolder() } });
  return { at, otherAt, urls, clock };
}

test('how long runs usually take is known of the service that they were seen at', async () => {
  const { at } = await machine();
  for (let runs = 0; runs < 3; runs++) await at('here', 'trigger nightly --watch -q');
  for (const place of ['here', 'there'] as const) {
    expect((await at(place, 'trigger nightly')).code).toBe(0);
    const { stdout } = await at(place, 'status nightly');
    expect([place, /\(usually \S+\)/.test(stdout)]).toEqual([place, place === 'here']);
  }
});

test('a run of the other service is not taken for the one that is active', async () => {
  const { at, otherAt } = await machine();
  expect((await at('there', 'trigger nightly')).code).toBe(0);
  await otherAt('here', 'trigger nightly');
  const { code, stdout } = await at('here', 'trigger nightly --json');
  expect([code, JSON.parse(stdout).runctl.activeExecutionId]).toEqual([5, undefined]);
});

test('a command line without an automation names those of the service', async () => {
  const { at } = await machine();
  await at('there', 'trigger nightly');
  const named = async (place: 'here' | 'there') => /nightly/.test((await at(place, 'trigger')).stderr);
  expect([await named('here'), await named('there')]).toEqual([false, true]);
});
