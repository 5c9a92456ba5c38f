import { version } from '../package.json';

// The version is known before anything is loaded.
if (process.argv.length === 3 && (process.argv[2] === '--version' || process.argv[2] === '-V')) {
  process.stdout.write(`${version}\n`);
} else {
  void import('./process.ts').then(({ runProcess }) => runProcess());
}
