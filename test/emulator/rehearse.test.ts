import { expect, test } from 'vitest';
import { rehearse } from '../../src/emulator/rehearse.ts';
import { startEmulator } from '../../src/emulator/server.ts';
import { createMemory } from '../helpers/memory-context.ts';
import { objectNames } from './object-names.ts';

test.each<[string, string]>([
  ['', 'the command is empty'],
  ['x'.repeat(9_000), `the command ${'x'.repeat(80)} can't be started: spawn ENAMETOOLONG`],
])('a rehearsal of the command %j is refused', async (command, message) => {
  const emulator = await startEmulator({ scenario: {} });
  const rehearsal = rehearse([command], emulator, createMemory({ PATH: '/usr/bin' })).finally(emulator.close);
  await expect(rehearsal).rejects.toMatchObject({ exitCode: 2, message });
});

test.each(objectNames)('a rehearsal of the command %s finds none', async (command) => {
  const emulator = await startEmulator({ scenario: {} });
  expect(await rehearse([command], emulator, createMemory({ PATH: '/usr/bin' })).finally(emulator.close)).toBe(127);
});
