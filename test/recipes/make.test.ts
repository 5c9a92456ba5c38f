import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import type { Scenario } from '../../src/emulator/scenario.ts';
import { nameOf } from '../../src/runs/run.ts';
import { needs } from '../helpers/needs.ts';
import { withBareMachine } from './bare-machine.ts';
import { blockOf } from './blocks.ts';

beforeEach((context) => needs(context, 'make'));

/** A machine with the Makefile, and what has completed on it. */
async function withMakefile(automations: Scenario['automations']) {
  const machine = await withBareMachine({ automations: { '*': { duration: '1ms' }, ...automations } });
  const makefile = blockOf('Dependencies with make', 'make').replace('--watch', '--watch --interval 20ms');
  writeFileSync(join(machine.folder, 'Makefile'), makefile);
  const make = (...argv: string[]) => machine.run(['make', '-j2', 'day=today', ...argv], { env: machine.settings });
  return {
    make,
    triggered: () => machine.emulator.runs().map(({ target }) => nameOf(target)),
    done: () => readdirSync(join(machine.folder, 'today')).filter((name) => !name.endsWith('.part')),
  };
}

test('make runs a diamond in its order, and nothing of it twice', async () => {
  const { make, triggered } = await withMakefile({});
  expect((await make()).code).toBe(0);
  expect(triggered()[0]).toBe('extract');
  expect(triggered().slice(1, 3).sort()).toEqual(['north', 'south']);
  expect(triggered()[3]).toBe('report');
  expect((await make('try=2')).stdout).toContain("'today/report' is up to date");
  expect(triggered()).toHaveLength(4);
});

test('where a run failed, only what is not done is run again, with the next try', async () => {
  const { make, triggered, done } = await withMakefile({
    south: { duration: '1ms', outcome: ['FAILED', 'COMPLETED'] },
  });
  expect((await make()).code).toBe(2);
  expect(done()).toEqual(['extract', 'north']);
  expect((await make()).code).toBe(2);
  expect(triggered()).toHaveLength(3);
  expect((await make('try=2')).code).toBe(0);
  expect(triggered().slice(3)).toEqual(['south', 'report']);
});
