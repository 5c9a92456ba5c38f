import { defineConfig } from 'vitest/config';
import { markdown } from './markdown.mts';

const { MUTATION_TESTS: tests = 'test' } = process.env;

/** The tests that a mutant is tried on: those without a server and a real clock between them and the source. */
export default defineConfig({
  plugins: [markdown],
  test: {
    root: `${import.meta.dirname}/..`,
    include: tests.split(' ').map((path) => (path.endsWith('.ts') ? path : `${path}/**/*.test.ts`)),
    exclude: ['test/{e2e,recipes,program}/**'],
    setupFiles: ['test/helpers/property-runs.ts', '.config/mutation-setup.mts'],
    // A test that waits for ever is ended by vitest, which takes less time than a new process of Stryker.
    testTimeout: 10_000,
  },
});
