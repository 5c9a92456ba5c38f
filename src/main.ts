import { fstatSync, readFileSync, writeSync } from 'node:fs';
import module from 'node:module';
import { version as undici } from 'undici/package.json';
import { version } from '../package.json';

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
  keepCompiledCode();
  void import('./process.ts').then(({ runProcess }) => runProcess());
}

/**
 * Node 22.8 and newer keep the code that they compile of the program, beside the program itself: whoever can write there can
 * change the program anyway. Where the folder cannot be written, nothing is kept.
 */
function keepCompiledCode(): void {
  const { enableCompileCache } = module as { enableCompileCache?(folder: string): unknown };
  enableCompileCache?.(`${import.meta.dirname}/.cache`);
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
