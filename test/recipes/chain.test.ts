import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Scenario } from '../../src/emulator/scenario.ts';
import { nameOf } from '../../src/runs/run.ts';
import { withBareMachine } from './bare-machine.ts';
import { blockOf } from './blocks.ts';

async function withChain(automations: Scenario['automations']) {
  const machine = await withBareMachine({ automations: { '*': { duration: '1ms' }, ...automations } });
  writeFileSync(join(machine.folder, 'chain.sh'), blockOf('A chain that is safe to run again', 'sh'));
  return {
    chain: async (...argv: string[]) =>
      (await machine.run(['bash', 'chain.sh', ...argv], { env: machine.settings })).code,
    triggered: () => machine.emulator.runs().map(({ target }) => nameOf(target)),
  };
}

test('the chain runs its steps in order, and again only what failed and what comes after it', async () => {
  const { chain, triggered } = await withChain({ south: { duration: '1ms', outcome: ['FAILED', 'COMPLETED'] } });
  expect(await chain()).toBe(1);
  expect(triggered()).toEqual(['extract', 'north', 'south']);
  expect(await chain()).toBe(1);
  expect(triggered()).toHaveLength(3);
  expect(await chain('1')).toBe(0);
  expect(triggered().slice(3)).toEqual(['south', 'report']);
  expect(await chain('1')).toBe(0);
  expect(triggered()).toHaveLength(5);
});
