import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { withEmulator } from '../helpers/emulator.ts';
import { runProgram } from '../helpers/run-program.ts';

const keysOf = ({ requests }: { requests: readonly { method: string; headers: object }[] }) =>
  requests.flatMap(({ method, headers }) =>
    method === 'POST' && 'idempotency-key' in headers ? [headers['idempotency-key']] : [],
  );

describe('{automation} in an idempotency key', () => {
  test('stands for the project and the name, percent-encoded, so that a command for several can be repeated', async () => {
    const { env, emulator } = await withEmulator({});
    const argv = ['trigger', 'a', 'b ü', '--idempotency-key', 'day-1-{automation}'];
    const first = await runProgram(argv, { env });
    const again = await runProgram(argv, { env });
    expect([first.code, again.code, again.stdout]).toEqual([0, 0, first.stdout]);
    expect(emulator.runs()).toHaveLength(2);
    const { projectId } = emulator;
    expect(keysOf(emulator).sort()).toEqual([`day-1-${projectId}%2Fa`, `day-1-${projectId}%2Fb%20%C3%BC`]);
  });

  test('is replaced for one automation, too, so that it starts no second run when it is named alone', async () => {
    const { env, emulator } = await withEmulator({});
    const key = ['--idempotency-key', '{automation}'];
    await runProgram(['trigger', 'a', 'b', ...key], { env });
    const { stderr } = await runProgram(['trigger', 'b', ...key], { env });
    expect(stderr).toContain('no new run was started');
    expect(emulator.runs()).toHaveLength(2);
  });
});

describe('a given idempotency key whose run', () => {
  const argv = ['trigger', 'nightly', '-q', '--idempotency-key', 'k'];

  test.each([
    ['FAILED', 1],
    ['TIMED_OUT', 3],
    ['CANCELLED', 4],
    ['COMPLETED', 0],
  ] as const)('ended %s ends with %i, and says so with -q if that is no success', async (outcome, exitCode) => {
    const { env, emulator, endRuns } = await withEmulator({ automations: { '*': { outcome } } });
    await runProgram(argv, { env });
    endRuns();
    const { code, stdout, stderr } = await runProgram(argv, { env });
    expect([code, stdout.trim()]).toEqual([exitCode, emulator.runs()[0]?.executionId]);
    if (exitCode === 0) expect(stderr).toBe('');
    else expect(stderr).toMatch(/started nightly at .*no new run was started/);
    expect(emulator.runs()).toHaveLength(1);
  });

  test.each([[['--watch', '-q']], [['--watch']], [['--watch', '--json']], [['-q']]])(
    'failed earlier is said to be an old one, once, with its time: %j',
    async (flags) => {
      const { env, emulator, clock } = await withEmulator({
        automations: { '*': { outcome: 'FAILED', duration: '1ms' } },
      });
      const first = ['trigger', 'nightly', '--watch', '--idempotency-key', 'k', ...flags];
      const failure = await runProgram(first, { env, clock });
      expect([failure.code, failure.stderr]).toEqual([1, expect.not.stringContaining('no new run')]);
      const { code, stdout, stderr } = await runProgram(['trigger', 'nightly', '--idempotency-key', 'k', ...flags], {
        env,
        clock,
      });
      expect([code, emulator.runs().length]).toEqual([1, 1]);
      const said = / at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0000, which finished FAILED; no new run was started/;
      expect(stderr.match(/no new run was started/g)).toHaveLength(1);
      expect(stderr).toMatch(said);
      if (flags.includes('--json')) {
        const { warnings, next } = JSON.parse(stdout).runctl;
        expect(warnings).toMatchObject([{ name: 'replayed_failure', message: expect.stringMatching(said) }]);
        expect(next).toMatch(/^runctl result /);
      } else {
        expect(stderr).toContain('use a new idempotency key');
        expect(stderr).not.toMatch(/runctl (watch|trigger)/);
      }
    },
  );

  test('is sent by two machines at once: neither says that it started it', async () => {
    const { env, emulator } = await withEmulator({});
    const elsewhere = { ...env, RUNCTL_STATE_DIR: `${env.RUNCTL_STATE_DIR}-elsewhere` };
    const both = [env, elsewhere].map((machine) => runProgram([...argv, '--json'], { env: machine }));
    for (const { code, stdout } of await Promise.all(both)) {
      expect([code, JSON.parse(stdout).runctl.trigger]).toMatchObject([0, { how: 'found', started: 'unknown' }]);
    }
    expect(emulator.runs()).toHaveLength(1);
  });

  test('cannot be polled ends with 0, the id and a warning', async () => {
    const { env, clock, emulator } = await withEmulator({ faults: [{ on: 'status', do: 'status', status: 500 }] });
    await runProgram(argv, { env });
    const { code, stdout, stderr } = await runProgram(argv, { env, clock });
    expect([code, stdout.trim()]).toEqual([0, emulator.runs()[0]?.executionId]);
    expect(stderr).toContain("can't be read");
  });
});

test.each([
  ['several automations that would share an idempotency key', ['trigger', 'a', 'b', '--idempotency-key', 'k']],
  ['an idempotency key that is too long', ['trigger', 'a', '--idempotency-key', `${'{automation}'.repeat(9)}`]],
  ['an idempotency key with a blank', ['trigger', 'a', '--idempotency-key', 'k k']],
  ['a missing API key', ['trigger', 'a']],
])('%s: exit 2, and nothing is sent or written', async (what, argv) => {
  const { env, emulator } = await withEmulator({});
  const given = what.includes('missing') ? { ...env, RUNCTL_API_KEY: undefined } : env;
  const { code, stdout, stderr } = await runProgram(argv, { env: given });
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/^runctl: .+/);
  expect(emulator.requests).toEqual([]);
  expect(existsSync(`${env.RUNCTL_STATE_DIR}/journal.jsonl`)).toBe(false);
});
