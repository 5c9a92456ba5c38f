// `npm test`: lint and types beside the tests, which leave a core idle while they wait. Arguments go to the tests.
import { spawn } from 'node:child_process';

/** Shows what a check wrote when it has ended, for the tests write all the time. Resolves to the command if it failed. */
function check(command, ...args) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] }).on('error', reject);
    const chunks = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => chunks.push(chunk));
    child.on('close', (code) => {
      if (code !== 0) process.stderr.write(Buffer.concat(chunks));
      resolve(code === 0 ? [] : [command]);
    });
  });
}

function runTests() {
  return new Promise((resolve, reject) => {
    const child = spawn('vitest', ['run', ...process.argv.slice(2)], { stdio: 'inherit' }).on('error', reject);
    child.on('close', (code) => resolve(code === 0 ? [] : ['vitest']));
  });
}

const failed = (await Promise.all([check('biome', 'check'), check('tsc', '--noEmit'), runTests()])).flat();
if (failed.length > 0) {
  console.error(`Failed: ${failed.join(', ')}.`);
  process.exitCode = 1;
}
