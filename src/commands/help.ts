import type { Command } from 'commander';
import { exitTable } from '../run/exit-codes.ts';
import { Problem } from '../run/report.ts';
import { nearWord } from '../text/near-word.ts';
import type { CommandResult } from './command.ts';

/** Prints the help of a command, or of the exit codes. */
export async function help(topic: readonly string[], program: Command): Promise<CommandResult> {
  const text = topic[0] === 'exit-codes' ? exitCodesText() : commandHelp(topic, program);
  return {
    reports: [{ kind: 'done', exit: 'ok', text: text.trimEnd(), document: { help: text } }],
    show: 'text',
  };
}

function commandHelp(topic: readonly string[], program: Command): string {
  let command = program;
  for (const word of topic) {
    const child = command.commands.find((each) => each.name() === word || each.alias() === word);
    if (!child) {
      const names = [...command.commands.map((each) => each.name()), 'exit-codes'];
      const near = nearWord(word, names);
      const hint = near ? `did you mean ${near}?` : `there are ${names.join(', ')}`;
      throw new Problem(`there is no help on "${word}": ${hint}`);
    }
    command = child;
  }
  return helpOf(command);
}

/** With what `addHelpText` has added, which `helpInformation` leaves out. */
function helpOf(command: Command): string {
  let text = '';
  const writeOut = (part: string) => {
    text += part;
  };
  command.configureOutput({ writeOut }).outputHelp();
  return text;
}

function exitCodesText(): string {
  const rows = exitTable.map(
    ({ code, name, meaning }) => `${String(code).padStart(3)}  ${name.padEnd(20)} ${meaning}`,
  );
  return `${rows.join('\n')}

May a trigger of one automation be typed again? After 2 and 5 to 11 it may: no run was started
(with an --idempotency-key, by this command). After any other code, also one that isn't listed,
only with an --idempotency-key, and within 24 hours. 13, 14 and 124 mean that there is a run.`;
}
