import { defineConfig } from 'vitest/config';
import { markdown } from './markdown.mts';

const { MUTATION_TESTS: tests = 'test' } = process.env;
// Whole commands take long for each mutant, so only those that are asked for are tried.
const slow = tests === 'test' ? 'e2e,recipes,program' : 'e2e,recipes';

/** The tests that a mutant is tried on. */
export default defineConfig({
  plugins: [markdown],
  test: {
    root: `${import.meta.dirname}/..`,
    include: tests.split(' ').map((path) => (path.endsWith('.ts') ? path : `${path}/**/*.test.ts`)),
    exclude: [`test/{${slow}}/**`],
    setupFiles: ['test/helpers/property-runs.ts', '.config/mutation-setup.mts'],
    // A test that waits for ever is ended by vitest, which takes less time than a new process of Stryker.
    testTimeout: 10_000,
  },
});
