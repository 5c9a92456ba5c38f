import { tmpdir } from 'node:os';
import { defineConfig } from 'vitest/config';
import { markdown } from './.config/markdown.mts';
import { memoryFolder } from './test/helpers/memory-folder.mts';

/** Tests of whole commands, run by the sources in the process of the test. */
const program = ['test/program/**/*.test.ts'];
/** Tests of the built program, of recipes and of anything else that is a process. */
const e2e = ['test/e2e/**/*.test.ts', 'test/recipes/**/*.test.ts'];

/** What happens before the first test of a process. */
export const forProcesses = ['test/helpers/build-when-stale.ts', 'test/helpers/trust-authority.ts'];

// V8 is made for programs that run for long: it begins with a tiny heap, forgets compiled functions between two files,
// optimizes the WebAssembly of undici's parser, and in Node 20 spends a quarter of the CPU time on optimizing what then runs
// for seconds.
const execArgv = ['--min-semi-space-size=16', '--no-flush-bytecode', '--liftoff-only'];
if (process.versions.node.startsWith('20.')) execArgv.push('--interrupt-budget=1000000');

// Tests say who may read what they make, whatever the umask of whoever runs them.
process.umask(0o022);

// No test needs the authorities of the machine, which every process of Node would parse when it starts.
delete process.env.NODE_EXTRA_CA_CERTS;

export default defineConfig({
  plugins: [markdown],
  test: {
    // A test body that never ran, or that checks nothing, is red.
    expect: { requireAssertions: true },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Not threads: some tests set the umask, which belongs to the whole process.
    pool: 'forks',
    execArgv,
    isolate: false,
    // Sources that did not change are not translated again, which is a sixth of the work.
    experimental: { fsModuleCache: true },
    reporters: ['default', './test/helpers/missing-reporter.ts'],
    env: { TZ: 'UTC', TMPDIR: process.env.TMPDIR ?? memoryFolder() ?? tmpdir() },
    setupFiles: 'test/helpers/property-runs.ts',
    coverage: { include: ['src/**/*.ts'] },
    // More than a machine has cores, as most tests wait for a clock or a process. Each costs a second of CPU time to load what
    // is tested.
    maxWorkers: 6,
    projects: [
      { extends: true, test: { name: 'e2e', include: e2e, globalSetup: forProcesses } },
      { extends: true, test: { name: 'program', include: program } },
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...program, ...e2e],
        },
      },
    ],
  },
});
