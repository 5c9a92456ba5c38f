import { describe, expect, test } from 'vitest';
import { withEmulator } from '../helpers/emulator.ts';
import { environment, leaked, patience, written } from '../helpers/leaks.ts';
import { mapConcurrently } from '../helpers/map-concurrently.ts';
import { networkFaults } from '../helpers/network-faults.ts';
import { runProcess } from '../helpers/run-process.ts';
import { runProgram } from '../helpers/run-program.ts';

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
    const { code, stderr } = await runProcess(['trigger', 'nightly', '--on-exit', `${hook}; echo the end`], { env });
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
