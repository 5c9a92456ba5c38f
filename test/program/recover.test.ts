// What `recover` says to cron and to people, and what it leaves to somebody else.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createProcesses } from '../../src/journal/processes.ts';
import { loseResponse, type Scenario } from '../fault-kit/scenario.ts';
import { withMachine } from '../helpers/machine.ts';

const minute = 60_000;
const hasty = 'trigger nightly --give-up-after 1ms';

describe('a recovered run that failed', () => {
  const failed: Scenario = {
    automations: { '*': { finalStatus: 'FAILED', duration: '1m' } },
    faults: [loseResponse({ nth: 1 })],
  };

  test.each(['', ' -q', ' --json'])('is reported, and its error is listed from then on: recover%s', async (flags) => {
    const { run, ids, clock } = await withMachine(failed);
    await run(hasty);
    clock.leap(2 * minute);
    const { code, stdout, stderr } = await run(`recover${flags}`);
    const [id = ''] = ids();
    expect([code, flags === ' -q' ? stdout : stdout.includes(id)]).toEqual([0, flags === ' -q' ? '' : true]);
    expect(stderr).toMatch(/nightly .*FAILED: step_failed: /);
    expect(stderr).toContain(`runctl result ${id}`);
    expect((await run('list --offline')).stdout).toMatch(/FAILED .*step_failed/);
  });

  test('does not change the exit code from 0, but its document has its outcome', async () => {
    const { run, clock } = await withMachine(failed);
    await run(hasty);
    clock.leap(2 * minute);
    const { code, documents } = await run('recover --json');
    expect([code, documents]).toMatchObject([
      0,
      [{ status: 'FAILED', runctl: { outcome: 'run_failed', exitCode: 0 } }],
    ]);
  });
});

describe('a trigger that another process is sending', () => {
  test.each([
    ['recover -q', 1, true],
    ['recover -q --json', 1, true],
    ['recover -q', 59, true],
    ['recover -q', 61, false],
    ['recover', 1, false],
  ])(
    'stays unresolved, so the exit code is 12: %s after %i min prints nothing: %s',
    async (line, minutes, isSilent) => {
      const { run, keys, journal, clock, emulator } = await withMachine();
      const record = {
        ...{ schema: 1, type: 'triggered', at: new Date(clock.nowMs()).toISOString(), baseUrl: emulator.url },
        ...{
          target: `automation/${emulator.projectId}/nightly`,
          idempotencyKey: 'k',
          attempt: 'a',
          account: 'c0ffee00',
        },
        ...{ body: '{}', userProvided: false, process: createProcesses().own, first: true },
      };
      mkdirSync(dirname(journal), { mode: 0o700 });
      writeFileSync(journal, `${JSON.stringify(record)}\n`, { mode: 0o600 });
      clock.leap(minutes * minute);
      const { code, stderr } = await run(line);
      expect([code, stderr === '', keys()]).toEqual([12, isSilent, []]);
    },
  );
});

test('a trigger with --if-active skip that met a conflict starts no run later by itself', async () => {
  const { run, keys, ids, endRuns } = await withMachine({
    automations: { '*': { duration: '1m' } },
    faults: [{ on: 'trigger', nth: 2, do: 'status', status: 503 }],
  });
  await run('trigger nightly');
  const skipped = await run('trigger nightly --if-active skip --json');
  expect([skipped.code, ids().length]).toEqual([12, 1]);
  expect(skipped.stderr).toMatch(/runctl recover .*nightly --resend/);
  expect(skipped.stderr, 'on another machine').toMatch(/runctl trigger .* --idempotency-key \S+ --if-active skip$/m);
  endRuns();
  const sent = keys().length;
  for (const line of ['recover -q', 'recover', 'recover --json']) {
    const { code, stderr } = await run(line);
    expect([line, code, keys().length, ids().length]).toEqual([line, 12, sent, 1]);
    expect(stderr).toMatch(/--if-active skip.*runctl recover .*nightly --resend/s);
  }
  expect((await run('list --offline --json')).documents[0].runctl.next).toMatch(/^runctl recover .*nightly --resend$/);
  expect((await run('recover --resend')).code).toBe(0);
  expect(ids()).toHaveLength(2);
});

test.each([
  ['2 minutes ahead', 2 * minute],
  ['2 days behind', -48 * 60 * minute],
])('a run from the time when the clock was %s supersedes no trigger that was lost later', async (_, offMs) => {
  const { run, ids, journal } = await withMachine({
    automations: { '*': { duration: '1ms' } },
    faults: [{ on: 'trigger', nth: 2, do: 'reset' }],
  });
  await run('trigger nightly');
  const dated = (_: string, at: string) => `"at":"${new Date(Date.parse(at) + offMs).toISOString()}"`;
  writeFileSync(journal, readFileSync(journal, 'utf8').replaceAll(/"at":"([^"]+)"/g, dated));
  expect((await run(hasty)).code).toBe(12);
  const { code, stdout } = await run('recover');
  expect([code, stdout]).toEqual([0, `${ids()[1]}\n`]);
});
