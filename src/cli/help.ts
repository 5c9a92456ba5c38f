import { type Command, Help } from 'commander';
import { builtInScenarios } from '../emulator/scenarios.ts';
import { wrap } from '../render/wrap.ts';
import { examples } from './examples.ts';

const readOn = [
  'Settings: `runctl config list`. Exit codes: `runctl explain`.',
  'A try without an account: `runctl demo`.',
];

/** Adds its examples to the help of each command, and to all of it where to read on. */
export function addHelp(program: Command, columns: () => number): void {
  for (const command of [program, ...program.commands]) {
    const name = command === program ? '' : command.name();
    command.addHelpText('after', () => examplesOf(name, columns()));
  }
  program.addHelpText(
    'afterAll',
    () => `\n${readOn.map((line) => wrap(line.split(' '), { columns: columns() })).join('\n')}`,
  );
}

/** An item and what it means: below it where there is no room beside it, which commander would run over the edge. */
export function formatItem(term: string, width: number, about: string, help: Help): string {
  const { helpWidth: columns = 80, minWidthToWrap } = help;
  if (about === '' || columns - width - 4 >= minWidthToWrap)
    return Help.prototype.formatItem.call(help, term, width, about, help);
  return `  ${wrap(term.split(' '), { columns, indent: 4, taken: 2 })}\n      ${wrap(about.split(' '), { columns, indent: 6 })}`;
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
  "automations": {
    "nightly": { "duration": "40m", "outcome": ["FAILED", "COMPLETED"] },
    "*": { "steps": { "count": 5 }, "output": "..." }
  },
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
  return `\nBuilt-in scenarios:\n${lines.join('\n')}\n\nA file of your own, all of it optional:\n${file}`;
}
