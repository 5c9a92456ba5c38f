// `npm run stress -- histories [deviations]`: every history of two commands in which up to so many things go wrong (4 by
// default, minutes), played by test/start/exploration.ts, and thousands of random ones.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const vitest = join(root, 'node_modules/vitest/vitest.mjs');
const [deviations = '4'] = process.argv.slice(2);
const tests = ['exploration', 'model'].map((name) => `test/start/${name}.test.ts`);
const { status } = spawnSync(process.execPath, [vitest, 'run', '--project', 'unit', ...tests], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, DEVIATIONS: deviations, SIMULATIONS: process.env.SIMULATIONS ?? '5000' },
});
process.exitCode = status;
