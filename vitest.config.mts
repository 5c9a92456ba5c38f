import { defineConfig } from 'vitest/config';

// It adds 50 ms to every start of Node, and no test needs it.
delete process.env.NODE_EXTRA_CA_CERTS;

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    env: { TZ: 'UTC' },
    // A test that checks nothing fails.
    expect: { requireAssertions: true },
    // Otherwise one core is left idle, half of two.
    maxWorkers: '100%',
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
