import type { Command } from 'commander';
import { builtInScenarios } from '../emulator/scenarios.ts';
import { wrap } from '../render/wrap.ts';
import { examples } from './examples.ts';

/** Adds its examples to the help of each command, and to all of it where to read on. */
export function addHelp(program: Command, columns: () => number): void {
  for (const command of [program, ...program.commands]) {
    const name = command === program ? '' : command.name();
    command.addHelpText('after', () => examplesOf(name, columns()));
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
    fits
      ? `  ${command.padEnd(width)}  ${about}`
      : `  ${command}\n      ${wrap(about.split(' '), { columns, indent: 6 })}`,
  );
  return `\nExamples:\n${lines.join('\n')}`;
}

const sample = `{
  "automations": { "nightly": { "duration": "40m", "outcome": ["FAILED", "COMPLETED"], "output": "..." } },
  "faults": [{ "on": "status", "chance": 0.3, "do": "reset" }],
  "rateLimit": { "requests": 5, "window": "10s" },
  "credits": 100
}`;

/** The scenarios that come with the emulator, and what a file of one's own looks like. */
export function scenarioHelp(columns: number): string {
  const width = Math.max(...builtInScenarios.map(({ name }) => name.length));
  const lines = builtInScenarios.map(
    ({ name, about }) => `  ${name.padEnd(width)}  ${wrap(about.split(' '), { columns, indent: width + 4 })}`,
  );
  const file = sample.replaceAll(/^/gm, '  ');
  return `\nBuilt-in scenarios:\n${lines.join('\n')}\n\nA file of your own, in which everything may be left out:\n${file}`;
}
