import { readFileSync } from 'node:fs';
import { version } from '../package.json';

const [first, ...rest] = process.argv.slice(2);

// What must be there at once is answered before the program is loaded.
if (rest.length === 0 && (first === '--version' || first === '-V')) {
  process.stdout.write(`${version}\n`);
} else if (first === '__complete') {
  void import('./completion/answer.ts').then(({ answerCompletion }) => {
    const outline = JSON.parse(readFileSync(`${import.meta.dirname}/outline.json`, 'utf8'));
    process.stdout.write(answerCompletion(rest, outline, process.env));
  });
} else {
  void import('./process.ts').then(({ runProcess }) => runProcess());
}
