import { writeSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { version } from '../package.json';

const [first, ...rest] = process.argv.slice(2);

if (first === '--version' && rest.length === 0) {
  printVersion();
} else {
  // From Node 22 on.
  (nodeModule as { enableCompileCache?(): void }).enableCompileCache?.();
  import('./process.ts')
    .then(({ runProcess }) => runProcess())
    .catch((error: Error) => {
      process.exitCode = 70;
      writeSync(2, `runctl: the installation is broken: ${error.message.split('\n')[0]}\n`);
    });
}

/** Without process.stdout, which takes longer to load than everything else here. */
function printVersion(): void {
  try {
    writeSync(1, `${version}\n`);
  } catch (error) {
    process.exitCode = (error as NodeJS.ErrnoException).code === 'EPIPE' ? 141 : 74;
  }
}
