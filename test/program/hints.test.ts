import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { Terminal } from '@xterm/headless';
import { expect, test, vi } from 'vitest';
import type { Env } from '../../src/context.ts';
import type { Scenario } from '../fault-kit/scenario.ts';
import { withEmulator } from '../helpers/emulator.ts';
import { type Ended, runProgram } from '../helpers/run-program.ts';
import { ScreenStream } from '../helpers/screen-stream.ts';
import { executionId, projectId } from '../helpers/scripted-service.ts';

type Harness = Awaited<ReturnType<typeof withEmulator>> & { run(argv: string[], env?: Env): Promise<Ended> };

interface Situation {
  scenario?: Scenario;
  env?: Record<string, string | undefined>;
  /** Ends with the command whose hints are tried. */
  act(harness: Harness): Promise<Ended>;
  /** A command that is printed. */
  prints: RegExp;
}

const name = `it's "nightly" & (HOME)`;
const hour = 3_600_000;
const lost: Scenario = { order: 'activeFirst', faults: [{ on: 'trigger', nth: 1, do: 'loseAnswer' }] };
const slow: Scenario = { automations: { '*': { duration: '3m' } } };
const failed = (type: string): Scenario => ({
  automations: { '*': { duration: '1s', outcome: 'FAILED', error: { type, message: 'no' } } },
});

const triggered = async ({ run }: Harness) => (await run(['trigger', name])).stdout.trim();

/** Makes what is on record of the journal so much older. */
function age({ env, clock }: Harness, hours: number): void {
  const file = join(env.RUNCTL_STATE_DIR ?? '', 'journal.jsonl');
  const at = new Date(clock.nowMs() - hours * hour).toISOString();
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/"at":"[^"]+"/g, `"at":"${at}"`));
}

const situations: Record<string, Situation> = {
  'a trigger that started a run': { act: ({ run }) => run(['trigger', name]), prints: /^runctl watch/ },
  'a trigger on a CI runner': {
    act: ({ run, env }) => run(['trigger', name], { ...env, CI: 'true' }),
    prints: /^runctl watch '?[0-9a-f-]{36}\//,
  },
  'a watch that its timeout ends on a CI runner': {
    scenario: slow,
    act: ({ run, env }) => run(['trigger', name, '--watch', '--timeout', '2s'], { ...env, CI: 'true' }),
    prints: /^runctl watch '?[0-9a-f-]{36}\//,
  },
  'a conflict': {
    scenario: { ...slow, namesActiveRun: true },
    async act(harness) {
      await triggered(harness);
      return harness.run(['trigger', name], {
        ...harness.env,
        RUNCTL_STATE_DIR: `${harness.env.RUNCTL_STATE_DIR}-other`,
      });
    },
    prints: /^runctl watch/,
  },
  'a lost answer': {
    scenario: lost,
    act: ({ run }) => run(['trigger', name, '--give-up-after', '1ms']),
    prints: /^runctl recover$/,
  },
  'a lost answer, then a conflict': {
    scenario: { ...lost, namesActiveRun: true },
    act: ({ run }) => run(['trigger', name]),
    prints: /^runctl (watch|recover .* --resend$)/,
  },
  'a lost answer without a journal': {
    scenario: lost,
    async act({ run, env }) {
      mkdirSync(join(env.RUNCTL_STATE_DIR ?? '', 'journal.jsonl'), { recursive: true });
      return run(['trigger', name, '--give-up-after', '1ms']);
    },
    prints: /--idempotency-key/,
  },
  'a trigger beside an unresolved one': {
    scenario: lost,
    async act({ run, endRuns }) {
      await run(['trigger', name]);
      endRuns();
      return run(['trigger', name]);
    },
    prints: /^runctl recover$/,
  },
  'an unresolved trigger that is too old to be sent': {
    scenario: lost,
    async act(harness) {
      await harness.run(['trigger', name]);
      age(harness, 2);
      return harness.run(['recover']);
    },
    prints: /^runctl recover .* --resend$/,
  },
  'an idempotency key of another API key': {
    scenario: { ...lost, apiKeys: ['another-key-123456'] },
    async act({ run, env }) {
      const argv = ['trigger', name, '--idempotency-key', 'k'];
      await run(argv);
      return run(argv, { ...env, RUNCTL_API_KEY: 'another-key-123456' });
    },
    prints: /^runctl recover$/,
  },
  'a timeout': {
    scenario: slow,
    act: ({ run }) => run(['trigger', name, '--watch', '--timeout', '1m']),
    prints: /^runctl watch/,
  },
  'several timeouts': {
    scenario: slow,
    act: ({ run }) => run(['trigger', name, 'b', '--watch', '--timeout', '1m']),
    prints: /^runctl watch/,
  },
  'a watch without an answer': {
    scenario: { ...slow, faults: [{ on: 'status', do: 'status', status: 502 }] },
    act: ({ run }) => run(['trigger', name, '--watch']),
    prints: /^runctl watch/,
  },
  'a run that completed without a result': {
    scenario: { automations: { '*': { duration: '1s' } }, faults: [{ on: 'result', do: 'status', status: 502 }] },
    act: ({ run }) => run(['trigger', name, '--watch']),
    prints: /^runctl result/,
  },
  'an API key that is refused': {
    act: ({ run, env }) => run(['trigger', name], { ...env, RUNCTL_API_KEY: 'wrong-key-123456' }),
    prints: /^runctl config list$/,
  },
  'an automation that is not there': {
    scenario: { automations: {} },
    act: ({ run }) => run(['trigger', name]),
    prints: /^runctl config list$/,
  },
  'a run that is not there': {
    act: ({ run }) => run(['status', `${projectId}/nightly/${executionId}`]),
    prints: /^runctl list$/,
  },
  'a run that the journal does not know': { act: ({ run }) => run(['status', 'nightly']), prints: /^runctl list$/ },
  'flags for the service': {
    scenario: slow,
    act: ({ run, env }) =>
      run(['trigger', name, '--watch', '--timeout', '1m', '--base-url', env.RUNCTL_BASE_URL ?? ''], {
        ...env,
        RUNCTL_BASE_URL: 'https://other.test',
      }),
    prints: /^runctl watch .*--base-url/,
  },
};

for (const type of ['step_failed', 'timed_out', 'not_runnable', 'lease_lost', 'run_failed', 'unheard_of']) {
  situations[`a run that failed with ${type}`] = {
    scenario: failed(type),
    act: ({ run }) => run(['trigger', name, '--watch']),
    prints: /^runctl trigger/,
  };
}

const commandsIn = ({ stdout, stderr }: Ended): string[] => {
  // Long lines are wrapped at blanks. What is said of the journal names a command that will not know.
  const alone = [...stderr.matchAll(/^ {2}(?:->|→) (runctl .*)$/gm)];
  const text = `${stdout} ${stderr}`.replace(/\n +/g, ' ').replace('`runctl recover` and short run ids', '');
  return [...alone, ...text.matchAll(/`(runctl [^`]+)`/g)].map(([, command = '']) => command);
};

/** As the shell takes it apart. */
const wordsOf = (command: string) =>
  execFileSync('bash', ['--norc', '-c', `set -- ${command}; printf '%s\\0' "$@"`], { encoding: 'utf8' })
    .split('\0')
    .slice(1, -1);

test.each<[string, NodeJS.ProcessEnv, RegExp]>([
  ['an API key that is refused', { RUNCTL_API_KEY: 'wrong-key-123456' }, /^runctl config list$/],
  ['a run that is not there', {}, /^$/],
])(
  'without a folder for the journal and the settings, what is printed after %s works there',
  async (_, wrong, prints) => {
    const { env, clock } = await withEmulator({});
    const bare = { ...env, ...wrong, HOME: '', RUNCTL_STATE_DIR: '', RUNCTL_CONFIG_DIR: '' };
    const argv = ['status', `${projectId}/nightly/${executionId}`];
    const commands = commandsIn(await runProgram(argv, { env: bare, clock }));
    expect(commands.join('\n')).toMatch(prints);
    for (const command of commands) {
      expect((await runProgram(wordsOf(command), { env: bare, clock })).code, command).toBe(0);
    }
  },
);

test.each(Object.entries(situations))(
  'a command that is printed after %s can be typed as it stands',
  async (_, { scenario = {}, act, prints }) => {
    const emulated = await withEmulator(scenario);
    const { clock } = emulated;
    const run = (argv: string[], env: Env = emulated.env) => runProgram(argv, { env, clock });
    const commands = commandsIn(await act({ ...emulated, run }));
    expect(commands).toContainEqual(expect.stringMatching(prints));
    for (const command of new Set(commands)) {
      const { code, stderr } = await runProgram(wordsOf(command), { env: emulated.env, clock });
      expect(code, `${command}: ${stderr}`).not.toBe(2);
    }
  },
);

/** What is printed for a person who works with two services names the one that was meant. */
const needsNoSettings = /^runctl (explain|help|doctor --help)/;

test.each(Object.entries(situations).filter(([name]) => name !== 'flags for the service'))(
  'a command that is printed after %s holds for the profile that was named',
  async (_, { scenario = {}, act }) => {
    const emulated = await withEmulator(scenario);
    const { clock } = emulated;
    const { RUNCTL_BASE_URL: baseUrl, RUNCTL_API_KEY: apiKey, RUNCTL_PROJECT: project, ...folders } = emulated.env;
    const staging = { baseUrl, apiKey, project };
    mkdirSync(folders.RUNCTL_CONFIG_DIR ?? '', { recursive: true });
    const config = { profiles: { default: { baseUrl: 'https://other.test', apiKey: 'other-key-123456' }, staging } };
    writeFileSync(join(folders.RUNCTL_CONFIG_DIR ?? '', 'config.json'), JSON.stringify(config), { mode: 0o600 });
    const run = (argv: string[], { RUNCTL_BASE_URL, RUNCTL_API_KEY: given, ...env }: Env = folders) =>
      runProgram([...argv, '--profile', 'staging'], {
        env: { ...env, RUNCTL_PROJECT: '', ...(given !== apiKey && { RUNCTL_API_KEY: given }) },
        clock,
      });
    const commands = commandsIn(await act({ ...emulated, run }));
    for (const command of commands.filter((each) => !needsNoSettings.test(each)))
      expect(command).toMatch(/ --profile staging\b/);
  },
);

test('what `runctl config` prints for a profile whose settings do not work names it once', async () => {
  const { env } = await withEmulator({});
  const { RUNCTL_BASE_URL: baseUrl, RUNCTL_API_KEY: _, RUNCTL_PROJECT: __, ...folders } = env;
  const keyboard = Object.assign(new PassThrough(), { isTTY: true, setRawMode() {} });
  const screen = new ScreenStream(new Terminal({ allowProposedApi: true, cols: 200 }));
  const ended = runProgram(['config', '--profile', 'staging'], { env: folders, input: keyboard, screen });
  const asked = () => screen.written.match(/base URL of|not shown\)|project ID/g)?.length ?? 0;
  for (const [index, answer] of [baseUrl, 'wrong-key-123456', '', ''].entries()) {
    await vi.waitUntil(() => asked() > index, { timeout: 10_000, interval: 5 });
    keyboard.write(`${answer}\r`);
  }
  const { code, stderr } = await ended;
  expect([code, stderr.match(/--profile staging/g)?.length]).toEqual([7, 2]);
  for (const command of ['runctl config --profile', 'runctl config list --profile']) expect(stderr).toContain(command);
});
