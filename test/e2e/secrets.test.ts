import { expect, test } from 'vitest';
import { environment, leaked, patience, written } from '../helpers/leaks.ts';
import { mapConcurrently } from '../helpers/map-concurrently.ts';
import { networkFaults } from '../helpers/network-faults.ts';
import { runProcess } from '../helpers/run-process.ts';
import { runProgram } from '../helpers/run-program.ts';

const asProcesses = ['unknown authority', 'proxy 407'];

test('under every fault on the way to the service nothing is leaked, with --debug', async () => {
  const leaks = await mapConcurrently(Object.entries(networkFaults), async ([name, startService]) => {
    const env = environment((await startService()).env);
    const run = asProcesses.includes(name) ? runProcess : runProgram;
    const ended = await run(['trigger', 'nightly', '--debug', ...patience], { env });
    expect(ended.stderr).toContain('debug: #1 POST');
    return [name, leaked(written(ended, env))];
  });
  expect(leaks.filter(([, spelt]) => spelt?.length)).toEqual([]);
}, 60_000);
