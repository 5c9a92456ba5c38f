// What a command adds to the journal: the records themselves, as another version or a script would read them.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Scenario } from '../fault-kit/scenario.ts';
import { withEmulator } from '../helpers/emulator.ts';
import { jsonLines } from '../helpers/json-lines.ts';
import { type Ended, runProgram } from '../helpers/run-program.ts';

/** The records of a state folder, the oldest first. */
function recordsIn(folder = '') {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => /^journal.*\.jsonl$/.test(name)) : [];
  return names.flatMap((name) => jsonLines(readFileSync(join(folder, name), 'utf8')));
}

interface Machine {
  run(line: string): Promise<Ended>;
  endRuns(): void;
}

const hour: Scenario = { automations: { '*': { duration: '1h' } } };
const failing: Scenario = { automations: { '*': { duration: '1h', outcome: 'FAILED' } } };
const loseFirst: Scenario = { ...hour, faults: [{ on: 'trigger', nth: 1, do: 'loseAnswer' }] };
const lose = 'trigger nightly --give-up-after 1ms';

const started = async ({ run }: Machine) => void (await run('trigger nightly'));
const finished = async (machine: Machine) => {
  await started(machine);
  machine.endRuns();
};
const unresolved = async ({ run }: Machine) => expect((await run(lose)).code).toBe(12);
/** A trigger whose answer was lost, and a later one with a run. */
const superseded = async (machine: Machine) => {
  await unresolved(machine);
  machine.endRuns();
  expect((await machine.run('trigger nightly')).code).toBe(0);
};

const why = { type: 'status', status: 'FAILED', error: expect.stringContaining('step_failed') };

const sender = { process: expect.any(String) };
const longError: Scenario = {
  automations: { '*': { duration: '1h', outcome: 'FAILED', error: { type: 'x', message: 'long '.repeat(200) } } },
};
const shortened = expect.stringMatching(/^.{100,200}$/);

type Row = [line: string, what: string, scenario: Scenario, before: (machine: Machine) => unknown, records: object[]];

const table: Row[] = [
  ['trigger nightly', 'an accepted trigger', hour, () => {}, [{ type: 'triggered' }, { type: 'accepted' }]],
  ['trigger nightly', 'a refused trigger', { credits: 0 }, () => {}, [{ type: 'triggered' }, { type: 'refused' }]],
  [
    'trigger nightly --watch',
    'a trigger and the end of its run',
    failing,
    () => {},
    [{ type: 'triggered' }, { type: 'accepted' }, { type: 'status', status: 'FAILED' }, why],
  ],
  ['trigger nightly --dry-run', 'nothing', hour, () => {}, []],
  ['status', 'nothing of a run that is still running', hour, started, []],
  ['status', 'the end', hour, finished, [{ type: 'status', status: 'COMPLETED' }]],
  ['status', 'the end, and why', failing, finished, [{ type: 'status', status: 'FAILED' }, why]],
  ['status --json', 'the end of a run that failed', failing, finished, [{ type: 'status', status: 'FAILED' }]],
  ['result', 'nothing of a run that is still running', hour, started, []],
  ['result', 'the end', hour, finished, [{ type: 'status', status: 'COMPLETED' }]],
  ['result -q', 'the end of a run that failed', failing, finished, [{ type: 'status', status: 'FAILED' }]],
  ['result --json', 'the end', failing, finished, [why]],
  [
    'watch',
    'the end, and why once the result has said it',
    failing,
    finished,
    [{ type: 'status', status: 'FAILED' }, why],
  ],
  ['list', 'the end', failing, finished, [{ type: 'status', status: 'FAILED' }]],
  ['list --offline', 'nothing', hour, finished, []],
  ['doctor --offline', 'nothing', hour, finished, []],
  ['recover --dry-run', 'nothing of what it would send', loseFirst, unresolved, []],
  ['recover --dry-run', 'nothing of what is superseded', loseFirst, superseded, []],
  [
    'doctor --try-key nightly --yes',
    'who repeats the trigger',
    hour,
    () => {},
    [
      ...[{ type: 'triggered', ...sender }, { type: 'accepted' }],
      ...[{ type: 'triggered', ...sender }, { type: 'accepted' }],
    ],
  ],
  ['watch', 'the beginning of a long error', longError, finished, [{ type: 'status' }, { error: shortened }]],
  ['recover', 'what is superseded', loseFirst, superseded, [{ type: 'superseded' }]],
  ['recover', 'the run that it found', loseFirst, unresolved, [{ type: 'triggered' }, { type: 'accepted' }]],
];

test.each(table)('%s writes %s', async (line, _, scenario, before, records) => {
  const { env, clock, endRuns } = await withEmulator(scenario);
  const run = (typed: string) => runProgram(typed.split(' '), { env, clock });
  await before({ run, endRuns });
  const known = recordsIn(env.RUNCTL_STATE_DIR).length;
  await run(line);
  const written = recordsIn(env.RUNCTL_STATE_DIR).slice(known);
  expect(written).toMatchObject(records);
  for (const { baseUrl, target } of written)
    expect([baseUrl, target]).toEqual([env.RUNCTL_BASE_URL, `automation/${env.RUNCTL_PROJECT}/nightly`]);
});

test.each([
  ['trigger nightly --quiet', true],
  ['trigger nightly --watch --quiet', true],
  ['watch {run} --quiet', false],
])('what cannot be written is said by %s: %s', async (line, isSaid) => {
  const { env, clock } = await withEmulator({});
  const run = `${env.RUNCTL_PROJECT}/nightly/${(await runProgram(['trigger', 'nightly'], { env, clock })).stdout.trim()}`;
  clock.leap(3 * 3_600_000);
  const argv = line.replace('{run}', run).split(' ');
  const { code, stderr } = await runProgram(argv, { env: { ...env, RUNCTL_STATE_DIR: '/dev/null' }, clock });
  expect([code, /journal|\/dev\/null/.test(stderr)]).toEqual([0, isSaid]);
});
