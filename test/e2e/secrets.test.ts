import { createServer } from 'node:http';
import { describe, expect, test } from 'vitest';
import { program } from '../../src/program.ts';
import { withEmulator } from '../helpers/emulator.ts';
import { listen } from '../helpers/faulty-server.ts';
import { environment, leaked, patience, written } from '../helpers/leaks.ts';
import { mapConcurrently } from '../helpers/map-concurrently.ts';
import { networkFaults } from '../helpers/network-faults.ts';
import { runProcess } from '../helpers/run-process.ts';
import { runProgram } from '../helpers/run-program.ts';
import { executionId, projectId } from '../helpers/scripted-service.ts';

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
    const { env } = await withEmulator({ automations: { '*': { duration: '1ms' } } }, { apiKey });
    return { ...env, PATH: process.env.PATH };
  };

  test('where a hook prints it', async () => {
    const hook = [131_061, 65_530, 65_536]
      .map((length) => `${filler(length)}; echo "$RUNCTL_API_KEY##[add-mask]x"`)
      .join('; ');
    const env = { ...(await settings()), GITHUB_ACTIONS: 'true' };
    const { code, stderr } = await runProcess(
      ['trigger', 'nightly', '--watch', '--on-final', `${hook}; echo the end`],
      { env },
    );
    expect(code).toBe(0);
    expect(stderr.match(/left out/g)).toHaveLength(3);
    expect(stderr).toContain('the end');
    expect(stderr).not.toMatch(/sk-|411K|##\[/);
  });

  test('where apiKeyCommand says it on stderr, or prints more than is read', async () => {
    const env = { ...(await settings()), RUNCTL_API_KEY: undefined, KEY: apiKey };
    const chat = `(${filler(65_526)}; echo "$KEY") >&2; echo "$KEY before" >&2`;
    for (const command of [
      `echo "$KEY"; ${chat}`,
      `echo "$KEY"; ${filler(8_200)}; echo; echo sk-2; ${chat}; echo sk-2 >&2`,
    ]) {
      const all = { ...env, RUNCTL_API_KEY_COMMAND: command };
      const { code, stderr } = await runProcess(['trigger', 'nightly'], { env: all });
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

test('no command shows the API key that the service sends back, with --debug, and none writes it into a file', async () => {
  const names = program.commands?.map(({ name }) => name) ?? [];
  const printing = [...sending, ...silent].filter(([name = '']) => names.includes(name));
  const covered = [...printing.map(([name]) => name), 'version', 'emulator'];
  expect(names.filter((name) => !covered.includes(name))).toEqual([]);
  const env = environment({ RUNCTL_BASE_URL: await startEcho() });
  // As processes: the first trigger, and one command of each kind. What they have in common is `process.ts`.
  const isProcess = (argv: string[]) =>
    argv === printing[0] || /^(status nightly --json|doctor|explain)/.test(argv.join(' '));
  const leaksOf = async (argv: string[]) => {
    const ended = await (isProcess(argv) ? runProcess : runProgram)(argv, { env });
    if (argv.includes('--debug')) expect(ended.stderr).toContain('debug: #1');
    return leaked(written(ended, env)).map((spelling) => `${argv.join(' ')}: ${spelling}`);
  };
  const first = [await leaksOf(printing[0] ?? []), await leaksOf(printing[1] ?? [])];
  const others = await mapConcurrently(printing.slice(2), leaksOf);
  expect([...first, ...others].flat()).toEqual([]);
}, 60_000);

test('doctor does not show an API key that stands in another setting, on stdout either', async () => {
  const apiKey = 'sk-Zq7abcDEF9xTvLm4411K';
  const env = { ...environment(), RUNCTL_API_KEY: apiKey, RUNCTL_BASE_URL: `${await startEcho()}/${apiKey}` };
  for (const words of [[], ['--json']]) {
    const { stdout, stderr } = await runProcess(['doctor', '--offline', ...words], { env });
    expect(stdout).toContain('[secret]');
    expect(stdout + stderr).not.toContain(apiKey);
  }
});
