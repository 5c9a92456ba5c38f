import type { Command } from 'commander';
import { examples } from './cli-examples.ts';

/** Adds its examples to the help of each command, and to all of it where to read on. */
export function addHelp(program: Command): void {
  for (const command of [program, ...program.commands]) {
    const name = command === program ? '' : command.name();
    command.addHelpText('after', () => examplesOf(name, command.createHelp().helpWidth ?? 80));
  }
  program.addHelpText(
    'afterAll',
    '\nSettings: `runctl config list`. Exit codes: `runctl explain`.\nA try without an account: `runctl demo`.',
  );
}

/** Command lines and what they do, beside one another where that fits. */
function examplesOf(name: string, columns: number): string {
  const rows = examples[name];
  if (!rows) return '';
  const width = Math.max(...rows.map(([command]) => command.length));
  const fits = rows.every(([, about]) => 2 + width + 2 + about.length <= columns);
  const lines = rows.map(([command, about]) =>
    fits ? `  ${command.padEnd(width)}  ${about}` : `  ${command}\n      ${about}`,
  );
  return `\nExamples:\n${lines.join('\n')}`;
}
