// The same fact is said once, and in the one place where it belongs. How it is said is in test/words.txt.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loseResponse, type Scenario } from '../fault-kit/scenario.ts';
import { failing, going, withEmulator } from '../helpers/emulator.ts';
import { jsonLines } from '../helpers/json-lines.ts';
import { runProgram } from '../helpers/run-program.ts';

const lost: Scenario = { ...going, faults: [loseResponse({ nth: 1 })] };
const brief = 'trigger nightly --give-up-after 1ms';

async function machine(scenario: Scenario, extra = {}) {
  const { env, clock } = await withEmulator(scenario);
  const run = (line: string) => runProgram(line.split(' '), { env: { ...env, ...extra }, clock });
  return { run, env, clock };
}

const warningsIn = (stdout: string): string[][] =>
  jsonLines(stdout).map(({ runctl }) => runctl.warnings.map(({ name }: { name: string }) => name));

test.each(['trigger nightly --watch --json', 'trigger a b --watch --json', 'trigger nightly --watch --field status'])(
  'the next step of a run that failed is in the data, and not on stderr: %s',
  async (line) => {
    const { run } = await machine(failing);
    const { code, stdout, stderr } = await run(line);
    expect([code, stderr.match(/^ +-- /gm)]).toEqual([1, null]);
    if (line.endsWith('--json'))
      for (const { runctl } of jsonLines(stdout)) expect(runctl.next).toMatch(/^runctl result /);
  },
);

test.each(['', ' --quiet', ' --json', ' --field status'])(
  'a failure is told with its error once, on stdout or on stderr: trigger nightly --watch%s',
  async (flags) => {
    const { run } = await machine(failing);
    const { code, stdout, stderr } = await run(`trigger nightly --watch${flags}`);
    const isData = flags.includes('json') || flags.includes('field');
    const told = isData ? stderr : stdout + stderr;
    expect([code, told.match(/FAILED.*\n?.*the mail server said no/g)?.length]).toEqual([1, 1]);
    expect(/^runctl: nightly FAILED/m.test(stderr)).toBe(isData);
  },
);

test.each(['', ' --quiet', ' --json'])('a superseded trigger is reported only once: recover%s', async (flags) => {
  const { run } = await machine({ automations: { '*': { duration: '1ms' } }, faults: lost.faults });
  await run(brief);
  await run('trigger nightly');
  const { code, stdout, stderr } = await run(`recover${flags}`);
  expect([code, stderr.match(/^runctl: .*nightly at \d{4}-/gm)?.length]).toEqual([0, 1]);
  if (flags === ' --json') {
    expect(warningsIn(stdout)).toEqual([['superseded_trigger']]);
    const trigger = { how: 'unknown', started: 'unknown' };
    expect(jsonLines(stdout)).toMatchObject([{ executionId: null, runctl: { outcome: 'ok', next: null, trigger } }]);
  }
  expect((await run(`recover${flags}`)).stderr).not.toContain('nightly at');
  const { stdout: listed, stderr: notes } = await run('list --json');
  expect(jsonLines(listed).map(({ runctl: { outcome, next } }) => [outcome, next])).toEqual([
    ['ok', null],
    ['outcome_unknown', null],
  ]);
  expect(notes).not.toContain('recover');
});

test('a superseded trigger is reported in its own document only, beside one of another project', async () => {
  const projects = ['00000000-0000-4000-8000-00000000000a', '00000000-0000-4000-8000-00000000000b'];
  const { run } = await machine({ automations: { '*': { duration: '1ms' } }, faults: [loseResponse({ to: 2 })] });
  for (const project of projects) await run(`trigger ${project}/nightly --give-up-after 1ms`);
  for (const project of projects) await run(`trigger ${project}/nightly`);
  const { stdout } = await run('recover --json');
  expect(warningsIn(stdout)).toEqual([['superseded_trigger'], ['superseded_trigger']]);
});

test('recover prints a document for each trigger', async () => {
  const { run } = await machine({ ...going, faults: [loseResponse({ to: 2 })] });
  for (const name of ['a', 'b']) await run(`trigger ${name} --give-up-after 1ms`);
  const documents = jsonLines((await run('recover --json')).stdout);
  expect(documents.map(({ automationName }) => automationName).toSorted()).toEqual(['a', 'b']);
  for (const { runctl } of documents) expect(runctl).toMatchObject({ command: 'recover', outcome: 'ok' });
});

test('a finding of doctor is not also a warning', async () => {
  const { run, env } = await machine(going, { RUNCTL_API_KEY: '' });
  const { RUNCTL_CONFIG_DIR: folder = '', RUNCTL_API_KEY: apiKey } = env;
  mkdirSync(folder);
  const file = join(folder, 'config.json');
  writeFileSync(file, JSON.stringify({ profiles: { default: { baseUrl: env.RUNCTL_BASE_URL, apiKey } } }));
  chmodSync(file, 0o644);
  const [{ runctl }] = jsonLines((await run('doctor --offline --json')).stdout);
  expect(runctl.doctor).toContainEqual(expect.objectContaining({ name: 'settings', result: 'warning' }));
  expect(runctl.warnings).toEqual([]);
  // Any other command says it.
  expect((await run('status @last')).stderr).toContain(file);
});

test('the hint after a failed run names the automation as short as it can be typed', async () => {
  const { env, clock } = await withEmulator(failing);
  const watched = ['trigger', `${env.RUNCTL_PROJECT}/nightly`, '--watch'];
  const { stderr } = await runProgram(watched, { env, clock });
  expect(stderr).toMatch(/^ +runctl trigger nightly --watch$/m);
  const elsewhere = await runProgram(watched, { env: { ...env, RUNCTL_PROJECT: '' }, clock });
  expect(elsewhere.stderr).toContain(` runctl trigger ${env.RUNCTL_PROJECT}/nightly --watch\n`);
});

test('a warning about a run is in its document, and in no other', async () => {
  const { run } = await machine({
    automations: { '*': { duration: '1s', finalStatus: 'FAILED' } },
    faults: [loseResponse({ automation: 'a', nth: 2 }), { on: 'result', automation: 'a', do: 'status', status: 404 }],
  });
  await run('trigger a b --watch');
  expect((await run('trigger a --give-up-after 1ms')).code).toBe(12);
  expect(warningsIn((await run('watch a b --json')).stdout)).toEqual([
    ['unresolved_trigger', 'result_unavailable'],
    [],
  ]);
});

test('an earlier trigger without a response is a warning in the document of its automation alone', async () => {
  const { run } = await machine(lost);
  expect((await run(brief)).code).toBe(12);
  expect(warningsIn((await run('trigger nightly weekly --json')).stdout)).toEqual([['unresolved_trigger'], []]);
});

test.each([
  ['a', null],
  ['a --idempotency-key k-{automation}', 'runctl trigger a b'],
])(
  'if another argument started a run, the hint after a rate limit repeats the command only if no second run can start: %s',
  async (rest, next) => {
    const limited = { on: 'trigger', automation: 'b', do: 'status', status: 429 } as const;
    const { run } = await machine({ ...going, faults: [limited] });
    const { code, stdout } = await run(`trigger ${rest.replace('a', 'a b')} --give-up-after 10s --json`);
    const [, { runctl }] = jsonLines(stdout);
    expect([code, runctl.next?.slice(0, 18) ?? null]).toEqual([9, next]);
  },
);
