// `npm test`: the tests of all projects as one, so that a worker that has loaded the program takes whichever file is next.
import { defineConfig } from 'vitest/config';
import config, { forProcesses } from '../vitest.config.mts';

const { projects: _, ...test } = config.test ?? {};

export default defineConfig({
  ...config,
  test: { ...test, root: `${import.meta.dirname}/..`, include: ['test/**/*.test.ts'], globalSetup: forProcesses },
});
