import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { program } from '../../src/program.ts';
import { quick, withEmulator } from '../helpers/emulator.ts';
import { listen } from '../helpers/faulty-server.ts';
import { environment, key, leaked, patience, written } from '../helpers/leaks.ts';
import { mapConcurrently } from '../helpers/map-concurrently.ts';
import { networkFaults } from '../helpers/network-faults.ts';
import { runProcess } from '../helpers/run-process.ts';
import { runProgram } from '../helpers/run-program.ts';
import { executionId, projectId } from '../helpers/scripted-service.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const asProcesses = ['unknown authority', 'proxy 407'];

test('under every fault on the way to the service nothing is leaked, with --debug', async () => {
  const leaks = await mapConcurrently(Object.entries(networkFaults), async ([name, startService]) => {
    const env = environment((await startService()).env);
    const run = asProcesses.includes(name) ? runProcess : runProgram;
    const ended = await run(['trigger', 'nightly', '--debug', ...patience], { env });
    expect(ended.stderr).toContain('debug: #1 POST');
    return [name, leaked(written(ended, env))];
  });
  expect(leaks.filter(([, spelt]) => spelt?.length)).toEqual([]);
}, 60_000);

describe('a line that may be cut within the API key, or within a command of a CI runner, is left out', () => {
  const apiKey = 'sk-Zq7abcDEF9xTvLm4411K';
  const filler = (length: number) => `head -c ${length} /dev/zero | tr '\\0' a`;
  const settings = async () => {
    const { env } = await withEmulator(quick, { apiKey });
    return { ...env, PATH: process.env.PATH };
  };

  test('if a hook prints it', async () => {
    const hook = [131_061, 65_530, 65_536]
      .map((length) => `${filler(length)}; echo "$RUNCTL_API_KEY##[add-mask]x"`)
      .join('; ');
    const env = { ...(await settings()), GITHUB_ACTIONS: 'true' };
    const argv = ['trigger', 'nightly', '--watch', '--on-final', `${hook}; echo the end`];
    const { code, stderr } = await runProgram(argv, { env });
    expect(code).toBe(0);
    expect(stderr.match(/left out/g)).toHaveLength(3);
    expect(stderr).toContain('the end');
    expect(stderr).not.toMatch(/sk-|411K|##\[/);
  });

  test('if apiKeyCommand prints it on stderr, or prints more than is read', async () => {
    const env = { ...(await settings()), RUNCTL_API_KEY: undefined, KEY: apiKey };
    const chat = `(${filler(65_526)}; echo "$KEY") >&2; echo "$KEY before" >&2`;
    for (const command of [
      `echo "$KEY"; ${chat}`,
      `echo "$KEY"; ${filler(8_200)}; echo; echo sk-2; ${chat}; echo sk-2 >&2`,
    ]) {
      const all = { ...env, RUNCTL_API_KEY_COMMAND: command };
      const { code, stderr } = await runProgram(['trigger', 'nightly'], { env: all });
      expect(code).toBe(0);
      expect(stderr).toMatch(/API key command: .*left out/);
      expect(stderr).not.toMatch(/sk-|411K/);
    }
  });
});

/** A service that sends the API key back in every header and every message, and finishes no run. */
async function startEcho() {
  const server = createServer(({ method, url = '', headers, socket }, response) => {
    if (url.includes('lost') && method === 'POST') socket.destroy();
    const key = String(headers['x-api-key'] ?? '');
    const base64 = Buffer.from(key).toString('base64');
    const message = `the key ${key} (${encodeURIComponent(key)}, ${base64}) is not for ${JSON.stringify(key)}`;
    const isStart = method === 'POST' && url.includes('nightly');
    response.setHeader('server', message).setHeader('x-request-id', key).setHeader('content-type', 'application/json');
    const started = { executionId, projectId, automationName: 'nightly', status: 'RUNNING' };
    response.writeHead(isStart ? 201 : 401).end(JSON.stringify(isStart ? started : { code: 'forbidden', message }));
  });
  return `http://127.0.0.1:${await listen(server)}`;
}

/** Every command that prints; a new one has to be named here. The first ones leave something in the journal. */
const sending = [
  ['trigger', 'nightly'],
  ['trigger', 'lost', '--give-up-after', '1ms'],
  ['trigger', 'refused'],
  ['trigger', 'refused', '--json'],
  ['status', 'nightly'],
  ['status', 'nightly', '--json'],
  ['result', 'nightly'],
  ['watch', 'nightly'],
  ['watch', 'nightly', '--json'],
  ['recover', '--give-up-after', '1ms'],
  ['doctor'],
  ['doctor', '--json'],
  ['agent', 'status', executionId, executionId],
].map((words) => [...words, '--debug']);
const silent = 'list config,list help explain completion,bash'.split(' ').map((words) => words.split(','));

/** Where a user can have the API key, each as an environment. */
const places: Record<string, (folder: string, baseUrl: string) => Record<string, string>> = {
  'a variable': () => ({ RUNCTL_API_KEY: key }),
  'a file': (folder) => ({ RUNCTL_API_KEY_FILE: store(folder, 'key', key) }),
  'a profile': (folder, baseUrl) => {
    store(folder, 'config.json', JSON.stringify({ profiles: { default: { apiKey: key, baseUrl } } }));
    return { RUNCTL_CONFIG_DIR: folder };
  },
  'a command': (folder) => ({ RUNCTL_API_KEY_COMMAND: `cat '${store(folder, 'key', key)}'` }),
};

function store(folder: string, name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

test.each(Object.keys(places))(
  'no command shows an API key from %s that the service sends back, with --debug, and none writes it into a file',
  async (place) => {
    const baseUrl = await startEcho();
    const { RUNCTL_API_KEY: _, ...keyless } = environment({ RUNCTL_BASE_URL: baseUrl });
    const env = { ...keyless, PATH: process.env.PATH, ...places[place]?.(temporaryFolder(), baseUrl) };
    const leaksOf = async (argv: string[]) => {
      // The first as a process: what all have in common is `process.ts`.
      const ended = await (argv === sending[0] ? runProcess : runProgram)(argv, { env });
      expect(ended.stderr.includes('debug: #1')).toBe(argv.includes('--debug'));
      return leaked(written(ended, env)).map((spelling) => `${argv.join(' ')}: ${spelling}`);
    };
    const [first = [], second = [], ...others] = [...sending, ...(place === 'a variable' ? silent : [])];
    const earlier = [...(await leaksOf(first)), ...(await leaksOf(second))];
    expect([earlier, await mapConcurrently(others, leaksOf)].flat(2)).toEqual([]);
  },
);

test('a process prints the output of a run unchanged, also if that contains the API key', async () => {
  const { env, emulator } = await withEmulator(
    { automations: { '*': { duration: '1ms', output: `about ${key}` } } },
    { apiKey: key },
  );
  const watched = ['trigger', 'nightly', '--watch', '--interval', '10ms'];
  expect((await runProcess([...watched, '--field', 'output'], { env })).stdout).toBe(`about ${emulator.apiKey}\n`);
});

test('every command that prints is tried for an API key that the service sends back', () => {
  const covered = [...sending, ...silent].map(([name]) => name);
  const names = program.commands.map((command) => command.name());
  expect(names.filter((name) => ![...covered, 'version', 'emulator'].includes(name))).toEqual([]);
});

test('doctor does not show an API key that is part of another setting, not even on stdout', async () => {
  const apiKey = 'sk-Zq7abcDEF9xTvLm4411K';
  const env = { ...environment(), RUNCTL_API_KEY: apiKey, RUNCTL_BASE_URL: `${await startEcho()}/${apiKey}` };
  for (const words of [[], ['--json']]) {
    const { stdout, stderr } = await runProgram(['doctor', '--offline', ...words], { env });
    expect(stdout).toContain('[secret]');
    expect(stdout + stderr).not.toContain(apiKey);
  }
});
