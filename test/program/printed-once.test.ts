// What is said, and how often: the same fact once.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Scenario } from '../fault-kit/scenario.ts';
import { withEmulator } from '../helpers/emulator.ts';
import { jsonLines } from '../helpers/json-lines.ts';
import { runProgram } from '../helpers/run-program.ts';

const hour: Scenario = { automations: { '*': { duration: '1h' } } };
const failing: Scenario = { automations: { '*': { duration: '1s', outcome: 'FAILED' } } };
const lost: Scenario = { ...hour, faults: [{ on: 'trigger', nth: 1, do: 'loseAnswer' }] };
const brief = 'trigger nightly --give-up-after 1ms';

async function machine(scenario: Scenario, extra = {}) {
  const { env, clock } = await withEmulator(scenario);
  const run = (line: string) => runProgram(line.split(' '), { env: { ...env, ...extra }, clock });
  return { run, env, clock };
}

/** Situations with a problem, or several, for each of which there is something to do. */
const table: [what: string, scenario: Scenario, before: string[], line: string, problems: number][] = [
  ['no credits', { credits: 0 }, [], 'trigger nightly', 1],
  ['no credits, in a watch', { credits: 0 }, [], 'trigger nightly --watch', 1],
  ['a lost answer', lost, [], brief, 1],
  ['a conflict', { ...hour, namesActiveRun: true }, ['trigger nightly'], 'trigger nightly', 1],
  ['a timeout', hour, [], 'trigger nightly --watch --timeout 1m', 1],
  ['two timeouts', hour, [], 'trigger a b --watch --timeout 1m', 2],
  ['a run that failed', failing, [], 'trigger nightly --watch', 1],
  ['a run that had failed', failing, ['trigger nightly --watch'], 'watch nightly', 1],
  ['an unknown run', hour, [], 'status nightly', 1],
];

const stepsIn = (text: string) => text.match(/^ +(->|→) /gm) ?? [];

test.each(table)('after %s, each next step stands there once', async (_, scenario, before, line, problems) => {
  const { run } = await machine(scenario);
  for (const earlier of before) await run(earlier);
  const { stdout, stderr } = await run(line);
  expect(stepsIn(stdout + stderr), stdout + stderr).toHaveLength(problems);
});

test.each([
  ...[400, 404, 405, 407, 410, 413, 429].map((status) => ({ on: 'trigger', do: 'status', status }) as const),
  ...[400, 404].map((status) => ({ on: 'trigger', do: 'html', status }) as const),
])('a trigger that is refused says what to do next: %j', async (fault) => {
  const { run } = await machine({ faults: [fault] });
  const { stderr } = await run(brief);
  expect([stepsIn(stderr).length, stderr]).toEqual([1, expect.stringContaining('no run was started')]);
});

test('a name that no path can carry is refused with a next step', async () => {
  const { run } = await machine(hour);
  expect(await run('trigger -- ..')).toMatchObject({ code: 2, stderr: expect.stringContaining('nothing was sent') });
});

test('what a check of doctor found stands in the list of checks, and not again below it', async () => {
  const { run } = await machine(hour, { RUNCTL_API_KEY: 'another-key-123456' });
  const { code, stdout, stderr } = await run('doctor');
  expect([code, stdout]).toEqual([7, expect.stringContaining('HTTP 401')]);
  expect(stderr).not.toContain('HTTP 401');
});

test('the id of a run stands once in the log of its watch', async () => {
  const { run, env } = await machine({ automations: { '*': { duration: '5m' } } });
  const { code, stderr } = await run('trigger nightly --watch');
  const { stdout: id } = await runProgram(['list', '-q'], { env });
  expect([code, stderr.split(id.trim()).length - 1], stderr).toEqual([0, 1]);
});

test.each([
  ['a refusal of one, while the other run goes on', { b: { duration: '1h' } }, '', 1],
  ['a timeout, which ends both', { '*': { duration: '1h' } }, ' --timeout 30s', 0],
])('of two, %s is said before the end or not', async (_, automations, flags, early) => {
  const { run } = await machine({ automations });
  expect((await run(`trigger a b --watch${flags}`)).stderr.match(/^[ab]: \w+/gm) ?? []).toHaveLength(early);
});

test('of two, one whose watch is given up is said early, with the cause', async () => {
  const refused = { on: 'status', automation: 'a', do: 'status', status: 401 } as const;
  const { run } = await machine({ automations: { '*': { duration: '1h' } }, faults: [refused] });
  expect((await run('trigger a b --watch')).stderr.match(/^[ab]: .*/gm)).toEqual(['a: unauthorized']);
});

test.each(['trigger nightly --watch --json', 'trigger a b --watch --json', 'trigger nightly --watch --field status'])(
  'the next step of a run that failed is in the data, and not on stderr: %s',
  async (line) => {
    const { run } = await machine(failing);
    const { code, stdout, stderr } = await run(line);
    expect([code, stepsIn(stderr)]).toEqual([1, []]);
    if (line.endsWith('--json'))
      for (const { runctl } of jsonLines(stdout)) expect(runctl.next).toMatch(/^runctl result /);
  },
);

test.each([
  ['of a run that is named', { ...hour, namesActiveRun: true }],
  ['of a run that only the journal knows', hour],
])('a refusal because %s says how to watch it', async (_, scenario) => {
  const { run } = await machine(scenario);
  const { stdout: id } = await run('trigger nightly');
  const { code, stdout, stderr } = await run('trigger nightly --json');
  expect([code, jsonLines(stdout)[0].runctl.next]).toEqual([5, `runctl watch ${id.trim()}`]);
  expect(stderr).toContain(`runctl watch ${id.trim()}`);
});

test('while the service is away, status says what was last confirmed in every line', async () => {
  const { run } = await machine({ ...hour, faults: [{ on: 'status', do: 'status', status: 500 }] });
  await run('trigger nightly');
  const { stderr } = await run('status nightly --give-up-after 30s');
  expect(stderr.match(/last confirmed RUNNING/g)?.length).toBeGreaterThan(1);
  expect(stderr).not.toContain('not confirmed');
});

test.each(['', ' --quiet', ' --json', ' --field executionId'])(
  'that a trigger is superseded is said this once: recover%s',
  async (flags) => {
    const { run } = await machine({ automations: { '*': { duration: '1ms' } }, faults: lost.faults });
    await run(brief);
    await run('trigger nightly');
    const { code, stdout, stderr } = await run(`recover${flags}`);
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(/nightly at .* isn't sent again.* began at about \d{4}-/),
    ]);
    if (flags === ' --json')
      expect(jsonLines(stdout)).toMatchObject([
        {
          executionId: null,
          runctl: {
            outcome: 'ok',
            next: null,
            trigger: { how: 'unknown', started: 'unknown' },
            warnings: [{ name: 'superseded_trigger' }],
          },
        },
      ]);
    expect((await run(`recover${flags}`)).stderr).not.toContain('nightly at');
    const { stdout: listed, stderr: notes } = await run('list --json');
    expect(jsonLines(listed).map(({ runctl: { outcome, next } }) => [outcome, next])).toEqual([
      ['ok', null],
      ['outcome_unknown', null],
    ]);
    expect(notes).not.toContain('recover');
  },
);

test('recover prints a document for each trigger', async () => {
  const { run } = await machine({ ...hour, faults: [{ on: 'trigger', to: 2, do: 'loseAnswer' }] });
  for (const name of ['a', 'b']) await run(`trigger ${name} --give-up-after 1ms`);
  const documents = jsonLines((await run('recover --json')).stdout);
  expect(documents.map(({ automationName }) => automationName).toSorted()).toEqual(['a', 'b']);
  for (const { runctl } of documents) expect(runctl).toMatchObject({ command: 'recover', outcome: 'ok' });
});

test('what doctor finds is no warning besides', async () => {
  const { run, env } = await machine(hour, { RUNCTL_API_KEY: '' });
  const { RUNCTL_CONFIG_DIR: folder = '', RUNCTL_API_KEY: apiKey } = env;
  mkdirSync(folder);
  const file = join(folder, 'config.json');
  writeFileSync(file, JSON.stringify({ profiles: { default: { baseUrl: env.RUNCTL_BASE_URL, apiKey } } }));
  chmodSync(file, 0o644);
  const [{ runctl }] = jsonLines((await run('doctor --offline --json')).stdout);
  expect(runctl.doctor).toContainEqual(expect.objectContaining({ name: 'settings', result: 'warning' }));
  expect(runctl.warnings).toEqual([]);
  // Any other command says it.
  expect((await run('status')).stderr).toContain(file);
});

test('what to do about a failed run names the automation as short as it can be typed', async () => {
  const { env, clock } = await withEmulator({ automations: { '*': { duration: '1s', outcome: 'FAILED' } } });
  const watched = ['trigger', `${env.RUNCTL_PROJECT}/nightly`, '--watch'];
  const { stderr } = await runProgram(watched, { env, clock });
  expect(stderr).toContain('`runctl trigger nightly --watch`');
  const elsewhere = await runProgram(watched, { env: { ...env, RUNCTL_PROJECT: '' }, clock });
  expect(elsewhere.stderr).toContain(`\`runctl trigger ${env.RUNCTL_PROJECT}/nightly --watch\``);
});

test('that an earlier run of a key failed is said once, where its ids are data', async () => {
  const { run } = await machine(failing);
  await run('trigger nightly --watch --idempotency-key k -q');
  for (const flags of ['', ' -q', ' --json', ' --field status']) {
    const { code, stderr } = await run(`trigger nightly --idempotency-key k${flags}`);
    expect([code, stderr.match(/FAILED/g)?.length], stderr).toEqual([1, 1]);
  }
});

test('what is warned of one run is in its document, and in that of no trigger that got none', async () => {
  const { run } = await machine({ automations: { a: { duration: '1s', outcome: 'FAILED' } } });
  await run('trigger a --watch --idempotency-key {automation}');
  const { stdout } = await run('trigger a b --json --idempotency-key {automation}');
  const [replayed, refused] = jsonLines(stdout).map(({ runctl }) => runctl.warnings.length);
  expect([replayed, refused]).toEqual([1, 0]);
});

test('what is warned of one run is in no document of another: a lost trigger, and a result that cannot be read', async () => {
  const { run } = await machine({
    automations: { '*': { duration: '1s', outcome: 'FAILED' } },
    faults: [
      { on: 'trigger', automation: 'a', nth: 2, do: 'loseAnswer' },
      { on: 'result', automation: 'a', do: 'status', status: 404 },
    ],
  });
  await run('trigger a b --watch');
  expect((await run('trigger a --give-up-after 1ms')).code).toBe(12);
  const documents = jsonLines((await run('watch a b --json')).stdout);
  expect(documents.map(({ runctl }) => runctl.warnings.map(({ name }: { name: string }) => name))).toEqual([
    ['unresolved_trigger', 'result_unavailable'],
    [],
  ]);
});

test('an earlier trigger without a response is a warning in the document of its automation alone', async () => {
  const { run } = await machine(lost);
  expect((await run(brief)).code).toBe(12);
  const documents = jsonLines((await run('trigger nightly weekly --json')).stdout);
  expect(documents.map(({ runctl }) => runctl.warnings.map(({ name }: { name: string }) => name))).toEqual([
    ['unresolved_trigger'],
    [],
  ]);
});

test('a journal that cannot be written is said once', async () => {
  const { run } = await machine(hour, { RUNCTL_STATE_DIR: '/dev/null' });
  const { stderr } = await run('trigger nightly');
  expect(stderr.match(/\/dev\/null/g)).toHaveLength(1);
});

test('the log says of each outage within ten seconds that it lasts', async () => {
  const away = (after: string) => ({ on: 'status', during: { after, for: '40s' }, do: 'status', status: 503 }) as const;
  const { run } = await machine({ automations: { '*': { duration: '20m' } }, faults: [away('5m'), away('10m')] });
  const { stderr } = await run('trigger nightly --watch --interval 5s');
  expect(stderr.match(/no valid response for \d/g)).toHaveLength(2);
});

test('after an outage, the log says again within two minutes that the run goes on', async () => {
  const away = { on: 'status', during: { after: '10m', for: '2m' }, do: 'status', status: 503 } as const;
  const { run } = await machine({ automations: { '*': { duration: '20m' } }, faults: [away] });
  const { code, stderr } = await run('trigger nightly --watch --interval 20s');
  const secondsOf = (line = '') => Date.parse(line.slice(0, 19)) / 1000;
  const lines = stderr.split('\n');
  const back = lines.findIndex((line) => line.includes('responds again'));
  expect([code, lines[back + 1]]).toEqual([0, expect.stringContaining('still RUNNING')]);
  expect(secondsOf(lines[back + 1]) - secondsOf(lines[back])).toBeLessThan(120);
});

test.each([
  ['a', null],
  ['a --idempotency-key k-{automation}', 'runctl trigger a b'],
])(
  'beside a run that was started, a rate limit has the same command as next step only if it starts no second run: %s',
  async (rest, next) => {
    const limited = { on: 'trigger', automation: 'b', do: 'status', status: 429 } as const;
    const { run } = await machine({ ...hour, faults: [limited] });
    const { code, stdout } = await run(`trigger ${rest.replace('a', 'a b')} --give-up-after 10s --json`);
    const [, { runctl }] = jsonLines(stdout);
    expect([code, runctl.next?.slice(0, 18) ?? null]).toEqual([9, next]);
  },
);
