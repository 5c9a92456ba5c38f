// How often runs are polled, and how late their end is noticed, in virtual time: with twenty earlier runs, with none, and every
// 3 s. `npm run bench -- pace`
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const folder = await mkdtemp(join(tmpdir(), 'runctl-bench-'));
const outfile = join(folder, 'poll-schedule.mjs');
const entry = join(import.meta.dirname, '../../src/watching/poll-schedule.ts');
await build({ entryPoints: [entry], bundle: true, format: 'esm', outfile, logLevel: 'warning' });
const { createPollSchedule, jitter } = await import(pathToFileURL(outfile).href);
await rm(folder, { recursive: true });

const [minute, hour] = [60_000, 3_600_000];
const longest = 3 * hour;

/** Chance that can be repeated (mulberry32). */
let state = 2026;
function random() {
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), state | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
}

/** Durations around `ms` of which two in three are within this share of it. */
const around = (ms, share) => () => {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return Math.min(longest, ms * Math.exp(Math.log(1 + share) * normal));
};

const kinds = {
  '10 s ±10 %': around(10_000, 0.1),
  '1 min ±20 %': around(minute, 0.2),
  '5 min ±20 %': around(5 * minute, 0.2),
  '1 h ±3 %': around(hour, 0.03),
  '1 h ±10 %': around(hour, 0.1),
  '1 h ±50 %': around(hour, 0.5),
  '3 h ±5 %': around(longest, 0.05),
  '5 min or 1 h': () => (random() < 0.5 ? around(5 * minute, 0.1)() : around(hour, 0.1)()),
};

const schedules = {
  '20 earlier runs': (draw) => createPollSchedule(Array.from({ length: 20 }, draw)),
  'no earlier runs': () => createPollSchedule([]),
  'every 3 s': () => ({ gapMs: () => 3_000 }),
};

function measure(draw, scheduleOf, runs = 400) {
  let polls = 0;
  let lateMs = 0;
  for (let run = 0; run < runs; run++) {
    const schedule = scheduleOf(draw);
    const durationMs = draw();
    let ageMs = 0;
    while (ageMs < durationMs) {
      ageMs += jitter(schedule.gapMs(ageMs), random);
      polls++;
    }
    lateMs += ageMs - durationMs;
  }
  return `${Math.round(polls / runs)} polls, ${(lateMs / runs / 1000).toFixed(1)} s late`;
}

const row = (...cells) =>
  console.log(
    cells
      .map((cell) => cell.padEnd(24))
      .join('')
      .trimEnd(),
  );
row('', ...Object.keys(schedules));
for (const [name, draw] of Object.entries(kinds))
  row(name, ...Object.values(schedules).map((schedule) => measure(draw, schedule)));
