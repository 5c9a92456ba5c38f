import type { Command, Option } from 'commander';
import { version } from '../package.json';
import type { CommandDefinition, Example } from '../src/cli/define-command.ts';
import { toCommander } from '../src/cli/to-commander.ts';
import { program } from '../src/program.ts';
import { exitCodes, repeatAdvice } from '../src/run/exit-codes.ts';
import { settingTable } from '../src/settings/table.ts';

/** The man page in roff, generated from the command definitions, the setting table and the exit codes. */
export function manualPage(): string {
  const root = toCommander(program, { columns: () => 80, write() {} });
  const help = root.createHelp();
  const lines = [
    `.TH RUNCTL 1 "" "runctl ${version}"`,
    '.SH NAME',
    'runctl \\- trigger remote Automations and watch their runs',
    '.SH SYNOPSIS',
    '.B runctl',
    '.I command',
    '.RI [ argument "...] [" option ...]',
    '.SH DESCRIPTION',
    text(program.about),
    '.SH COMMANDS',
    ...leavesOf(root).flatMap((command) => [
      `.SS ${quoted(help.commandUsage(command))}`,
      sentence(help.commandDescription(command)),
      ...help
        .visibleArguments(command)
        .flatMap((argument) => (argument.description ? entry(argument.name(), argument.description) : [])),
      ...optionEntries(command.options.filter((option) => !isShared(option))),
      ...termsOf(command.name()),
    ]),

    '.SH COMMON OPTIONS',
    'To see which of them a command takes, run',
    '.BI "runctl " command " \\-\\-help" .',
    ...optionEntries(sharedOptions(leavesOf(root).flatMap(({ options }) => options))),
    '.SH EXAMPLES',
    ...examplesOf(program).flatMap(([line, about]) => entry(line, about)),
    '.SH ENVIRONMENT',
    ...Object.values(settingTable).flatMap(({ env, about }) => entry(env.join(', '), about)),
    '.SH EXIT STATUS',
    ...exitCodes.flatMap(({ code, outcome, meaning, advice, repeat }) =>
      entry(`${code} ${outcome}`, `${meaning}. ${advice} ${repeatAdvice[repeat]}`),
    ),
  ];
  return `${lines.join('\n')}\n`;
}

const leavesOf = (command: Command): Command[] =>
  command.commands.flatMap((inner) => (inner.commands.length > 0 ? leavesOf(inner) : [inner]));

const examplesOf = ({ examples = [], commands = [] }: CommandDefinition): Example[] => [
  ...examples,
  ...commands.flatMap(examplesOf),
];

/** Options that many commands share are under their own heading in the help. The man page describes them once. */
const isShared = ({ helpGroupHeading, long }: Option) => helpGroupHeading !== undefined || long === '--help';

/** What the help of a command explains below its options. */
function termsOf(name: string): string[] {
  const { terms } = program.commands?.find((command) => command.name === name) ?? {};
  return terms ? ['.PP', `${terms.title}:`, ...terms.rows.flatMap(([term, about]) => entry(term, about))] : [];
}

/** The shared options, each once. */
const sharedOptions = (options: readonly Option[]) => [
  ...new Map(options.filter(isShared).map((option) => [option.flags, option])).values(),
];

const optionEntries = (options: readonly Option[]) =>
  options.flatMap(({ flags, description }) => entry(flags, description));

const entry = (term: string, about: string) => ['.TP', `.B ${quoted(term)}`, sentence(about)];

const sentence = (about: string) => text(about.endsWith('.') ? about : `${about}.`);

/** Escapes text for roff: one sentence per line, no ligatures, and no line that begins with a request. */
function text(words: string): string {
  const escaped = words.replaceAll('\\', '\\e').replaceAll('-', '\\-').replaceAll('–', '\\(en').replaceAll('…', '...');
  return escaped
    .replace(/`([^`]+)`/g, '\\fB$1\\fR')
    .replace(/\. (?=[A-Z`])/g, '.\n')
    .replace(/^(?=[.'])/gm, '\\&');
}

const quoted = (words: string) => `"${text(words).replaceAll('"', '\\(dq')}"`;
