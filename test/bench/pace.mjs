// The pace of polling in virtual time: requests, lag and cost (lag + worth of a request × requests) of several
// schedules over run times of many kinds. `node test/bench/pace.mjs`
import { optimalLooks } from './pace-optimum.mjs';
import { createRandom, createRunTimes, exponential, load, logNormal, mixture } from './pace-world.mjs';

const { createPace, jitter } = await load('pace');

const worthsS = [0.2, 1];
const learnedRuns = 20;
const replicas = 100;
const [minute, hour] = [60, 3600];

const kinds = [
  ...[10, minute, 6 * minute, hour, 2 * hour].flatMap((medianS) =>
    [0.1, 0.25, 0.5, 1].map((sigma) => ({ medianS, sigma, cdf: logNormal(medianS, sigma) })),
  ),
  { name: 'exponential, mean 6m', cdf: exponential(6 * minute) },
  { name: 'exponential, mean 1h', cdf: exponential(hour) },
  { name: 'half 30s, half 10m', cdf: mixture(0.5, logNormal(30, 0.2), logNormal(10 * minute, 0.2)) },
  { name: '3 in 10 5m, else 1h', cdf: mixture(0.3, logNormal(5 * minute, 0.2), logNormal(hour, 0.2)) },
].map(({ name, medianS, sigma, cdf }) => ({
  ...createRunTimes(name ?? `${timeOf(medianS)} σ ${sigma}`, cdf),
  narrow: sigma <= 0.5,
}));

const changes = [
  [hour, 10],
  [hour, minute],
  [hour, 5 * minute],
  [hour, 30 * minute],
  [2 * hour, hour],
  [2 * hour, 6 * minute],
  [6 * minute, minute],
  [6 * minute, 10],
  [minute, 10],
  [10, 10 * minute],
  [minute, 6 * minute],
  [6 * minute, hour],
];

// Schedules: a function that makes the gap (seconds) for an age (seconds) and the number of the look, for one run.
const fixed = (gapS) => () => () => gapS;
const doubling = () => (_, look) => 2 ** look;
/** The AWS SDK's waiters with their defaults: a random delay from 2 s to a limit that doubles; 120 s once it is reached. */
const awsWaiter = (random) => (_, look) => (2 * 2 ** look > 120 ? 120 : 2 + random() * (2 * 2 ** look - 2));
const ours = (historyS) => (random) => {
  const pace = createPace({ durationsMs: historyS.map((s) => s * 1000) });
  return (ageS) => jitter(pace.gapMs(ageS * 1000), random) / 1000;
};

function looksOf(schedule, untilS, random) {
  const gapS = schedule(random);
  const looks = [];
  for (let ageS = 0; ageS < untilS; looks.push(ageS)) ageS += gapS(ageS, looks.length);
  return looks;
}

/** Requests and lags of runs of these times (shortest first) under these looks. */
function follow(looks, timesS) {
  const lags = [];
  let [requests, look] = [0, 0];
  for (const timeS of timesS) {
    while (look < looks.length - 1 && looks[look] < timeS) look++;
    requests += look + 1;
    lags.push(Math.max(0, looks[look] - timeS));
  }
  return { requests: requests / timesS.length, lags };
}

function sum(outcomes) {
  const lags = outcomes.flatMap((outcome) => outcome.lags).sort((a, b) => a - b);
  const meanLag = lags.reduce((total, lag) => total + lag, 0) / lags.length;
  const requests = outcomes.reduce((total, outcome) => total + outcome.requests, 0) / outcomes.length;
  const costs = worthsS.map((worthS) => meanLag + worthS * requests);
  return { requests, meanLag, lateLag: lags[Math.floor(lags.length * 0.99)], costs };
}

const repeat = (count, make) => Array.from({ length: count }, (_, i) => make(i));
const draws = (times, count, random) => repeat(count, () => times.draw(random));

function measure(schedule, times, random, count = 1) {
  return sum(repeat(count, () => follow(looksOf(schedule, times.longestS, random), times.typical)));
}

/** The twenty runs that come after an empty journal, or after one that holds runs of another kind; and the first alone. */
function learn(times, random, earlier = () => [], count = 10) {
  const first = [];
  const all = repeat(count, () => {
    const history = earlier();
    return repeat(learnedRuns, (run) => {
      const outcome = follow(looksOf(ours(history), times.longestS, random), times.typical);
      if (run === 0) first.push(outcome);
      history.unshift(times.draw(random));
      return outcome;
    });
  }).flat();
  return { first: sum(first), all: sum(all) };
}

function rowOf(times) {
  const random = createRandom(2026);
  const learned = sum(
    repeat(replicas, () => {
      const history = draws(times, learnedRuns, random);
      return follow(looksOf(ours(history), times.longestS, random), times.typical);
    }),
  );
  const optima = worthsS.map((worthS) => sum([follow(optimalLooks(times, worthS), times.typical)]));
  return {
    times,
    optima,
    columns: {
      'ours, 20 runs': learned,
      'ours, runs 1–20': learn(times, random).all,
      'ours, none': measure(ours([]), times, random, 5),
      'fixed 3 s': measure(fixed(3), times, random),
      'fixed 2 s': measure(fixed(2), times, random),
      'AWS waiter': measure(awsWaiter, times, random, 20),
      doubling: measure(doubling, times, random),
    },
  };
}

function changeOf([beforeS, afterS]) {
  const random = createRandom(2027);
  const before = createRunTimes('', logNormal(beforeS, 0.1));
  const after = createRunTimes(`${timeOf(beforeS)} → ${timeOf(afterS)}`, logNormal(afterS, 0.25));
  const unlearned = measure(ours([]), after, random, 5);
  const { first, all } = learn(after, random, () => draws(before, learnedRuns, random));
  return { times: after, unlearned, first, all };
}

function timeOf(s) {
  return s % hour === 0 ? `${s / hour}h` : s % minute === 0 ? `${s / minute}m` : `${s}s`;
}

const cells = (values, width = 16) => values.map((value) => String(value).padStart(width)).join('');
const line = (name, values, width) => console.log(name.padEnd(22) + cells(values, width));
const number = (value) => (value >= 100 ? value.toFixed(0) : value.toFixed(1));

const rows = kinds.map(rowOf);
const names = Object.keys(rows[0].columns);

worthsS.forEach((worthS, w) => {
  console.log(`\nCost = mean lag + ${worthS} s × requests; the optimum in seconds, the others as multiples of it`);
  line('run times', ['optimum', ...names]);
  for (const { times, optima, columns } of rows) {
    const best = optima[w].costs[w];
    line(times.name, [number(best), ...names.map((name) => (columns[name].costs[w] / best).toFixed(2))]);
  }
});

console.log('\nRequests / mean lag / 99th-percentile lag, in seconds');
line('run times', ['optimum (0.2)', 'optimum (1)', ...names], 20);
for (const { times, optima, columns } of rows) {
  const outcomes = [...optima, ...names.map((name) => columns[name])];
  line(
    times.name,
    outcomes.map((o) => [o.requests, o.meanLag, o.lateLag].map(number).join(' / ')),
    20,
  );
}

console.log('\nA change after 20 runs (σ 0.1 before, 0.25 after): cost as a multiple of ours without history');
line('run times', ['20 runs (0.2)', '20 runs (1)', 'first (0.2)', 'first (1)', 'first: mean lag']);
const changed = changes.map(changeOf);
for (const { times, unlearned, first, all } of changed) {
  const ratios = [all, first].flatMap((o) => o.costs.map((cost, w) => (cost / unlearned.costs[w]).toFixed(2)));
  line(times.name, [...ratios, `${number(first.meanLag)} s`]);
}

function verdict(target, misses) {
  console.log(
    `${misses.length === 0 ? 'reached' : 'MISSED '}  ${target}${misses.map((miss) => `\n         ${miss}`).join('')}`,
  );
}

console.log('');
const named = (name, w, value) => `${name}, c = ${worthsS[w]} s: ${value.toFixed(2)}`;
const against = (name, isMeant, limit) =>
  rows.filter(isMeant).flatMap(({ times, optima, columns }) =>
    columns[name].costs
      .map((cost, w) => ({ w, ratio: cost / (limit ? limit(columns).costs[w] : optima[w].costs[w]) }))
      .filter(({ ratio }) => ratio > (limit ? 1 : 1.25))
      .map(({ w, ratio }) => named(times.name, w, ratio)),
  );
verdict(
  'with 20 earlier runs within 1.25 × the optimum for σ ≤ 0.5',
  against(names[0], ({ times }) => times.narrow),
);
verdict(
  'after a change never more than 1.1 × ours without history, over the next 20 runs',
  changed.flatMap(({ times, unlearned, all }) =>
    all.costs
      .map((cost, w) => ({ w, ratio: cost / unlearned.costs[w] }))
      .filter(({ ratio }) => ratio > 1.1)
      .map(({ w, ratio }) => named(times.name, w, ratio)),
  ),
);
for (const schedule of ['fixed 3 s', 'fixed 2 s']) {
  for (const name of names.slice(0, 3)) {
    const misses = against(
      name,
      () => true,
      (columns) => columns[schedule],
    );
    verdict(`"${name}" below ${schedule} everywhere`, misses);
  }
}
