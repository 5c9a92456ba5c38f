import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withEmulator } from '../helpers/emulator.ts';
import { runProgram } from '../helpers/run-program.ts';

test('a record of a year with six digits, to which no time can be added, is skipped', async () => {
  const { env, emulator } = await withEmulator({ faults: [{ on: 'trigger', nth: 1, do: 'loseAnswer' }] });
  await runProgram(['trigger', 'nightly', '--give-up-after', '1ms'], { env });
  const file = join(env.RUNCTL_STATE_DIR ?? '', 'journal.jsonl');
  const records = readFileSync(file, 'utf8');
  const far = records
    .replace(/"at":"[^"]+"/g, '"at":"+275760-09-12T23:00:00Z"')
    .replace(/"account":"[^"]+"/g, '"account":"x"');
  writeFileSync(file, far.replaceAll('nightly', 'weekly').replace(/("idempotencyKey":")[^"]+/g, '$1other') + records);
  const { code, stdout } = await runProgram(['recover'], { env });
  expect([code, stdout]).toEqual([0, `${emulator.runs()[0]?.executionId}\n`]);
});

// Every 1.x shares a state folder with every other (docs/reference.md, Stability).
test('what a newer version has written into the journal is kept and skipped', async () => {
  const { env, clock } = await withEmulator({
    automations: { '*': { duration: '1h' }, quick: { duration: '1ms', outcome: 'FAILED' } },
    faults: [{ on: 'trigger', automation: 'weekly', do: 'loseAnswer' }],
  });
  const run = (...argv: string[]) => runProgram(argv, { env, clock });
  await run('trigger', 'quick', '--watch');
  await run('trigger', 'nightly', '--idempotency-key', 'today');
  expect((await run('trigger', 'weekly', '--give-up-after', '1ms')).code).toBe(12);

  const shown = () =>
    Promise.all([
      run('list', '--offline', '--json'),
      run('status', 'quick', '--json'),
      run('recover', '--dry-run', '--field', 'automationName'),
    ]).then((all) => all.map(({ code, stdout }) => ({ code, stdout: stdout.replace(/"ageMs":\d+/, '') })));
  const before = await shown();

  const file = join(env.RUNCTL_STATE_DIR ?? '', 'journal.jsonl');
  const records = readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  const newer = records.flatMap((record) => [
    { ...record, priority: 7, labels: ['a', null], owner: { team: 'ops' } }, // fields that this version doesn't know
    { ...record, type: 'paused', first: true }, // a kind of record that it doesn't know, of the same run or trigger
    { ...record, schema: 2, status: ['FAILED'] },
    { type: 'note', text: 'about nothing' },
  ]);
  const text = `${newer.map((record) => JSON.stringify(record)).join('\n')}\n`;
  writeFileSync(file, text);
  expect(await shown()).toEqual(before);

  const again = await run('trigger', 'nightly', '--idempotency-key', 'today', '--field', 'runctl.trigger.how');
  expect(again.stdout).toBe('replayed\n');
  expect((await run('watch', 'quick', '--quiet')).code).toBe(1);
  expect(readFileSync(file, 'utf8').startsWith(text)).toBe(true);
});
