import { writeSync } from 'node:fs';
import { Module } from 'node:module';
import { version as undici } from 'undici/package.json';
import { version } from '../package.json';
import { loadCompiled } from './compiled-code.ts';

const argv = process.argv.slice(2);
const [first, ...rest] = argv;

// Answered before the program is loaded.
if ((first === '--version' || first === '-V') && rest.length === 0) {
  answer(`${version}\n`);
} else if (first === '--version' && rest.join() === '--json') {
  const platform = `${process.platform}-${process.arch}`;
  answer(`${JSON.stringify({ runctl: version, node: process.versions.node, platform, undici })}\n`);
} else {
  void loadProgram().then(({ runProcess }) => runProcess());
}

async function loadProgram(): Promise<Pick<typeof import('./process.ts'), 'runProcess'>> {
  const compiled = loadCompiled('./process.cjs') as typeof import('./process.ts') | undefined;
  if (compiled) return compiled;
  keepCompiledCode();
  return import('./process.ts');
}

/**
 * Where the build was made by another version: Node 22.8 and newer keep the code that they compile of the program, beside
 * the program itself. Whoever can write there can change the program anyway; where nobody can, nothing is kept.
 */
function keepCompiledCode(): void {
  const { enableCompileCache } = Module as { enableCompileCache?(folder: string): unknown };
  enableCompileCache?.(`${import.meta.dirname}/.cache`);
}

/** Writes without process.stdout, which takes longer to load than all the rest. */
function answer(text: string): void {
  try {
    writeSync(1, text);
  } catch {
    // Nobody reads it.
  }
}
