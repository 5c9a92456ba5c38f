// `list --status` says what it can't know: a run that couldn't be polled may have the status that was asked for.
import { describe, expect, test } from 'vitest';
import type { Fault } from '../fault-kit/scenario.ts';
import { type Machine, withMachine } from '../helpers/machine.ts';

/** A run that has failed since it was triggered, of which nobody here knows, beside an older one that is known to. */
async function unseenFailure(...faults: readonly Fault[]): Promise<Machine> {
  const automations = { a: { duration: '1h', finalStatus: 'FAILED' }, b: { duration: '1h', finalStatus: 'FAILED' } };
  const machine = await withMachine({ automations, faults });
  for (const name of ['a', 'b']) await machine.run(`trigger ${name}`);
  machine.endRuns();
  return machine;
}

const always = (status: number) => ({ on: 'status', do: 'status', status }) as const;
const refused = always(401);
const limited: Fault = { ...always(429), headers: { 'retry-after': '3600' } };

// biome-ignore format: a table
const causes: [string, Fault[], Record<string, string>, number, RegExp][] = [
  ['the API key is refused', [refused], {}, 7, /HTTP 401/],
  ['the rate limit is reached', [limited], {}, 9, /HTTP 429/],
  ['the service fails', [always(500)], {}, 10, /HTTP 500/],
  ['the connection is lost', [{ on: 'status', do: 'reset' }], {}, 10, /./],
  ['one is refused and the other is lost', [{ ...refused, automation: 'a' }, { ...always(500), automation: 'b' }], {}, 10, /401.*500|500.*401/],
  ['one is lost and the other is refused', [{ ...always(500), automation: 'a' }, { ...refused, automation: 'b' }], {}, 10, /401.*500|500.*401/],
  ['no API key is set', [], { RUNCTL_API_KEY: '' }, 10, /no API key is set/],
  ['the command for the API key fails', [], { RUNCTL_API_KEY: '', RUNCTL_API_KEY_COMMAND: 'exit 3' }, 10, /the command that prints the API key/],
];

describe.each(causes)('if %s, `list --status` of runs that may have it', (_, faults, env, code, reason) => {
  test.each(['', '-q', '-n 1'])(
    'exits with the code of the cause and says how many and why, with "%s"',
    async (flags) => {
      const { run } = await unseenFailure(...faults);
      const ended = await run(`list --status FAILED ${flags}`.trim(), { env });
      expect([ended.code, ended.stdout]).toEqual([code, '']);
      expect(ended.stderr).toMatch(/2 runs .*FAILED/);
      expect(ended.stderr).toMatch(reason);
      expect(ended.stderr).not.toContain('No runs');
    },
  );

  test('ends with a document that says so', async () => {
    const { run } = await unseenFailure(...faults);
    const { documents } = await run('list --status RUNNING,FAILED --json', { env });
    expect(documents.map(({ executionId, runctl }) => [executionId && 'run', runctl.exitCode])).toEqual([
      ['run', 0],
      ['run', 0],
      [undefined, code],
    ]);
    expect(documents.at(-1).runctl.problem.message).toMatch(/^2 runs /);
  });
});

test.each(['', '-q', '--json'])(
  '`list --status --offline`, which polls nothing, says how many runs may match, but exits with 0: "%s"',
  async (flags) => {
    const { run } = await unseenFailure();
    const { code, stdout, stderr } = await run(`list --status FAILED --offline ${flags}`.trim());
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toMatch(/2 runs .*--offline.*FAILED/);
    expect(stderr).not.toContain('No runs');
  },
);

test('a run that the service does not know may have the status until `status`, which the hint names, has recorded it', async () => {
  const { run } = await unseenFailure({
    ...always(422),
    automation: 'a',
    body: { code: 'notFound', message: 'no such run' },
  });
  const list = await run('list --status FAILED -q');
  const [, hint = ''] = /runctl (status \S+)\n/.exec(list.stderr) ?? [];
  expect([list.code, hint]).toEqual([10, expect.stringMatching(/^status /)]);
  expect(await run(hint)).toMatchObject({ code: 6 });
  expect(await run('list --status FAILED -q')).toMatchObject({ code: 0, stderr: '' });
});

test('failed runs that were polled are listed with their errors, and nothing is in doubt', async () => {
  const { run } = await unseenFailure();
  expect(await run('list --status COMPLETED')).toMatchObject({ code: 0, stderr: expect.stringContaining('No runs') });
  const { code, stdout, stderr } = await run('list --status FAILED --offline');
  expect([code, stdout.match(/FAILED .*step_failed/g)?.length, stderr]).toEqual([0, 2, '']);
});

test.each(['UNKNOWN', 'NOT_FOUND'])(
  'a run that could not be polled is never %s, so no poll is needed',
  async (status) => {
    const { run, emulator } = await unseenFailure(refused);
    const requests = emulator.requests.length;
    const { code, stderr } = await run(`list --status ${status}`);
    expect([code, stderr]).toEqual([0, expect.stringContaining('No runs')]);
    expect(emulator.requests).toHaveLength(requests);
    expect((await run(`list --status FAILED,${status}`)).stderr).toContain('may be FAILED:');
  },
);

test.each([429, 403])(
  'runs that are not polled because the rate limit was reached have its exit code, too: %i',
  async (status) => {
    const faults = [{ ...limited, status }];
    const { run, emulator } = await withMachine({ automations: { '*': { duration: '1h' } }, faults });
    await run(`trigger ${Array.from({ length: 40 }, (_, n) => `a${n}`).join(' ')}`);
    const { code, stderr } = await run('list --status FAILED');
    expect([code, stderr]).toEqual([9, expect.stringMatching(/^runctl: 40 runs .*HTTP 4/m)]);
    expect(emulator.requests.filter(({ method }) => method === 'GET').length).toBeLessThan(40);
  },
);

test('of four hundred runs, `list` says how many it had no time to poll, and --give-up-after gives it more', async () => {
  const { run } = await withMachine({ automations: { '*': { duration: '1h', finalStatus: 'FAILED' } } });
  const names = Array.from({ length: 400 }, (_, n) => `a${n}`).join(' ');
  await run(`trigger --rate 1000 ${names}`);
  const { code, stdout, stderr } = await run('list --status FAILED -q --give-up-after 3s');
  const [, missed = ''] = /^runctl: (\d+) runs .*3s/m.exec(stderr) ?? [];
  expect([code, stdout, Number(missed) > 300]).toEqual([10, '', true]);
  expect(stderr).toContain('--give-up-after');
});
