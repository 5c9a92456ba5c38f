// Every document that a command prints is true of its schema, which is closed here: no field of ours is in none.
import { expect, test } from 'vitest';
import { program } from '../../src/program.ts';
import { checkBySchema } from '../helpers/check-documents.ts';
import { withEmulator } from '../helpers/emulator.ts';
import { runProgram } from '../helpers/run-program.ts';
import { executionId } from '../helpers/scripted-service.ts';

/** In this order on one machine: the first ones leave runs, a lost answer and refusals. */
const lines = [
  'trigger nightly --watch',
  'trigger failing --watch',
  'trigger lost --give-up-after 1ms',
  'trigger a b --dry-run',
  'trigger a b --idempotency-key today-{automation}',
  'trigger a --if-active skip',
  'trigger',
  'status nightly',
  'status failing --exit-status',
  'result failing',
  'watch a b --timeout 1s',
  'list',
  'list --offline',
  'history',
  'recover --dry-run',
  'recover',
  'stats',
  'check nightly failing --within 1h',
  'config list',
  'config get baseUrl',
  'config path',
  'config set project 00000000-0000-4000-8000-000000000001',
  'config unset project',
  'doctor',
  'doctor --offline',
  'explain',
  'explain 12',
  'version',
  `agent trigger ${executionId}`,
  `agent status ${executionId} ${executionId}`,
];

test('the documents of every command are as the schema says', async () => {
  const { env, clock } = await withEmulator({
    automations: { failing: { outcome: 'FAILED' } },
    faults: [{ on: 'trigger', automation: 'lost', nth: 1, do: 'loseAnswer' }],
  });
  const without: string[] = [];
  for (const line of lines) {
    const { stdout } = await runProgram([...line.split(' '), '--json'], { env, clock });
    const documents = stdout.split('\n').filter(Boolean);
    for (const document of documents) checkBySchema(JSON.parse(document));
    if (documents.length === 0) without.push(line);
  }
  expect(without).toEqual([]);
});

test('every command that prints documents is among them', () => {
  const covered = lines.map((line) => line.split(' ')[0]);
  const others = ['completion', 'emulator', 'help']; // they print no documents
  const names = program.commands?.map(({ name }) => name).filter((name) => !others.includes(name));
  expect(names?.filter((name) => !covered.includes(name))).toEqual([]);
});
