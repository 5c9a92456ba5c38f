/** An earlier run: how long it took, and how likely it is that the next run is of the same kind. */
export interface Sample {
  durationMs: number;
  weight: number;
}

/**
 * What one earlier run says about the next, on a logarithmic axis of durations: a logistic density around its own
 * duration. It needs no table of values and has heavy tails.
 */
interface Kernel {
  middle: number;
  scale: number;
}

/** The standard deviation of the logistic distribution is π/√3 times its scale. */
export const kernelOf = (middle: number, deviation: number): Kernel => ({
  middle,
  scale: (deviation * Math.sqrt(3)) / Math.PI,
});

/** The share of the kernel that lies before `log`. */
export const shareBefore = ({ middle, scale }: Kernel, log: number): number =>
  1 / (1 + Math.exp((middle - log) / scale));

/** The density of the kernel at the place that has this share of it before it. */
export const densityAtShare = ({ scale }: Kernel, share: number): number => (share * (1 - share)) / scale;

/** Prior for durations never seen: uniform on the logarithmic axis from 1 s to the service's limit of three hours. */
export const logRange = Math.log(3 * 3600);

/** The chance that the next run is like none of the earlier ones; Laplace's rule of succession has 1 / (runs + 2). */
export const chanceOfOutlier = (runs: number): number => 0.75 / (runs + 2);

/** A kernel is as wide as the distance to the nearest of this share of the runs, times `narrowing`. */
const neighbourShare = 0.35;
const narrowing = 0.7;
const widestKernel = 0.4;
const narrowestKernel = 0.05;
/** The share of the prior that a run always has before it, however old it is: a clock or the limit may be off. */
const leastLeft = 0.05;

/** What earlier runs say about how long the next one takes. */
interface Survival {
  /**
   * The hazard rate of a running run: how likely it is to end now, per unit of the logarithm of its age (a rate of 1
   * means: within the time it has already taken).
   */
  hazard(ageMs: number): number;
  /** The share of runs that are still running at this age. */
  surviving(ageMs: number): number;
}

/**
 * Each earlier run adds a kernel around its duration; beside them stands a flat part for durations never seen, which
 * shrinks with every run seen. Past every kernel only that part is left.
 */
export function createSurvival(samples: readonly Sample[]): Survival {
  const runs = samples.reduce((sum, { weight }) => sum + weight, 0);
  const kernels = kernelsOf(samples, runs);
  const outlier = chanceOfOutlier(runs);
  const at = (ageMs: number) => {
    const logAge = Math.log(Math.max(1, ageMs));
    const left = Math.min(1, Math.max(leastLeft, 1 - (logAge - Math.log(1000)) / logRange));
    let ending = outlier / logRange;
    let surviving = outlier * left;
    for (const { kernel, share } of kernels) {
      const ended = shareBefore(kernel, logAge);
      ending += (1 - outlier) * share * densityAtShare(kernel, ended);
      surviving += (1 - outlier) * share * (1 - ended);
    }
    return { ending, surviving };
  };
  return {
    hazard(ageMs) {
      const { ending, surviving } = at(ageMs);
      return ending / surviving;
    },
    surviving: (ageMs) => at(ageMs).surviving,
  };
}

function kernelsOf(samples: readonly Sample[], runs: number): { kernel: Kernel; share: number }[] {
  // Two runs that happened to take the same time prove little.
  const narrowest = Math.max(narrowestKernel, widestKernel / runs);
  return samples.map((sample) => {
    const distance = neighbourDistance(sample, samples, neighbourShare * runs);
    const deviation = Math.min(widestKernel, Math.max(narrowest, narrowing * distance));
    return { kernel: kernelOf(Math.log(sample.durationMs), deviation), share: sample.weight / runs };
  });
}

/** The distance, on the logarithmic axis, within which other samples of this weight in all are found. */
function neighbourDistance(sample: Sample, samples: readonly Sample[], wantedWeight: number): number {
  const others = samples
    .filter((other) => other !== sample)
    .map(({ durationMs, weight }) => ({ distance: Math.abs(Math.log(durationMs / sample.durationMs)), weight }))
    .sort((a, b) => a.distance - b.distance);
  let nearWeight = 0;
  for (const { distance, weight } of others) {
    nearWeight += weight;
    if (nearWeight >= wantedWeight) return distance;
  }
  return Number.POSITIVE_INFINITY;
}
