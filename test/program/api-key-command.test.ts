// The API key from a password manager: a fake one, as a shell command.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/process.ts';
import { withEmulator } from '../helpers/emulator.ts';
import { createLeapingClock, type LeapingClock } from '../helpers/leaping-clock.ts';
import { atOnceMs } from '../helpers/real-time.ts';
import { runProgram } from '../helpers/run-program.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const apiKey = 'sk-live-0123456789abcdef';

/** Leaps over the pauses between polls alone: what waits for a command waits for it. */
const patientClock = (clock: LeapingClock): LeapingClock => ({
  ...clock,
  sleep: (ms, signal) => (ms === 500 || ms === 30_000 ? systemClock.sleep(ms, signal) : clock.sleep(ms, signal)),
});

/** A service that takes one API key, and an environment with a command that prints it. */
async function prepare(command: string, scenario = {}) {
  const { emulator, env, clock } = await withEmulator(
    { automations: { '*': { duration: '1ms' } }, ...scenario },
    { apiKey },
  );
  const { RUNCTL_API_KEY: _, ...rest } = env;
  const folder = temporaryFolder();
  const PATH = process.env.PATH ?? '';
  const own = { PATH, KEY: apiKey, FOLDER: folder, RUNCTL_API_KEY_COMMAND: command };
  const all: Record<string, string> & typeof own = { ...rest, ...own };
  return { emulator, folder, clock, env: all };
}

describe('a command gives the API key', () => {
  test.each([
    ['alone in its line', 'echo "$KEY"'],
    ['without a line break', 'printf %s "$KEY"'],
    ['with the line break of Windows', 'printf "%s\\r\\n" "$KEY"'],
    ['in the first of two lines', 'echo "$KEY"; echo user: alice'],
    ['before many kilobytes, which are read to their end', 'echo "$KEY"; head -c 3000000 /dev/zero'],
    ['and reads its standard input, which is empty', 'cat; echo "$KEY"'],
    ['where standard input is /dev/null', 'test -c /dev/stdin && echo "$KEY"'],
    ['and leaves a process in the background that holds its pipes', 'echo "$KEY"; sleep 30 &'],
    ['and talks on stderr', 'echo unlocked >&2; echo "$KEY"'],
    ['and talks on stderr without a line break at the end', 'printf unlocked >&2; echo "$KEY"'],
  ])('%s', async (_, command) => {
    const { emulator, env } = await prepare(command);
    const ended = await runProgram(['trigger', 'nightly'], { env });
    expect(ended).toMatchObject({ code: 0, stdout: `${emulator.runs()[0]?.executionId}\n` });
    expect(ended.tookMs).toBeLessThan(atOnceMs);
    expect(ended.stderr.includes('API key command: unlocked\n')).toBe(command.includes('unlocked'));
  });

  test('and what it says on stderr is scrubbed of every line that it prints', async () => {
    const { env } = await prepare('echo "$KEY"; echo pin-4711; echo "$KEY and pin-4711" >&2');
    const { stderr } = await runProgram(['trigger', 'nightly'], { env });
    expect(stderr).toContain('API key command: [secret] and [secret]');
  });
});

describe('before the first request a command ends with 2, and nothing is sent or recorded, when it', () => {
  test.each([
    ['fails', 'exit 3', 'exited with 3'],
    ['fails although it prints something', 'echo "$KEY"; exit 3', 'exited with 3'],
    ['is killed', 'kill -9 $$', 'was killed by SIGKILL'],
    ['does not exist', 'no-such-command', 'exited with 127'],
    ['prints nothing', 'true', 'is empty'],
    ['prints an empty line first', 'echo; echo "$KEY"', 'is empty'],
    ['prints what no API key is', 'echo "two words"', 'visible ASCII'],
    ['prints a line of many kilobytes', 'head -c 3000000 /dev/zero | tr "\\0" x', 'a valid API key'],
  ])('%s', async (_, command, why) => {
    const { emulator, env } = await prepare(command);
    for (const argv of [
      ['trigger', 'nightly', 'weekly', '--watch'],
      ['status', `nightly/${crypto.randomUUID()}`],
    ]) {
      const { code, stdout, stderr } = await runProgram(argv, { env });
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toContain(why);
      expect(stderr).not.toContain(apiKey);
    }
    expect(emulator.requests).toEqual([]);
    expect(existsSync(join(env.RUNCTL_STATE_DIR ?? '', 'journal.jsonl'))).toBe(false);
  });

  test('hangs for 30 s', async () => {
    const { emulator, env } = await prepare('sleep 600');
    const clock = createLeapingClock();
    const ended = await runProgram(['trigger', 'nightly'], { env, clock });
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining('took longer than 30s and was stopped') });
    expect(clock.sleptMs()).toBeGreaterThanOrEqual(30_000);
    expect(emulator.requests).toEqual([]);
  });
});

/** Waits for the process id that a command has left in a file, and says whether that process still runs. */
async function watchProcess(path: string) {
  await expect.poll(() => existsSync(path) && readFileSync(path, 'utf8')).toMatch(/^\d+\n$/);
  const stat = `/proc/${readFileSync(path, 'utf8').trim()}/stat`;
  // One that was killed and that nobody has waited for is a zombie.
  return () => existsSync(stat) && !/\) Z /.test(readFileSync(stat, 'utf8'));
}

describe.runIf(process.platform === 'linux')('a command is killed with all that it has started when', () => {
  const command = 'sleep 600 & echo $! > "$FOLDER/pid"; wait';

  test('the user interrupts', async () => {
    const { env, folder } = await prepare(command);
    const interrupt = new AbortController();
    const ended = runProgram(['trigger', 'nightly'], { env, signal: interrupt.signal });
    const isAlive = await watchProcess(join(folder, 'pid'));
    expect(isAlive()).toBe(true);
    interrupt.abort('SIGINT');
    expect((await ended).code).toBe(130);
    await expect.poll(isAlive).toBe(false);
  });

  test('30 s have passed', async () => {
    const { env, folder } = await prepare(command);
    const clock = createLeapingClock();
    // The time passes when the command has started its own.
    const began = watchProcess(join(folder, 'pid'));
    const sleep: typeof clock.sleep = async (ms, signal) => {
      await began;
      return clock.sleep(ms, signal);
    };
    expect((await runProgram(['trigger', 'nightly'], { env, clock: { ...clock, sleep } })).code).toBe(2);
    await expect.poll(await began).toBe(false);
  });
});

test.each([
  [['list']],
  [['completion', 'bash']],
  [['--help']],
  [['explain', '12']],
  [['config', 'list']],
  [['config', 'get', 'apiKey']],
])('%j does not run the command', async (argv) => {
  const { env, folder } = await prepare('touch "$FOLDER/ran"; echo "$KEY"');
  expect((await runProgram(argv, { env })).code).toBe(0);
  expect(existsSync(join(folder, 'ran'))).toBe(false);
});

test('the command is run once, for however many requests', async () => {
  const { env, folder } = await prepare('echo >> "$FOLDER/ran"; echo "$KEY"');
  await runProgram(['trigger', 'a', 'b', 'c', '--watch', '--interval', '10ms'], { env });
  expect(readFileSync(join(folder, 'ran'), 'utf8')).toBe('\n');
});

describe('a command that is stored in a profile', () => {
  const stored = async (profile: Record<string, string>, variables: Record<string, string> = {}) => {
    const { emulator, env, folder } = await prepare('');
    const { RUNCTL_BASE_URL: baseUrl = '', ...rest } = env;
    const profiles = { default: { baseUrl, ...profile } };
    writeFileSync(join(folder, 'config.json'), JSON.stringify({ profiles }), { mode: 0o600 });
    return { emulator, env: { ...rest, RUNCTL_CONFIG_DIR: folder, ...variables } };
  };
  const apiKeyCommand = 'echo "$KEY"';

  test('gives the API key for the base URL beside it', async () => {
    const { env } = await stored({ apiKeyCommand });
    expect((await runProgram(['trigger', 'nightly'], { env })).code).toBe(0);
  });

  test('is not run for another base URL', async () => {
    const { env } = await stored({ apiKeyCommand: 'touch "$FOLDER/ran"' }, { RUNCTL_BASE_URL: 'http://127.0.0.1:9' });
    const ended = await runProgram(['trigger', 'nightly'], { env });
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining("isn't sent to") });
    expect(existsSync(join(env.FOLDER, 'ran'))).toBe(false);
  });

  test.each<[string, Record<string, string>, Record<string, string>, string]>([
    ['the stored API key overrides it', { apiKeyCommand, apiKey }, {}, '****cdef (profile "default"'],
    ['it is in force', { apiKeyCommand }, {}, 'what `echo "$KEY"` prints (profile "default"'],
    ['a variable overrides it', { apiKeyCommand }, { RUNCTL_API_KEY: apiKey }, '****cdef (RUNCTL_API_KEY)'],
    [
      'so does the variable with a command',
      { apiKey },
      { RUNCTL_API_KEY_COMMAND: 'pass x' },
      'what `pass x` prints (RUNCTL_API_KEY_COMMAND)',
    ],
  ])('`config list` says that %s', async (_, profile, variables, line) => {
    const { env } = await stored(profile, variables);
    const { stdout } = await runProgram(['config', 'list'], { env });
    expect(stdout.replaceAll(/ +/g, ' ')).toContain(`apiKey ${line}`);
  });

  test.each([
    [{ RUNCTL_API_KEY: 'k', RUNCTL_API_KEY_FILE: '/f' }, 'RUNCTL_API_KEY and RUNCTL_API_KEY_FILE both give'],
    [{ RUNCTL_API_KEY: 'k', RUNCTL_API_KEY_COMMAND: 'c' }, 'RUNCTL_API_KEY and RUNCTL_API_KEY_COMMAND both give'],
    [
      { RUNCTL_API_KEY_FILE: '/f', RUNCTL_API_KEY_COMMAND: 'c' },
      'RUNCTL_API_KEY_FILE and RUNCTL_API_KEY_COMMAND both give',
    ],
  ])('two variables are refused: %j', async (variables, why) => {
    const { env } = await stored({}, variables);
    const ended = await runProgram(['status'], { env });
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining(why) });
  });
});

/** A service that takes this key instead of the first one from the second poll on. */
const renewed = 'sk-live-fedcba9876543210';
const scenario = {
  apiKeys: [renewed],
  automations: { '*': { duration: '2m' } },
  faults: [{ on: 'status', nth: 2, do: 'revokeKey' }],
};
const argv = ['trigger', 'nightly', '--watch', '--interval', '5s'];

describe('an API key that is refused after a valid answer', () => {
  test('is asked for again, and the watch continues', async () => {
    // Its own clock: an emulator whose runs last as long as the watch, which leaps.
    const command =
      'echo >> "$FOLDER/ran"; if [ -e "$FOLDER/first" ]; then echo "$NEW"; else touch "$FOLDER/first"; echo "$KEY"; fi';
    const { emulator, env, folder, clock } = await prepare(command, scenario);
    const ended = await runProgram(argv, { env: { ...env, NEW: renewed }, clock: patientClock(clock) });
    expect(ended.code).toBe(0);
    expect(readFileSync(join(folder, 'ran'), 'utf8')).toBe('\n\n');
    expect(new Set(emulator.requests.map(({ headers }) => headers['x-api-key']))).toEqual(new Set([apiKey, renewed]));
  });

  test('is asked for once more before the refusal ends the watch', async () => {
    // The password manager has the new one when the command runs for the second time.
    const command = 'echo >> "$FOLDER/ran"; [ "$(wc -l < "$FOLDER/ran")" -gt 1 ] && echo "$NEW" || echo "$KEY"';
    const { env, folder, clock } = await prepare(command, scenario);
    const ended = await runProgram(argv, { env: { ...env, NEW: renewed }, clock: patientClock(clock) });
    expect(ended.code).toBe(0);
    expect(readFileSync(join(folder, 'ran'), 'utf8')).toBe('\n\n');
  });

  test('is asked for again for each refusal that lasts, also hours after the first', async () => {
    // The n-th time it prints the n-th API key.
    const command = 'echo >> "$FOLDER/ran"; echo "$KEY-$(wc -l < "$FOLDER/ran" | tr -d " ")"';
    const keys = [1, 2, 3].map((n) => `${apiKey}-${n}`);
    const { env, folder, clock, emulator } = await prepare(command, {
      apiKeys: keys,
      automations: { '*': { duration: '3h' } },
      faults: [
        { on: 'status', during: { after: '10m' }, nth: 1, do: 'revokeKey' },
        { on: 'status', during: { after: '2h' }, nth: 1, do: 'revokeKey' },
      ],
    });
    const flags = ['--interval', '14s', '--timeout', '0'];
    const ended = await runProgram(['trigger', 'nightly', '--watch', ...flags], { env, clock: patientClock(clock) });
    expect([ended.code, ended.stderr]).toEqual([0, expect.stringContaining('COMPLETED')]);
    expect(readFileSync(join(folder, 'ran'), 'utf8')).toBe('\n\n\n');
    expect(new Set(emulator.requests.map(({ headers }) => headers['x-api-key']))).toEqual(new Set(keys));
  });

  test('ends the watch as ever where the command fails by then', async () => {
    const command = 'if [ -e "$FOLDER/first" ]; then exit 9; fi; touch "$FOLDER/first"; echo "$KEY"';
    const { env, clock } = await prepare(command, scenario);
    const { code, stderr } = await runProgram(argv, { env, clock: patientClock(clock) });
    expect(code).toBe(14);
    expect(stderr).toContain('the command that prints the API key (RUNCTL_API_KEY_COMMAND) exited with 9');
  });
});

describe('an API key that is stored, and replaced while a run is watched,', () => {
  test.each([
    ['in a file, is read again', 'file', renewed, 0],
    ['in a file, with the same again, is not sent again', 'file', apiKey, 14],
    ['in a profile, is read again', 'profile', renewed, 0],
    ['in a profile, for another base URL, is not', 'other base URL', renewed, 14],
    ['in the environment, is not', 'environment', renewed, 14],
  ])('%s', async (_, place, next, code) => {
    const { emulator, folder, clock, env } = await prepare('', scenario);
    const { RUNCTL_API_KEY_COMMAND: _command, ...rest } = env;
    const baseUrl = env.RUNCTL_BASE_URL ?? '';
    const file = join(folder, place === 'file' ? 'key' : 'config.json');
    const write = (key: string, url: string) => {
      const text = place === 'file' ? key : JSON.stringify({ profiles: { default: { apiKey: key, baseUrl: url } } });
      if (place !== 'environment') writeFileSync(file, text, { mode: 0o600 });
    };
    const source = {
      file: { RUNCTL_API_KEY_FILE: file },
      environment: { RUNCTL_API_KEY: apiKey },
    }[place] ?? { RUNCTL_CONFIG_DIR: folder };
    write(apiKey, baseUrl);
    const sleep: LeapingClock['sleep'] = (ms, signal) => {
      write(next, place === 'other base URL' ? 'https://b.example' : baseUrl);
      return clock.sleep(ms, signal);
    };
    const ended = await runProgram(argv, { env: { ...rest, ...source }, clock: { ...clock, sleep } });
    expect(ended.code).toBe(code);
    const sent = emulator.requests.map(({ headers }) => headers['x-api-key']);
    expect(new Set(sent)).toEqual(new Set(code === 0 ? [apiKey, renewed] : [apiKey]));
  });
});
