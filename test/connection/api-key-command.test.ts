import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { runApiKeyCommand } from '../../src/connection/api-keys.ts';
import { systemClock } from '../../src/process.ts';
import { createMemory } from '../helpers/memory-context.ts';

const sessionOf = (pid: number) => execFileSync('ps', ['-o', 'sid=', '-p', String(pid)], { encoding: 'utf8' }).trim();

test.each([
  ['shares the session of a person at a terminal, where it may ask for a password', true],
  ['has a session of its own elsewhere, so that all of it can be killed', false],
])('the command that prints the API key %s', async (_, isTTY) => {
  const memory = createMemory(process.env);
  Object.assign(memory.stderr, { isTTY });
  const printed = await runApiKeyCommand(`printf key-of-; ps -o sid= -p $$ | tr -d ' '`, 'apiKeyCommand', {
    ...memory,
    clock: systemClock,
  });
  expect(printed === `key-of-${sessionOf(process.pid)}`).toBe(isTTY);
});
