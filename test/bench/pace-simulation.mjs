// What the benchmarks of the pace share: the built pace, chance that can be repeated, and run times to draw from.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

/** The service ends a run after three hours: nothing longer is drawn. */
const limitS = 3 * 3600;

/** The module of src/watching with this name, bundled. */
export async function load(name) {
  const folder = await mkdtemp(join(tmpdir(), 'runctl-bench-'));
  try {
    const outfile = join(folder, `${name}.mjs`);
    const entry = new URL(`../../src/watching/${name}.ts`, import.meta.url).pathname;
    await build({ entryPoints: [entry], bundle: true, format: 'esm', platform: 'node', outfile, logLevel: 'warning' });
    return await import(pathToFileURL(outfile).href);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Numbers in [0, 1), the same for the same seed (mulberry32). */
export function createRandom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The normal distribution function (Abramowitz and Stegun 26.2.17, error below 1e-7). */
function normal(z) {
  const t = 1 / (1 + 0.2316419 * Math.abs(z));
  const poly = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  const tail = (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * poly;
  return z > 0 ? 1 - tail : tail;
}

export const logNormal = (medianS, sigma) => (s) => (s > 0 ? normal(Math.log(s / medianS) / sigma) : 0);
export const exponential = (meanS) => (s) => 1 - Math.exp(-s / meanS);
export const mixture = (share, one, other) => (s) => share * one(s) + (1 - share) * other(s);

/** Run times with this distribution function, cut at the service's limit; seconds. */
export function createRunTimes(name, distribution) {
  const whole = distribution(limitS);
  const cdf = (s) => (s >= limitS ? 1 : distribution(s) / whole);
  const quantile = (p) => {
    let [low, high] = [0, limitS];
    for (let i = 0; i < 50; i++) {
      const middle = (low + high) / 2;
      if (cdf(middle) < p) low = middle;
      else high = middle;
    }
    return high;
  };
  const table = Array.from({ length: 2001 }, (_, i) => quantile(i / 2000));
  return {
    name,
    cdf,
    longestS: quantile(1 - 1e-7),
    /** Equally likely times, shortest first, that stand for all. */
    typical: Array.from({ length: 600 }, (_, i) => quantile((i + 0.5) / 600)),
    draw(random) {
      const place = random() * 2000;
      const [low, high] = [table[Math.floor(place)], table[Math.ceil(place)]];
      return low + (high - low) * (place % 1);
    },
  };
}
