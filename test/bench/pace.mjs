// The pace of polling in virtual time: requests, lag and cost (lag + worth of a request × requests) of several
// schedules over run times of many kinds. `npm run bench -- pace`
import { optimalLooks } from './pace-optimum.mjs';
import { createRandom, createRunTimes, exponential, load, logNormal, mixture } from './pace-simulation.mjs';

const { createPollSchedule, jitter } = await load('poll-schedule');

/** What a request is worth to a run that is followed alone, and to one of five or more. */
const prices = [
  { worthS: 0.2, runs: 1 },
  { worthS: 1, runs: 5 },
];
const learnedRuns = 20;
const replicas = 40;
const [minute, hour] = [60, 3600];

const kinds = [
  ...[10, minute, 6 * minute, hour, 2 * hour].flatMap((medianS) =>
    [0.1, 0.25, 0.5, 1].map((sigma) => ({ medianS, sigma, cdf: logNormal(medianS, sigma) })),
  ),
  { name: 'exponential, mean 6m', cdf: exponential(6 * minute) },
  { name: 'exponential, mean 1h', cdf: exponential(hour) },
  { name: 'half 30s, half 10m', cdf: mixture(0.5, logNormal(30, 0.2), logNormal(10 * minute, 0.2)) },
  { name: '3 in 10 5m, else 1h', cdf: mixture(0.3, logNormal(5 * minute, 0.2), logNormal(hour, 0.2)) },
].map(({ name, medianS, sigma, cdf }) => createRunTimes(name ?? `${timeOf(medianS)} σ ${sigma}`, cdf));

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
/** The plainest rule that learns: wait for the shortest run, then √(2 × worth × what the median run still needs). */
const twelveLines = (historyS, runs) => (random) => {
  const times = historyS.toSorted((a, b) => a - b);
  const worthS = Math.min(1, 0.2 * runs);
  const gapS = (ageS) => {
    const longer = times.filter((s) => s > ageS);
    if (longer.length === 0) return Math.min(15, Math.max(3, 0.05 * ageS));
    if (longer.length === times.length) return Math.max(1, 0.95 * times[0] - ageS);
    return Math.max(1, Math.sqrt(2 * worthS * (longer[longer.length >> 1] - ageS)));
  };
  return (ageS) => jitter(gapS(ageS) * 1000, random) / 1000;
};
const ours = (historyS, runs) => (random) => {
  const pace = createPollSchedule({ durationsMs: historyS.map((s) => s * 1000), runs });
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

/** Of outcomes at one price: means, and the cost. */
function sum(outcomes, { worthS }) {
  const lags = outcomes.flatMap((outcome) => outcome.lags).sort((a, b) => a - b);
  const meanLag = lags.reduce((total, lag) => total + lag, 0) / lags.length;
  const requests = outcomes.reduce((total, outcome) => total + outcome.requests, 0) / outcomes.length;
  return { requests, meanLag, lateLag: lags[Math.floor(lags.length * 0.99)], cost: meanLag + worthS * requests };
}

const repeat = (count, make) => Array.from({ length: count }, (_, i) => make(i));
const draws = (times, count, random) => repeat(count, () => times.draw(random));

function measure(schedule, times, random, price, count = 1) {
  return sum(
    repeat(count, () => follow(looksOf(schedule, times.longestS, random), times.typical)),
    price,
  );
}

/** The twenty runs that come after an empty journal, or after one that holds runs of another kind; and the first alone. */
function learn(times, random, price, earlier = () => [], count = 10) {
  const first = [];
  const all = repeat(count, () => {
    const history = earlier();
    return repeat(learnedRuns, (run) => {
      const outcome = follow(looksOf(ours(history, price.runs), times.longestS, random), times.typical);
      if (run === 0) first.push(outcome);
      history.unshift(times.draw(random));
      return outcome;
    });
  }).flat();
  return { first: sum(first, price), all: sum(all, price) };
}

function learned(times, random, price, rule = ours) {
  return sum(
    repeat(replicas, () => {
      const history = draws(times, learnedRuns, random);
      return follow(looksOf(rule(history, price.runs), times.longestS, random), times.typical);
    }),
    price,
  );
}

/** What every schedule comes to at this price. */
function outcomesOf(times, price) {
  const random = createRandom(2026);
  return {
    optimum: sum([follow(optimalLooks(times, price.worthS), times.typical)], price),
    'ours, 20 runs': learned(times, random, price),
    'ours, runs 1–20': learn(times, random, price).all,
    'ours, none': measure(ours([], price.runs), times, random, price, 5),
    'fixed 3 s': measure(fixed(3), times, random, price),
    'fixed 2 s': measure(fixed(2), times, random, price),
    'AWS waiter': measure(awsWaiter, times, random, price, 20),
    doubling: measure(doubling, times, random, price),
    'twelve lines': learned(times, random, price, twelveLines),
  };
}

/** Run times that grow by 2 % a run: the cost after twenty of them, in multiples of ours without history. */
function driftOf(medianS) {
  const after = createRunTimes(`${timeOf(medianS)}, +2 % a run`, logNormal(medianS, 0.1));
  const outcomes = prices.map((price) => {
    const random = createRandom(2028);
    const cost = (rule) =>
      sum(
        repeat(replicas, () => {
          const history = draws(after, learnedRuns, random).map((s, run) => s * 0.98 ** (run + 1));
          return follow(looksOf(rule(history, price.runs), after.longestS, random), after.typical);
        }),
        price,
      ).cost / measure(ours([], price.runs), after, random, price, 5).cost;
    return [cost(ours), cost(twelveLines)];
  });
  return { name: after.name, outcomes };
}

/** Runs after a change, in multiples of the cost without history. */
function changeOf([beforeS, afterS]) {
  const before = createRunTimes('', logNormal(beforeS, 0.1));
  const after = createRunTimes(`${timeOf(beforeS)} → ${timeOf(afterS)}`, logNormal(afterS, 0.25));
  const outcomes = prices.map((price) => {
    const random = createRandom(2027);
    const none = measure(ours([], price.runs), after, random, price, 5);
    const { first, all } = learn(after, random, price, () => draws(before, learnedRuns, random));
    return { first: first.cost / none.cost, all: all.cost / none.cost, firstLag: first.meanLag };
  });
  return { name: after.name, outcomes };
}

function timeOf(s) {
  return s % hour === 0 ? `${s / hour}h` : s % minute === 0 ? `${s / minute}m` : `${s}s`;
}

const cells = (values, width = 16) => values.map((value) => String(value).padStart(width)).join('');
const line = (name, values, width) => console.log(name.padEnd(22) + cells(values, width));
const number = (value) => (value >= 100 ? value.toFixed(0) : value.toFixed(1));

const rows = kinds.map((times) => ({ times, outcomes: prices.map((price) => outcomesOf(times, price)) }));
const names = Object.keys(rows[0].outcomes[0]).slice(1);

prices.forEach(({ worthS, runs }, p) => {
  console.log(
    `\nCost = mean lag + ${worthS} s × requests, ours for ${runs === 1 ? 'one run' : `${runs} runs or more`}`,
  );
  console.log('The optimum in seconds, the others as multiples of it');
  line('run times', ['optimum', ...names]);
  for (const { times, outcomes } of rows) {
    const best = outcomes[p].optimum.cost;
    line(times.name, [number(best), ...names.map((name) => (outcomes[p][name].cost / best).toFixed(2))]);
  }
});

prices.forEach(({ worthS }, p) => {
  console.log(`\nRequests / mean lag / 99th-percentile lag, in seconds, for a request worth ${worthS} s`);
  line('run times', ['optimum', ...names], 20);
  for (const { times, outcomes } of rows) {
    const cell = ({ requests, meanLag, lateLag }) => [requests, meanLag, lateLag].map(number).join(' / ');
    line(times.name, Object.values(outcomes[p]).map(cell), 20);
  }
});

console.log('\nA change after 20 runs (σ 0.1 before, 0.25 after): cost as a multiple of ours without history');
line('run times', ['20 runs (0.2)', '20 runs (1)', 'first (0.2)', 'first (1)', 'first: mean lags'], 18);
const changed = changes.map(changeOf);
for (const { name, outcomes } of changed) {
  const ratios = ['all', 'first'].flatMap((which) => outcomes.map((outcome) => outcome[which].toFixed(2)));
  line(name, [...ratios, outcomes.map(({ firstLag }) => `${number(firstLag)} s`).join(', ')], 18);
}

console.log('\nRun times that grow by 2 % a run, after 20 runs: cost as a multiple of ours without history');
line(
  'run times',
  prices.flatMap(({ worthS }) => [`ours (${worthS})`, `twelve lines (${worthS})`]),
  22,
);
for (const { name, outcomes } of [minute, 5 * minute, hour].map(driftOf))
  line(
    name,
    outcomes.flat().map((ratio) => ratio.toFixed(2)),
    22,
  );

function verdict(target, misses) {
  console.log(
    `${misses.length === 0 ? 'reached' : 'MISSED '}  ${target}${misses.map((miss) => `\n         ${miss}`).join('')}`,
  );
}

console.log('');
/** The kinds of run times, and the price, at which the ratio is over the limit. */
const over = (limit, table, ratioOf) =>
  table.flatMap(({ name, times, outcomes }) =>
    outcomes.flatMap((outcome, p) => {
      const ratio = ratioOf(outcome);
      return ratio > limit ? [`${name ?? times.name}, c = ${prices[p].worthS} s: ${ratio.toFixed(2)}`] : [];
    }),
  );
const against = (name, other) => (outcome) => outcome[name].cost / outcome[other].cost;
// Of runs of seconds a request costs about as much as it gains, by any rule.
const long = rows.filter(({ times }) => !times.name.startsWith('10s'));
verdict(
  'with 20 earlier runs within 1.5 × the optimum, but for runs of 10 s',
  over(1.5, long, against(names[0], 'optimum')),
);
verdict(
  'after a change never more than 1.5 × ours without history, over the next 20 runs',
  over(1.5, changed, ({ all }) => all),
);
for (const schedule of ['fixed 3 s', 'fixed 2 s']) {
  for (const name of names.slice(0, 2)) {
    verdict(`"${name}" below ${schedule}, but for runs of 10 s`, over(1, long, against(name, schedule)));
  }
}
