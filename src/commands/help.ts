import type { Command } from 'commander';
import { exitTable } from '../core/exit-codes.ts';
import { Problem } from '../core/report.ts';
import { type SettingRow, settingTable } from '../settings/table.ts';
import { hintFor } from '../text/near-word.ts';
import { type CommandResult, done, subcommandNamed } from './command.ts';

/** Topics that aren't commands. */
export const topics = new Map<string, (program: Command) => string>([
  ['exit-codes', exitCodesText],
  ['flags', flagsText],
]);

/** Prints the help on a command, on exit codes, or on the flags and settings of every command. */
export async function help(topic: readonly string[], program: Command): Promise<CommandResult> {
  const text = topics.get(topic[0] ?? '')?.(program);
  if (text !== undefined) return done({ help: text }, text);
  // commander prints it, as for --help.
  commandNamed(topic, program).outputHelp();
  return { reports: [], show: 'text' };
}

function commandNamed(topic: readonly string[], program: Command): Command {
  let command = program;
  for (const word of topic) {
    const child = subcommandNamed(command, word);
    if (!child) {
      const others = command === program ? topics.keys() : [];
      const names = [...command.commands.map((each) => each.name()), ...others];
      const hint = names.length > 0 ? `: ${hintFor(word, names)}` : '';
      throw new Problem(`there is no help on "${word}"${hint}`);
    }
    command = child;
  }
  return command;
}

function exitCodesText(): string {
  const rows = exitTable.map(
    ({ code, name, meaning }) => `${String(code).padStart(3)}  ${name.padEnd(19)}  ${meaning}`,
  );
  return `${rows.join('\n')}

May a trigger of one automation be typed again? After 2 and 5 to 11 it may: no
run was started (with an --idempotency-key, by this command). After any other
code, also one that isn't listed, it may start another run, except with the
same --idempotency-key within 24 hours. 1, 3, 4, 13, 14, 15 and 124 mean that
there is a run.`;
}

function flagsText(program: Command): string {
  const helper = program.createHelp();
  const rowsOf = (items: (readonly [term: string, about: string])[]) => {
    const width = Math.max(...items.map(([term]) => term.length));
    return items.map(([term, about]) => helper.formatItem(term, width, about, helper)).join('\n');
  };
  const settings = Object.entries<SettingRow>(settingTable).map(([name, row]) => {
    const sources = [...row.env, ...(row.default ? [`default: ${row.default}`] : [])].join(', ');
    return [name, sources ? `${row.description} (${sources})` : row.description] as const;
  });
  return `Common flags, before or after the command:
${rowsOf(program.options.map(({ flags, description }) => [flags, description]))}

Settings of a profile (runctl config), and their environment variables, which
win unless --profile names the profile. Flags win over both:
${rowsOf(settings)}`;
}
