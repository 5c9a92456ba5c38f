/** A past run; `weight` is the chance that the next run is of the same kind. */
export interface Sample {
  durationMs: number;
  weight: number;
}

/** What one run says about the next: a logistic density, which has heavy tails, around the log of its duration. */
interface Kernel {
  middle: number;
  scale: number;
}

/** The standard deviation of the logistic distribution is π/√3 times its scale. */
export const kernelOf = (middle: number, deviation: number): Kernel => ({
  middle,
  scale: (deviation * Math.sqrt(3)) / Math.PI,
});

export const shareBefore = ({ middle, scale }: Kernel, log: number): number =>
  1 / (1 + Math.exp((middle - log) / scale));

export const densityAtShare = ({ scale }: Kernel, share: number): number => (share * (1 - share)) / scale;

/** Prior for durations never seen: uniform on the logarithmic axis from 1 s to the limit of three hours. */
export const logRange = Math.log(3 * 3600);

/** The chance that the next run is like none before. Laplace's rule of succession has 1 / (runs + 2). */
export const chanceOfOutlier = (runs: number): number => 0.75 / (runs + 2);

/** A kernel is as wide as the distance within which this share of the runs lies, times `narrowing`. */
const neighbourShare = 0.35;
const narrowing = 0.7;
const widestKernel = 0.4;
const narrowestKernel = 0.05;
const leastLeft = 0.05;

/** Sums a kernel for each run and a flat part for durations never seen, which shrinks with every run. */
export function createSurvival(samples: readonly Sample[]) {
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
    /** How likely the run is to end now, per unit of the logarithm of its age. */
    hazard(ageMs: number) {
      const { ending, surviving } = at(ageMs);
      return ending / surviving;
    },
    surviving: (ageMs: number) => at(ageMs).surviving,
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
