// What a command adds to the journal, as another version or a script reads it, and what it makes of records that are not its own.
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { loseResponse, type Scenario } from '../fault-kit/scenario.ts';
import { failing, going } from '../helpers/emulator.ts';
import { type Machine, withMachine } from '../helpers/machine.ts';

const loseFirst: Scenario = { ...going, faults: [loseResponse({ nth: 1 })] };
const longError: Scenario = {
  automations: { '*': { duration: '1h', finalStatus: 'FAILED', error: { type: 'x', message: 'long '.repeat(200) } } },
};

const nothing = () => {};
const started = async ({ run }: Machine) => void (await run('trigger nightly'));
const finished = async (machine: Machine) => {
  await started(machine);
  machine.endRuns();
};
const unresolved = async ({ run }: Machine) => expect((await run('trigger nightly --give-up-after 1ms')).code).toBe(12);
/** A trigger whose answer was lost, and a later one with a run. */
const superseded = async (machine: Machine) => {
  await unresolved(machine);
  machine.endRuns();
  expect((await machine.run('trigger nightly')).code).toBe(0);
};

/** Another machine has used the idempotency key, and its run has finished. */
const usedElsewhere = async (machine: Machine) => {
  await machine.elsewhere('trigger nightly --idempotency-key k');
  machine.endRuns();
};

const sent = [{ type: 'triggered', process: expect.any(String) }, { type: 'accepted' }];
const completed = { type: 'status', status: 'COMPLETED' };
const failed = { type: 'status', status: 'FAILED' };
const why = { ...failed, error: expect.stringContaining('step_failed') };
const shortened = { ...failed, error: expect.stringMatching(/^.{100,200}$/) };

type Row = [line: string, what: string, scenario: Scenario, before: (machine: Machine) => unknown, records: object[]];

const table: Row[] = [
  ['trigger nightly', 'an accepted trigger', going, nothing, sent],
  ['trigger nightly', 'a refused trigger', { credits: 0 }, nothing, [{ type: 'triggered' }, { type: 'refused' }]],
  ['trigger nightly --watch', 'a trigger and the end of its run', failing, nothing, [...sent, failed, why]],
  [
    'trigger nightly --idempotency-key k',
    'the end of the run that it found',
    failing,
    usedElsewhere,
    [...sent, failed],
  ],
  ['trigger nightly --dry-run', 'nothing', going, nothing, []],
  ['status @last', 'nothing of a run that is still running', going, started, []],
  ['status @last', 'the end', going, finished, [completed]],
  ['status @last', 'the end, and why', failing, finished, [failed, why]],
  ['status @last --json', 'the end, and why', failing, finished, [failed, why]],
  ['result @last', 'nothing of a run that is still running', going, started, []],
  ['result @last', 'the end', going, finished, [completed]],
  ['result @last -q', 'the end of a run that failed', failing, finished, [failed]],
  ['result @last --json', 'the end, and why', failing, finished, [why]],
  ['watch @last', 'the end, and why once the result has said it', failing, finished, [failed, why]],
  ['watch @last', 'the beginning of a long error', longError, finished, [failed, shortened]],
  ['list', 'the end, and why', failing, finished, [failed, why]],
  ['list --offline', 'nothing', going, finished, []],
  ['doctor --offline', 'nothing', going, finished, []],
  ['doctor --try-key nightly --yes', 'who repeats the trigger', going, nothing, [...sent, ...sent]],
  ['recover', 'what is superseded', loseFirst, superseded, [{ type: 'superseded' }]],
  ['recover', 'the run that it found', loseFirst, unresolved, sent],
  ['recover --dry-run', 'nothing of what it would send', loseFirst, unresolved, []],
  ['recover --dry-run', 'nothing of what is superseded', loseFirst, superseded, []],
];

test.each(table)('%s writes %s', async (line, _, scenario, before, records) => {
  const machine = await withMachine(scenario);
  await before(machine);
  const known = machine.records().length;
  await machine.run(line);
  const written = machine.records().slice(known);
  expect(written).toMatchObject(records);
  const { RUNCTL_BASE_URL: baseUrl, RUNCTL_PROJECT: project } = machine.env;
  for (const record of written) expect(record).toMatchObject({ baseUrl, target: `automation/${project}/nightly` });
});

test.each([
  ['trigger nightly --quiet', true],
  ['trigger nightly --watch --quiet', true],
  ['watch {run} --quiet', false],
])('a journal that can not be written is reported by %s: %s', async (line, isSaid) => {
  const { run, env, endRuns } = await withMachine();
  const { stdout: id } = await run('trigger nightly');
  endRuns();
  const named = line.replace('{run}', `${env.RUNCTL_PROJECT}/nightly/${id.trim()}`);
  const { code, stderr } = await run(named, { env: { RUNCTL_STATE_DIR: '/dev/null' } });
  expect([code, /journal|\/dev\/null/.test(stderr)]).toEqual([0, isSaid]);
});

test.each([
  ['watch --all', 0],
  ['recover', 74],
])('`%s` does not say that nothing is open if the journal can not be written', async (line, code) => {
  const { run } = await withMachine();
  const ended = await run(line, { env: { RUNCTL_STATE_DIR: '/proc/nowhere/state' } });
  expect(ended).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(/can't be written/) });
  expect(ended.stderr).not.toMatch(/^N\w+ (unfinished|to recover)/m);
});

test('a record of a year with six digits, to which no time can be added, is skipped', async () => {
  const { run, journal, ids } = await withMachine(loseFirst);
  await run('trigger nightly --give-up-after 1ms');
  const own = readFileSync(journal, 'utf8');
  const far = own
    .replace(/"at":"[^"]+"/g, '"at":"+275760-09-12T23:00:00Z"')
    .replace(/"account":"[^"]+"/g, '"account":"x"')
    .replace(/("idempotencyKey":")[^"]+/g, '$1other')
    .replaceAll('nightly', 'weekly');
  writeFileSync(journal, far + own);
  expect(await run('recover')).toMatchObject({ code: 0, stdout: `${ids()[0]}\n` });
});

// Every 1.x shares a state folder with every other (docs/reference.md, Stability).
test('records of a newer version are kept and skipped', async () => {
  const { run, journal, records } = await withMachine({
    automations: { ...going.automations, quick: { duration: '1ms', finalStatus: 'FAILED' } },
    faults: [loseResponse({ automation: 'weekly' })],
  });
  await run('trigger quick --watch');
  await run('trigger nightly --idempotency-key today');
  expect((await run('trigger weekly --give-up-after 1ms')).code).toBe(12);

  const shown = async () => {
    const lines = ['list --offline --json', 'status quick --json', 'recover --dry-run --field automationName'];
    const ended = await Promise.all(lines.map((line) => run(line)));
    return ended.map(({ code, stdout }) => [code, stdout.replace(/"ageMs":\d+/, '')]);
  };
  const before = await shown();
  const newer = records().flatMap((record) => [
    { ...record, priority: 7, labels: ['a', null], owner: { team: 'ops' } }, // fields that this version doesn't know
    { ...record, type: 'paused', first: true }, // a kind of record that it doesn't know, of the same run or trigger
    { ...record, schema: 2, status: ['FAILED'] },
    { type: 'note', text: 'about nothing' },
  ]);
  const text = newer.map((record) => `${JSON.stringify(record)}\n`).join('');
  writeFileSync(journal, text);
  expect(await shown()).toEqual(before);
  const again = await run('trigger nightly --idempotency-key today --json');
  expect(again.documents).toMatchObject([{ runctl: { trigger: { how: 'replayed' } } }]);
  expect((await run('watch quick --quiet')).code).toBe(1);
  expect(readFileSync(journal, 'utf8').startsWith(text)).toBe(true);
});
