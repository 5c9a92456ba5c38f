import { writeSync } from 'node:fs';
import { version } from '../package.json';

const argv = process.argv.slice(2);
const [first, ...rest] = argv;

if ((first === '--version' || first === '-V') && rest.length === 0) {
  answer(`${version}\n`);
} else {
  import('./process.ts')
    .then(({ runProcess }) => runProcess())
    .catch((error: Error) =>
      fail(70, `the installation is broken: ${error.message.split('\n')[0]}`),
    );
}

/** Writes without process.stdout, which takes longer to load than everything else. */
function answer(text: string): void {
  try {
    writeSync(1, text);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'EPIPE') fail(74, `the output couldn't be written: ${message}`);
  }
}

function fail(exitCode: number, message: string): void {
  process.exitCode = exitCode;
  try {
    writeSync(2, `runctl: ${message}\n`);
  } catch {
    // Only the exit code can say it.
  }
}
