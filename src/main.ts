import { fstatSync, readFileSync, writeSync } from 'node:fs';
import { version as undici } from 'undici/package.json';
import { version } from '../package.json';
import { useCompileCache } from './compile-cache.ts';

/** A fingerprint of all the files of this build. */
declare const buildId: string;

const usageCode = 2;
/** V8 throws away code that has not run for a while. */
const longUseSeconds = 60;
const argv = process.argv.slice(2);
const [first, ...rest] = argv;
const help = ['--help', '-h'].includes(argv.at(-1) ?? '') ? helpOf(argv.slice(0, -1)) : undefined;

// What must be there at once is answered before the program is loaded.
if ((first === '--version' || first === '-V') && rest.length === 0) {
  answer(`${version}\n`);
} else if (first === '--version' && rest.join() === '--json') {
  const platform = `${process.platform}-${process.arch}`;
  answer(`${JSON.stringify({ runctl: version, node: process.versions.node, platform, undici })}\n`);
} else if (first === '__complete') {
  void import('./completion/answer.ts').then(({ answerCompletion }) => {
    answer(answerCompletion(rest, built('outline.json'), process.env));
  });
} else if (help !== undefined) {
  answer(help);
} else {
  useKept();
  void import('./process.ts').then(({ runProcess }) => runProcess());
}

/** What is compiled is kept for the next time, but not for a typing error, nor when most of it has been thrown away. */
function useKept(): void {
  const command = /^[a-z]+$/.test(first ?? '') ? `${first}` : 'other';
  const build = `${buildId}-${process.version}-${process.arch}`;
  const keep = useCompileCache({ env: process.env, build, command });
  process.on('exit', (code) => {
    if (code !== usageCode && process.uptime() < longUseSeconds) keep();
  });
}

/** The help of a command as the build printed it. On a terminal the program prints it, to fit its width. */
function helpOf(words: readonly string[]): string | undefined {
  if (fstatSync(1).isCharacterDevice() || words.some((word) => word.startsWith('-'))) return undefined;
  return built('help.json')[words.join(' ')];
}

function built(name: string) {
  return JSON.parse(readFileSync(`${import.meta.dirname}/${name}`, 'utf8'));
}

/** Writes without process.stdout, which takes longer to load than all the rest. */
function answer(text: string): void {
  try {
    writeSync(1, text);
  } catch {
    // Nobody reads it.
  }
}
