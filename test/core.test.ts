import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type FailureKind, failure } from '../src/run/failure.ts';
import { retry } from '../src/run/retry.ts';
import { checkWorld } from './core/checks.ts';
import { play } from './core/commands.ts';
import { histories, seldom } from './core/histories.ts';

const count = Number(process.env.RUNCTL_HISTORIES ?? 400);
const seed = Number(process.env.RUNCTL_SEED ?? Date.now() % 2 ** 31);
const path = process.env.RUNCTL_PATH;

test('histories', { timeout: 3_600_000 }, async () => {
  const startMs = Date.now();
  await fc.assert(
    fc.asyncProperty(histories, async (history) => {
      const world = await play(history);
      checkWorld(world);
    }),
    { numRuns: count, seed, path },
  );
  console.log(Date.now() - startMs, 'ms');
});
