import fc from 'fast-check';

/** How often a property is tried: a tenth of `runs` while somebody develops, all of them where `CI` is set. */
export const propertyRuns = (runs: number): number => (process.env.CI ? runs : Math.ceil(runs / 10));

/** For a test that is all computing: it takes as much longer as the machine has other work. */
export const propertyTimeoutMs = 120_000;

fc.configureGlobal({ numRuns: propertyRuns(100) });
