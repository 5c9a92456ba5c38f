import fc from 'fast-check';
import { expect, test } from 'vitest';
import { failure } from '../src/run/failure.ts';
import { retry } from '../src/run/retry.ts';
import { minuteMs } from '../src/run/time.ts';
import { checkWorld } from './core/checks.ts';
import { play } from './core/commands.ts';
import { type History, histories } from './core/histories.ts';

import { checkWatch, createAsker, lastAttemptMs, watches } from './core/watch.ts';

// A failure prints its seed: RUNCTL_SEED=<seed> plays the same histories again.
const { RUNCTL_HISTORIES = 400, RUNCTL_SEED = Date.now() % 2 ** 31 } = process.env;
const parameters = { numRuns: Number(RUNCTL_HISTORIES), seed: Number(RUNCTL_SEED) };
const timeout = 30_000 + 10 * parameters.numRuns;

test('whatever gets lost, no trigger starts two runs, and no run is lost', {
  timeout,
}, async () => {
  const check = async (history: History) => checkWorld(await play(history));
  await fc.assert(fc.asyncProperty(histories, check), parameters);
});

test('after the first valid answer an outage ends no watch', { timeout }, async () => {
  await fc.assert(fc.asyncProperty(watches, checkWatch), parameters);
});

const silences = fc.record({
  seed: fc.nat(),
  patienceMs: fc.nat(20 * minuteMs),
  tookMs: fc.constantFrom(0, 1, 50, minuteMs),
});

test('a silent service is asked for as long as the patience, not in a busy loop', async () => {
  await fc.assert(
    fc.asyncProperty(silences, async ({ seed, patienceMs, tookMs }) => {
      const { time, ports, now, wait } = createAsker(seed, false);
      let attempts = 0;
      let endedMs = 0;
      const attempt = async (timeoutMs: number) => {
        if (++attempts > 1000) throw new Error('a busy loop');
        await wait(Math.min(tookMs, timeoutMs));
        return { ok: false as const, failure: failure('unreachable') };
      };
      const options = {
        patienceMs,
        deadlineMs: Number.POSITIVE_INFINITY,
        mayRetry: () => true,
        onRetry() {},
      };
      const ended = retry(attempt, options, ports).then(() => {
        endedMs = now().awakeMs;
      });
      await time.pass();
      await ended;
      expect(attempts).toBeLessThan(20 + patienceMs / 7500);
      expect(endedMs).toBeGreaterThanOrEqual(patienceMs - lastAttemptMs);
      expect(endedMs).toBeLessThanOrEqual(Math.max(patienceMs, lastAttemptMs));
    }),
    parameters,
  );
});
