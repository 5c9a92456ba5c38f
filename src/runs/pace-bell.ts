/** What one earlier run says of the next on the logarithmic axis: a logistic bell, which needs no table and has heavy tails. */
export interface Bell {
  middle: number;
  scale: number;
}

/** The standard deviation of the logistic distribution is π/√3 times its scale. */
export const bellOf = (middle: number, deviation: number): Bell => ({
  middle,
  scale: (deviation * Math.sqrt(3)) / Math.PI,
});

/** The share of the bell that lies before `log`. */
export const before = ({ middle, scale }: Bell, log: number): number => 1 / (1 + Math.exp((middle - log) / scale));

/** The density of the bell where this share of it lies before. */
export const densityAfter = ({ scale }: Bell, share: number): number => (share * (1 - share)) / scale;

/** The service ends a run after three hours: what was never seen is as likely in every octave from a second to that. */
export const logRange = Math.log(3 * 3600);

/** Three quarters of a surprise are counted beside the runs that were seen (Laplace's rule of succession counts one). */
export const chanceOfSurprise = (runs: number): number => 0.75 / (runs + 2);
