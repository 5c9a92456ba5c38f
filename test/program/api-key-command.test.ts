// The API key from a password manager: a fake one, as a shell command.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Terminal } from '@xterm/headless';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/process.ts';
import type { Scenario } from '../fault-kit/scenario.ts';
import type { LeapingClock } from '../helpers/leaping-clock.ts';
import { withMachine } from '../helpers/machine.ts';
import { patientClock } from '../helpers/patient-clock.ts';
import { startProxy } from '../helpers/proxies.ts';
import { atOnceMs } from '../helpers/real-time.ts';
import type { ProgramOptions } from '../helpers/run-program.ts';
import { ScreenStream } from '../helpers/screen-stream.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const apiKey = 'sk-live-0123456789abcdef';
const trigger = 'trigger nightly';

/** A service that takes one API key, and a machine with a command that prints it, which may count in a file how often it ran. */
async function withCommand(command: string, scenario: Scenario = {}) {
  const machine = await withMachine({ automations: { '*': { duration: '1ms' } }, ...scenario }, { apiKey });
  const FOLDER = temporaryFolder();
  const own = { PATH: process.env.PATH, KEY: apiKey, FOLDER, RUNCTL_API_KEY: '', RUNCTL_API_KEY_COMMAND: command };
  const clock = patientClock(machine.clock);
  const file = (name: string) => join(FOLDER, name);
  return {
    ...machine,
    file,
    ran: () => (existsSync(file('ran')) ? readFileSync(file('ran'), 'utf8').length : 0),
    run: (line: string | string[], { env, ...others }: ProgramOptions = {}) =>
      machine.run(line, { clock, env: { ...own, ...env }, ...others }),
    sentKeys: () => new Set(machine.emulator.requests.map(({ headers }) => headers['x-api-key'])),
  };
}

const count = 'echo >> "$FOLDER/ran"';

describe('a command that prints the API key is run', () => {
  test.each([
    ['alone in its line', 'echo "$KEY"'],
    ['without a line break', 'printf %s "$KEY"'],
    ['with the line break of Windows', 'printf "%s\\r\\n" "$KEY"'],
    ['in the first of two lines', 'echo "$KEY"; echo user: alice'],
    ['before many kilobytes, which are read to their end', 'echo "$KEY"; head -c 3000000 /dev/zero'],
    ['and reads its standard input, which is empty', 'cat; echo "$KEY"'],
    ['where standard input is /dev/null', 'test -c /dev/stdin && echo "$KEY"'],
    ['and leaves a process in the background that holds its pipes', 'echo "$KEY"; sleep 5 &'],
    ['and talks on stderr', 'echo unlocked >&2; echo "$KEY"'],
    ['and talks on stderr without a line break at the end', 'printf unlocked >&2; echo "$KEY"'],
  ])('%s', async (_, command) => {
    const { run, ids } = await withCommand(command);
    const ended = await run(trigger, { clock: systemClock });
    expect(ended).toMatchObject({ code: 0, stdout: `${ids()[0]}\n` });
    expect(ended.tookMs).toBeLessThan(atOnceMs);
    expect(ended.stderr.includes('unlocked\n')).toBe(command.includes('unlocked'));
  });

  test('once, for however many requests', async () => {
    const { run, ran } = await withCommand(`${count}; echo "$KEY"`);
    await run('trigger a b c --watch');
    expect(ran()).toBe(1);
  });

  test('and its stderr is shown without any line of its output, and without the password of a proxy', async () => {
    const proxy = (await startProxy({ refuse: 403 })).url.replace('//', '//user:pass%2Dword@');
    const said = '"$KEY and pin-4711, user:pass-word, pass-word"';
    const { run } = await withCommand(`echo "$KEY"; echo pin-4711; echo ${said} >&2`);
    const { stderr } = await run(trigger, { env: { RUNCTL_BASE_URL: 'https://service.test', HTTPS_PROXY: proxy } });
    expect(stderr).toContain(': [secret] and [secret], [secret], [secret]\n');
  });

  const sessionOf = (pid: number) => execFileSync('ps', ['-o', 'sid=', '-p', String(pid)], { encoding: 'utf8' }).trim();

  test.each([
    ['the session of a person at a terminal, where it may ask for a password', true],
    ['a session of its own elsewhere, so that all of it can be killed', false],
  ])('in %s', async (_, isAtTerminal) => {
    const own = `key-of-${sessionOf(process.pid)}`;
    const { run, sentKeys } = await withCommand(`printf key-of-; ps -o sid= -p $$ | tr -d ' '`, { apiKeys: [own] });
    const screen = isAtTerminal ? new ScreenStream(new Terminal({ allowProposedApi: true })) : undefined;
    await run(trigger, { screen });
    expect(sentKeys().has(own)).toBe(isAtTerminal);
  });
});

describe('runctl exits with 2 before the first request if the API key command', () => {
  test.each([
    ['fails', 'exit 3', '3'],
    ['fails, and says why on stderr', 'echo locked >&2; exit 3', 'locked'],
    ['fails although it prints something', 'echo "$KEY"; exit 3', '3'],
    ['is killed', 'kill -9 $$', 'SIGKILL'],
    ['does not exist', 'no-such-command', '127'],
    ['prints nothing', 'true', 'is empty'],
    ['prints an empty line first', 'echo; echo "$KEY"', 'is empty'],
    ['prints what no API key is', 'echo "two words"', 'visible ASCII'],
    ['prints it in quotes, which it says on stderr', 'echo "\'$KEY\'"; echo "the API key is $KEY" >&2', 'quotes'],
    ['prints a line of many kilobytes', 'head -c 3000000 /dev/zero | tr "\\0" x', 'RUNCTL_API_KEY_COMMAND'],
  ])('%s', async (_, command, why) => {
    const { run, emulator, journal } = await withCommand(command);
    for (const line of ['trigger nightly weekly --watch', `status nightly/${crypto.randomUUID()}`]) {
      const { code, stdout, stderr } = await run(line);
      expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(why)]);
      expect(stderr).not.toContain(apiKey);
    }
    expect([emulator.requests, existsSync(journal)]).toEqual([[], false]);
  });

  test('hangs for 30 s', async () => {
    const { run, clock, emulator } = await withCommand('sleep 600');
    const { code, stderr } = await run(trigger, { clock });
    expect([code, stderr, emulator.requests]).toEqual([2, expect.stringContaining('30s'), []]);
    expect(clock.sleptMs()).toBeGreaterThanOrEqual(30_000);
  });
});

test.each([
  'list',
  'list --status FAILED',
  'completion bash',
  '--help',
  'explain 12',
  'config list',
  'config get apiKey',
])('`%s` does not run the command', async (line) => {
  const { run, ran } = await withCommand(`${count}; echo "$KEY"`);
  expect([(await run(line)).code, ran()]).toEqual([0, 0]);
});

test.each([
  ['list', 0],
  ['list --status FAILED --offline', 0],
  ['list --status UNKNOWN', 0],
  ['list --status FAILED', 1],
])('with an unfinished run, `%s` runs the command %i times', async (line, times) => {
  const { run, ran, env, endRuns } = await withCommand(`${count}; echo "$KEY"`, {
    automations: { '*': { duration: '1h', finalStatus: 'FAILED' } },
  });
  await run(trigger, { env: { RUNCTL_API_KEY: env.RUNCTL_API_KEY, RUNCTL_API_KEY_COMMAND: '' } });
  endRuns();
  expect([(await run(line)).code, ran()]).toEqual([0, times]);
});

const stored = async (profile: Record<string, string>) => {
  const machine = await withCommand('');
  machine.store({ default: { baseUrl: machine.emulator.url, ...profile } });
  const unset = { RUNCTL_BASE_URL: '', RUNCTL_API_KEY_COMMAND: '' };
  return { ...machine, run: (line: string, env = {}) => machine.run(line, { env: { ...unset, ...env } }) };
};

describe('a command that is stored in a profile', () => {
  const apiKeyCommand = `${count}; echo "$KEY"`;

  test('is run for the base URL that is stored with it', async () => {
    const { run } = await stored({ apiKeyCommand });
    expect((await run(trigger)).code).toBe(0);
  });

  test('is not run for another base URL', async () => {
    const { run, ran } = await stored({ apiKeyCommand });
    expect([(await run(trigger, { RUNCTL_BASE_URL: 'http://127.0.0.1:9' })).code, ran()]).toEqual([2, 0]);
  });
});

test.each([
  ['RUNCTL_API_KEY', 'RUNCTL_API_KEY_FILE'],
  ['RUNCTL_API_KEY', 'RUNCTL_API_KEY_COMMAND'],
  ['RUNCTL_API_KEY_FILE', 'RUNCTL_API_KEY_COMMAND'],
])('%s and %s together are refused', async (one, other) => {
  const { run } = await stored({});
  const { code, stderr } = await run('status @last', { [one]: 'key-0', [other]: '/f' });
  expect([code, stderr]).toEqual([2, expect.stringMatching(`${one} and ${other}`)]);
});

/** A service that takes this key instead of the first one from the second poll on. */
const renewed = 'sk-live-fedcba9876543210';
const renewing: Scenario = {
  apiKeys: [renewed],
  automations: { '*': { duration: '2m' } },
  faults: [{ on: 'status', nth: 2, do: 'revokeKey' }],
};
const watched = `${trigger} --watch --interval 5s`;

describe('an API key that is refused after a valid response', () => {
  /** The password manager has the new one when the command runs for the second time. */
  const newer = `${count}; [ "$(wc -l < "$FOLDER/ran")" -gt 1 ] && echo "$NEW" || echo "$KEY"`;
  const env = { NEW: renewed };

  test('is read again before the refusal ends the watch, which continues', async () => {
    const { run, ran, sentKeys } = await withCommand(newer, renewing);
    expect([(await run(watched, { env })).code, ran()]).toEqual([0, 2]);
    expect(sentKeys()).toEqual(new Set([apiKey, renewed]));
  });

  test('is read once if several watches would end, and a trigger in progress keeps its own', async () => {
    const { run, ran, emulator } = await withCommand(newer, {
      ...renewing,
      faults: [{ on: 'trigger', automation: 'late', do: 'status', status: 503 }, ...(renewing.faults ?? [])],
    });
    await run('trigger a b late --watch --interval 5s --give-up-after 5m', { env });
    expect(ran()).toBe(2);
    const ofLate = emulator.requests.filter(({ url }) => url.includes('/late/'));
    expect(ofLate.length).toBeGreaterThan(5);
    expect(new Set(ofLate.map(({ headers }) => headers['x-api-key']))).toEqual(new Set([apiKey]));
  });

  test('is read again for each refusal that lasts, even hours after the first', async () => {
    // The n-th time it prints the n-th API key.
    const keys = [1, 2, 3].map((n) => `${apiKey}-${n}`);
    const { run, ran, sentKeys } = await withCommand(`${count}; echo "$KEY-$(wc -l < "$FOLDER/ran" | tr -d " ")"`, {
      apiKeys: keys,
      automations: { '*': { duration: '3h' } },
      faults: ['10m', '2h'].map((after) => ({ on: 'status', during: { after }, nth: 1, do: 'revokeKey' })),
    });
    const ended = await run(`${trigger} --watch --interval 14s --timeout 0`);
    expect([ended.code, ran()]).toEqual([0, 3]);
    expect(sentKeys()).toEqual(new Set(keys));
  });
});

describe('an API key that is stored, and replaced while a run is watched,', () => {
  test.each([
    ['in a file, is read again', 'file', renewed, 0],
    ['in a file that a flag names, is read again', 'flag', renewed, 0],
    ['in a file, with the same again, is not sent again', 'file', apiKey, 14],
    ['in a profile, is read again', 'profile', renewed, 0],
    ['in a profile, for another base URL, is not', 'other base URL', renewed, 14],
    ['in the environment, is not', 'environment', renewed, 14],
  ])('%s', async (_, place, next, code) => {
    const { run, emulator, clock, file, store, sentKeys } = await withCommand('', renewing);
    const isFile = place === 'file' || place === 'flag';
    const write = (key: string, baseUrl = emulator.url) =>
      isFile ? writeFileSync(file('key'), key) : store({ default: { apiKey: key, baseUrl } });
    const source = { file: { RUNCTL_API_KEY_FILE: file('key') }, environment: { RUNCTL_API_KEY: apiKey } }[place];
    write(apiKey);
    const sleep: LeapingClock['sleep'] = (ms, signal) => {
      write(next, place === 'other base URL' ? 'https://b.example' : undefined);
      return clock.sleep(ms, signal);
    };
    const ended = await run([...watched.split(' '), ...(place === 'flag' ? ['--api-key-file', file('key')] : [])], {
      env: { RUNCTL_API_KEY_COMMAND: '', RUNCTL_BASE_URL: place === 'profile' ? '' : emulator.url, ...source },
      clock: { ...clock, sleep },
    });
    expect(ended.code).toBe(code);
    expect(sentKeys()).toEqual(new Set(code === 0 ? [apiKey, renewed] : [apiKey]));
  });
});
