import { readFileSync, writeSync } from 'node:fs';
import { version as undici } from 'undici/package.json';
import { version } from '../package.json';
import { keepCompiled } from './compile-cache.ts';

const [first, ...rest] = process.argv.slice(2);

// What must be there at once is answered before the program is loaded.
if ((first === '--version' || first === '-V') && rest.length === 0) {
  answer(`${version}\n`);
} else if (first === '--version' && rest.join() === '--json') {
  const platform = `${process.platform}-${process.arch}`;
  answer(`${JSON.stringify({ runctl: version, node: process.versions.node, platform, undici })}\n`);
} else if (first === '__complete') {
  void import('./completion/answer.ts').then(({ answerCompletion }) => {
    const outline = JSON.parse(readFileSync(`${import.meta.dirname}/outline.json`, 'utf8'));
    answer(answerCompletion(rest, outline, process.env));
  });
} else {
  keepCompiled(process.env);
  void import('./process.ts').then(({ runProcess }) => runProcess());
}

/** Writes without process.stdout, which takes longer to load than all the rest. */
function answer(text: string): void {
  try {
    writeSync(1, text);
  } catch {
    // Nobody reads it.
  }
}
