import { defineConfig } from 'vitest/config';

/** The tests that a mutant is tried on: those without a server and a real clock between them and the source. */
export default defineConfig({
  test: {
    root: `${import.meta.dirname}/..`,
    include: ['test/**/*.test.ts'],
    exclude: ['test/{e2e,recipes,program}/**'],
    setupFiles: 'test/helpers/property-runs.ts',
    testTimeout: 30_000,
  },
});
