import type { CommandUnknownOpts, Option } from 'commander';
import { version } from '../package.json';
import { detailsOf, type Example } from '../src/cli/command.ts';
import { commonOptions } from '../src/cli/options.ts';
import { program } from '../src/program.ts';
import { exitCodes, repeatAdvice } from '../src/run/exit-codes.ts';
import { settingTable } from '../src/settings/table.ts';

/** The man page in roff, generated from the command definitions, the setting table and the exit codes. */
export function manualPage(): string {
  const help = program.createHelp();
  const lines = [
    `.TH RUNCTL 1 "" "runctl ${version}"`,
    '.SH NAME',
    'runctl \\- trigger remote Automations and watch their runs',
    '.SH SYNOPSIS',
    '.B runctl',
    '.I command',
    '.RI [ argument "...] [" option ...]',
    '.SH DESCRIPTION',
    text(program.description()),
    '.SH COMMANDS',
    ...leavesOf(program).flatMap((command) => [
      `.SS ${quoted(help.commandUsage(command))}`,
      sentence(help.commandDescription(command)),
      ...help
        .visibleArguments(command)
        .flatMap((argument) => (argument.description ? entry(argument.name(), argument.description) : [])),
      ...optionEntries(command.options),
      ...termsOf(command),
    ]),

    '.SH COMMON OPTIONS',
    'Every command takes them.',
    ...optionEntries(commonOptions),
    '.SH EXAMPLES',
    ...examplesOf(program).flatMap(([line, about]) => entry(line, about)),
    '.SH ENVIRONMENT',
    ...Object.values(settingTable).flatMap(({ env, description }) => entry(env.join(', '), description)),
    '.SH EXIT STATUS',
    ...exitCodes.flatMap((row) => {
      const { code, outcome, meaning, advice } = row;
      return entry(`${code} ${outcome}`, `${meaning}. ${advice} ${repeatAdvice(row)}`.trim());
    }),
  ];
  return `${lines.join('\n')}\n`;
}

const leavesOf = (command: CommandUnknownOpts): CommandUnknownOpts[] =>
  command.commands.flatMap((inner) => (inner.commands.length > 0 ? leavesOf(inner) : [inner]));

const examplesOf = (command: CommandUnknownOpts): readonly Example[] => [
  ...(detailsOf(command).examples ?? []),
  ...command.commands.flatMap(examplesOf),
];

/** What the help of a command explains below its options. */
function termsOf(command: CommandUnknownOpts): string[] {
  const { terms } = detailsOf(command);
  return terms ? ['.PP', `${terms.title}:`, ...terms.rows.flatMap(([term, about]) => entry(term, about))] : [];
}

const optionEntries = (options: readonly Option[]) =>
  options.flatMap(({ flags, description }) => entry(flags, description));

const entry = (term: string, description: string) => ['.TP', `.B ${quoted(term)}`, sentence(description)];

const sentence = (words: string) => text(words.endsWith('.') ? words : `${words}.`);

/** Escapes text for roff: one sentence per line, no ligatures, and no line that begins with a request. */
function text(words: string): string {
  const escaped = words.replaceAll('\\', '\\e').replaceAll('-', '\\-').replaceAll('–', '\\(en').replaceAll('…', '...');
  return escaped
    .replace(/`([^`]+)`/g, '\\fB$1\\fR')
    .replace(/\. (?=[A-Z`])/g, '.\n')
    .replace(/^(?=[.'])/gm, '\\&');
}

const quoted = (words: string) => `"${text(words).replaceAll('"', '\\(dq')}"`;
