import { expect, test } from 'vitest';
import { exitCodeOf } from '../../src/run/exit-codes.ts';
import { withBareMachine } from '../recipes/bare-machine.ts';

// The troubles of docs/troubleshooting.md whose cause is around the process.

test.each([
  ['an option that Node refuses', 'NODE_OPTIONS=--nosuch runctl version', 9],
  ['a file that Node cannot load', 'NODE_OPTIONS=--require=/nosuch runctl version', 1],
  ['the same without it', 'NODE_OPTIONS=--nosuch; export NODE_OPTIONS; env -u NODE_OPTIONS runctl version', 0],
  ['timeout', 'timeout 1 runctl trigger nightly --watch', 124],
  [
    'timeout that keeps the exit code',
    'timeout --preserve-status 1 runctl trigger nightly --watch',
    exitCodeOf('interrupted_terminated'),
  ],
  [
    'a limit of the address space',
    'ulimit -v 4000000 && runctl trigger nightly',
    // Since Node 24, WebAssembly does without the address space that it reserved before.
    Number.parseInt(process.versions.node, 10) < 24 ? exitCodeOf('unavailable') : 0,
  ],
  [
    'the same limit with the option of the page',
    'ulimit -v 4000000 && NODE_OPTIONS=--disable-wasm-trap-handler runctl trigger nightly',
    0,
  ],
])('%s: %s exits with %i', async (_, script, code) => {
  const { run, settings } = await withBareMachine(
    { automations: { nightly: { duration: '1h' } } },
    { isProcess: true },
  );
  expect(await run(['bash', '--norc', '-c', script], { env: settings })).toMatchObject({ code });
});
