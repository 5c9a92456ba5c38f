// `npm test`: everything at once, because the tests of processes mostly wait and leave a core to the others.
import { spawn } from 'node:child_process';

/** Resolves to the command if it failed. What it writes is shown at once, or if it failed. */
function run(command, args, { shown }) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: shown === 'at once' ? 'inherit' : ['ignore', 'pipe', 'pipe'] });
    const chunks = [];
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => chunks.push(chunk));
    child.on('error', reject);
    child.on('close', (code) => {
      if (code !== 0) process.stderr.write(Buffer.concat(chunks));
      resolve(code === 0 ? [] : [[command, ...args].join(' ')]);
    });
  });
}

const failed = await Promise.all([
  run('vitest', ['run', '--config', '.config/vitest.all.mts'], { shown: 'at once' }),
  run('biome', ['check'], { shown: 'if it failed' }),
  run('tsc', ['--noEmit'], { shown: 'if it failed' }),
]);
if (failed.flat().length > 0) {
  console.error(`Failed: ${failed.flat().join(', ')}.`);
  process.exitCode = 1;
}
