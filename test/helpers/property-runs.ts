import fc from 'fast-check';

/** How often a property is tried: a quarter of `runs` while somebody develops, all of them where `CI` is set. */
export const propertyRuns = (runs: number): number => (process.env.CI ? runs : Math.ceil(runs / 4));

fc.configureGlobal({ numRuns: propertyRuns(100) });
