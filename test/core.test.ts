import fc from 'fast-check';
import { test } from 'vitest';
import { checkWorld } from './core/checks.ts';
import { play } from './core/commands.ts';
import { type History, histories } from './core/histories.ts';
import { checkWatch, watches } from './core/watch.ts';

// RUNCTL_SEED repeats what failed: the seed is in its message.
const { RUNCTL_HISTORIES = 500, RUNCTL_SEED = Date.now() % 2 ** 31 } = process.env;
const parameters = { numRuns: Number(RUNCTL_HISTORIES), seed: Number(RUNCTL_SEED) };
const timeout = 30_000 + 20 * parameters.numRuns;

test('no trigger starts two runs, no run is lost, and no code lies', { timeout }, async () => {
  const check = async (history: History) => checkWorld(await play(history));
  await fc.assert(fc.asyncProperty(histories, check), parameters);
});

test('after the first valid answer an outage ends no watch', { timeout }, async () => {
  await fc.assert(fc.asyncProperty(watches, checkWatch), parameters);
});
