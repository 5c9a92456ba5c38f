// An automation's name with a typo: the name that the journal knows is asked for, and never typed for the user.
import { expect, test } from 'vitest';
import { withMachine } from '../helpers/machine.ts';

const known = { automations: { 'import-us': { duration: '1h' }, nightly: { duration: '1h' } } };

async function afterRuns() {
  const machine = await withMachine(known);
  for (const name of Object.keys(known.automations)) await machine.run(`trigger ${name}`);
  return machine;
}

test.each<[line: string, code: number, next: string | null]>([
  ['trigger import_us', 6, 'runctl config list'],
  ['trigger import-u', 6, 'runctl config list'],
  ['trigger import_us --watch', 6, 'runctl config list'],
  ['status import_us', 2, null],
  ['watch import_us', 2, null],
  ['result import_us', 2, null],
  ['status import_us/6f1c9f5e-3a53-4c1b-9f0a-0d6f2c1f8a11', 6, 'runctl list'],
])('after `%s`, which exits with %i, the hint asks whether import-us was meant', async (line, exitCode, next) => {
  const { run, emulator } = await afterRuns();
  const before = emulator.runs().length;
  const { code, stderr, documents } = await run(`${line} --json`);
  expect([code, documents[0].runctl.next, emulator.runs().length]).toEqual([exitCode, next, before]);
  expect(stderr).toContain('did you mean import-us?');
});

test.each([
  ['EU Asia', 'EU Aisa'],
  // As macOS spells the names of files.
  ['\u00e9t\u00e9', 'e\u0301te\u0301'],
])('%j is suggested for %j, in quotes', async (name, typed) => {
  const { run } = await withMachine({ automations: { [name]: { duration: '1h' } } });
  await run(['trigger', name]);
  const { code, stderr } = await run(['trigger', typed]);
  expect([code, stderr]).toEqual([6, expect.stringMatching(`did you mean '?${name}'?\\?`)]);
});

test('no name is suggested if none is similar, or if the name is known', async () => {
  const { run } = await afterRuns();
  for (const line of ['trigger weekly', 'status weekly'])
    expect((await run(line)).stderr).not.toContain('did you mean');
});

test('no other name is suggested for an automation that ran here', async () => {
  const { run } = await withMachine({ automations: { 'import-us': {}, 'import-eu': {} } });
  await run('trigger import-us import-eu');
  const { code, stderr } = await run('status import-us/6f1c9f5e-3a53-4c1b-9f0a-0d6f2c1f8a11');
  expect([code, stderr]).toEqual([6, expect.stringContaining('has no run')]);
  expect(stderr).not.toContain('did you mean');
});

test('a name whose triggers were all refused is not suggested', async () => {
  const { run } = await afterRuns();
  await run('trigger importt-us');
  expect((await run('trigger imporrt-us')).stderr).not.toContain('importt-us');
});
