// The herd: 100,000 clients that cron starts in the same second, each following a run of one minute to three hours.
// Requests a second, in virtual time. `npm run bench -- herd`
import { createRandom, load } from './pace-simulation.mjs';

const { createPollSchedule, jitter } = await load('poll-schedule');

const clients = 100_000;
const automations = 250;
const [minuteS, hourS] = [60, 3600];
const longestS = 3 * hourS;
const spanS = longestS + 10 * minuteS;
const random = createRandom(2026);

const bell = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
const near = (medianS) => Math.min(longestS, Math.max(minuteS, medianS * Math.exp(0.25 * bell())));
const mediansS = Array.from({ length: automations }, () => minuteS * (longestS / minuteS) ** random());
const runs = Array.from({ length: clients }, (_, i) => ({
  startS: random(),
  runS: near(mediansS[i % automations]),
  automation: i % automations,
}));

/** A pace as a table over the age (asking it 10 million times would take long), read between its entries. */
function tabulate(pace) {
  const perUnit = 120;
  const ages = Array.from({ length: Math.ceil(Math.log(spanS + 1) * perUnit) + 2 }, (_, i) => Math.expm1(i / perUnit));
  const gapsS = ages.map((ageS) => pace.gapMs(ageS * 1000) / 1000);
  return (ageS) => {
    const place = Math.log1p(ageS) * perUnit;
    const index = Math.floor(place);
    return gapsS[index] + (gapsS[index + 1] - gapsS[index]) * (place - index);
  };
}

const withoutHistory = tabulate(createPollSchedule({ durationsMs: [] }));
const withHistory = mediansS.map((medianS) =>
  tabulate(createPollSchedule({ durationsMs: Array.from({ length: 20 }, () => near(medianS) * 1000) })),
);

/** Requests in every second of the span, when each client waits up to `splayS` before it starts. */
function simulate({ gapS, splayS = 0, jittered = true }) {
  const perSecond = new Uint32Array(Math.ceil(spanS + splayS));
  for (const { startS, runS, automation } of runs) {
    const fromS = startS + splayS * random();
    for (let ageS = 0; ageS < runS; ) {
      const gap = gapS(ageS, automation);
      ageS += jittered ? jitter(gap, random) : gap;
      perSecond[Math.floor(fromS + ageS)]++;
    }
  }
  return perSecond;
}

/** The highest second, over the mean of the minute around it: 1 where clients are out of step. After the first minute. */
function stepOf(perSecond) {
  let worst = 0;
  for (let s = minuteS; s < hourS; s++) {
    const around = perSecond.slice(s - 30, s + 30).reduce((total, count) => total + count, 0) / 60;
    worst = Math.max(worst, perSecond[s] / around);
  }
  return worst;
}

const schedules = [
  { name: 'fixed 3 s', gapS: () => 3, jittered: false },
  { name: 'ours, none, no jitter', gapS: withoutHistory, jittered: false },
  { name: 'ours, none', gapS: withoutHistory },
  { name: 'ours, 20 runs', gapS: (ageS, automation) => withHistory[automation](ageS) },
  { name: 'fixed 3 s, splay 5m', gapS: () => 3, jittered: false, splayS: 5 * minuteS },
  { name: 'ours, none, splay 5m', gapS: withoutHistory, splayS: 5 * minuteS },
  { name: 'ours, 20 runs, splay 5m', gapS: (ageS, automation) => withHistory[automation](ageS), splayS: 5 * minuteS },
];

const whole = (value) => Math.round(value).toLocaleString('en');
const line = (name, values) =>
  console.log(name.padEnd(26) + values.map((value) => String(value).padStart(15)).join(''));

console.log(`${whole(clients)} clients started in the same second; requests a second`);
console.log('steady: what the same runs would need if cron had spread them evenly over an hour');
console.log(
  'in step: the highest second over the minute around it, from the second minute to the end of the first hour\n',
);
line('schedule', ['peak', 'after 1m', 'after 5m', 'mean', 'steady', 'peak/steady', 'in step']);
for (const { name, ...schedule } of schedules) {
  const perSecond = simulate(schedule);
  const peakFrom = (fromS) => perSecond.slice(fromS).reduce((most, count) => Math.max(most, count), 0);
  const total = perSecond.reduce((sum, count) => sum + count, 0);
  const [mean, steady] = [total / perSecond.length, total / hourS];
  const peaks = [peakFrom(0), peakFrom(minuteS), peakFrom(5 * minuteS)];
  line(name, [...[...peaks, mean, steady].map(whole), (peaks[0] / steady).toFixed(1), stepOf(perSecond).toFixed(2)]);
}
