import { Command, Help, Option, type OptionValues } from 'commander';
import { version } from '../package.json';
import type { AgentTriggerFlags } from './commands/agent.ts';
import type { CommandResult } from './commands/command.ts';
import { type Shell, shells } from './commands/completion.ts';
import type { EmulatorFlags } from './commands/emulator.ts';
import type { ListFlags } from './commands/list.ts';
import type { StatusFlags } from './commands/status.ts';
import type { TriggerFlags } from './commands/trigger.ts';
import type { WatchFlags } from './commands/watch.ts';
import type { CommonFlags, Context } from './context.ts';
import { Problem } from './core/report.ts';
import { scenarios } from './emulator/scenarios.ts';
import {
  listedStatuses,
  parseCount,
  parseInterval,
  parseKey,
  parsePort,
  parseSince,
  parseSpeed,
  parseStatuses,
  parseTime,
} from './flag-values.ts';
import { hintFor } from './text/near-word.ts';

/** Runs a command that was typed. `name` is its name, such as `config set`. */
export type Execute = (
  name: string,
  flags: CommonFlags,
  action: (context: Context) => Promise<CommandResult>,
) => Promise<void>;

/** The flags of all commands. Each command declares some of them. */
type Flags = CommonFlags &
  TriggerFlags &
  WatchFlags &
  StatusFlags &
  ListFlags &
  EmulatorFlags &
  AgentTriggerFlags;

/** What commander has read, as the commands take it: with units, and times as moments. */
const flagsOf = (typed: OptionValues, { clock }: Context): Flags => ({
  ...typed,
  timeoutMs: typed.timeout,
  intervalMs: typed.interval,
  giveUpAfterMs: typed.giveUpAfter,
  statuses: typed.status,
  sinceAtMs: typed.since?.(clock.nowMs()),
});

/** The action of a command gets its arguments, its flags and the context. */
type Act = <Args extends unknown[]>(
  command: Command,
  action: (args: Args, flags: Flags, context: Context) => Promise<CommandResult>,
) => void;

/** The whole command line: every command, argument and flag with its help. */
export function createProgram(execute: Execute): Command {
  const program = withCommonFlags(new Command('runctl'))
    .version(version, '--version', 'print the version')
    .description('Start Automation runs, follow them until they finish, and trust the exit code.')
    .usage('<command> [flags]')
    .enablePositionalOptions()
    .helpCommand(false)
    .configureHelp({ subcommandTerm, formatHelp })
    .addHelpText(
      'after',
      `
A run is an automation's name (its last run), @last, or the beginning of an id.
Without an account: runctl emulator -- runctl trigger nightly --watch`,
    );
  const act: Act = (command, action) => {
    command.action((...words: unknown[]) => {
      const args = words.slice(0, command.registeredArguments.length);
      // The last one counts, where commander's optsWithGlobals takes the first.
      const typed = { ...program.opts(), ...command.parent?.opts(), ...command.opts() };
      return execute(nameOf(command), typed, (context) =>
        action(args as never, flagsOf(typed, context), context),
      );
    });
  };
  program.commandsGroup('Runs:');
  declareTrigger(program, act);
  declareWatch(program, act);
  declareStatus(program, act);
  declareResult(program, act);
  declareList(program, act);
  declareRecover(program, act);
  program.commandsGroup('Setup:');
  declareConfig(program, act);
  declareDoctor(program, act);
  declareCompletion(program, act);
  program.commandsGroup('More:');
  declareEmulator(program, act);
  declareAgent(program, act);
  declareHelp(program, act);
  return program;
}

/** Declares a command. `parent` is the program, or a command with commands of its own. */
function addCommand(parent: Command, usage: string, description: string): Command {
  const command = parent.command(usage).description(description);
  const args = usage.split(' ').slice(1);
  command
    .usage([...args, '[flags]'].join(' '))
    .allowExcessArguments(false)
    .helpCommand(false);
  return withCommonFlags(command);
}

const subcommandTerm = (command: Command) =>
  [[command.name(), ...command.aliases()].join(', '), command.usage().replace(/ ?\[flags\] ?/, '')]
    .join(' ')
    .trim();

function declareTrigger(program: Command, act: Act): void {
  const trigger = addCommand(program, 'trigger <automation...>', 'start a run of each automation')
    .option(...watchFlag)
    .addOption(
      new Option('--if-active <action>', 'what to do if a run is active (skip: exit with 0)')
        .choices(['fail', 'skip', 'wait'])
        .default('fail'),
    )
    .option('--idempotency-key <key>', 'start one run at most with this key, within 24h', parseKey)
    .option('--dry-run', 'check arguments and settings, and send nothing');
  addCommonWatchFlags(trigger);
  addExamples(trigger, [
    ['runctl trigger nightly --watch', 'start a run and follow it'],
    ['runctl trigger nightly --if-active wait', 'start it after the active run'],
    ['runctl trigger nightly --idempotency-key "night-$(date +%F)"', 'once a day'],
  ]);
  act(trigger, async ([names]: [string[]], flags, context) =>
    (await import('./commands/trigger.ts')).trigger(names, flags, context),
  );
}

function declareStatus(program: Command, act: Act): void {
  const status = addCommand(program, 'status <run>', "print a run's current status")
    .option('--exit-status', "exit with the run's code (16: not finished)")
    .option(...giveUpFlag('30s'));
  addExamples(status, [
    ['runctl status nightly', 'its last run'],
    ['runctl status @last --field status', 'one value, for a script'],
  ]);
  addRunHelp(status);
  act(status, async ([run]: [string], flags, context) =>
    (await import('./commands/status.ts')).status(run, flags, context),
  );
}

function declareWatch(program: Command, act: Act): void {
  const watch = addCommand(program, 'watch [run...]', 'follow runs until they finish').option(
    '--all',
    'every unfinished run of the last 24h',
  );
  addCommonWatchFlags(watch);
  addExamples(watch, [
    ['runctl watch nightly', 'its last run'],
    ['runctl watch --all', 'after a reboot'],
  ]);
  addRunHelp(watch);
  act(watch, async ([names]: [string[]], flags, context) =>
    (await import('./commands/watch.ts')).watch(names, flags, context),
  );
}

function declareResult(program: Command, act: Act): void {
  const result = addCommand(program, 'result <run>', "print a run's output").option(
    ...giveUpFlag('30s'),
  );
  addExamples(result, [
    ['runctl result nightly > report.txt', 'the output, as it was sent'],
    ['runctl result nightly --field error.message', 'why it failed'],
  ]);
  addRunHelp(result);
  act(result, async ([run]: [string], flags, context) =>
    (await import('./commands/result.ts')).result(run, flags, context),
  );
}

function declareList(program: Command, act: Act): void {
  const list = addCommand(program, 'list [automation]', "list this machine's triggers and runs")
    .alias('ls')
    .option('-n, --limit <count>', 'how many (default: 20, all with --since)', parseCount)
    .addOption(
      offering(
        listedStatuses,
        new Option('--status <list>', 'only these, separated by commas').argParser(parseStatuses),
      ),
    )
    .option('--since <time>', 'since 2d, 2026-11-28, "2026-11-28 07:30" or 07:30', parseSince)
    .option('--latest', 'one of each automation: unfinished, else newest')
    .option('--offline', "don't ask the service")
    .option(...giveUpFlag('5s'));
  addExamples(list, [
    ['runctl list nightly', 'its runs'],
    ['runctl list --since 1d --status FAILED,UNKNOWN', 'what went wrong today'],
  ]);
  act(list, async ([name]: [string | undefined], flags, context) =>
    (await import('./commands/list.ts')).list(name, flags, context),
  );
}

function declareRecover(program: Command, act: Act): void {
  const recover = addCommand(
    program,
    'recover [automation]',
    'after a lost response: find the run, or start it',
  ).option(...watchFlag);
  addCommonWatchFlags(recover, '30s, 10m to follow');
  addExamples(recover, [
    ['runctl recover', 'every unknown trigger'],
    ['runctl recover nightly --watch', "nightly's, and follow its run"],
  ]);
  act(recover, async ([name]: [string | undefined], flags, context) =>
    (await import('./commands/recover.ts')).recover(name, flags, context),
  );
}

function declareConfig(program: Command, act: Act): void {
  const config = addCommand(program, 'config', 'ask for base URL, API key and project');
  // commander takes a wrong command for an argument, because `config` alone is a command, too.
  config.allowExcessArguments().usage('[command] [flags]');
  act(config, async (_, __, context) => {
    const [word] = config.args;
    if (word === undefined) return (await import('./commands/config.ts')).config(context);
    const names = config.commands.map((command) => command.name());
    // The word isn't repeated, because it may be an API key.
    throw new Problem(`unknown config command: ${hintFor(word, names)}`);
  });
  addExamples(config, [
    ['runctl config', 'the default profile'],
    ['runctl config set baseUrl https://api.example.com', 'store one setting'],
    ['runctl config set apiKey < key.txt', 'never an argument'],
    ['runctl config --profile eu', 'another profile'],
    ['runctl config set profile eu', 'from now on, that one'],
  ]);
  const get = addCommand(config, 'get <setting>', "print a setting's value");
  act(get, async ([name]: [string], _, context) =>
    (await import('./commands/config.ts')).configGet(name, context),
  );
  const set = addCommand(config, 'set <setting> [value]', 'store a setting (apiKey: ask, or pipe)');
  act(set, async ([name, value]: [string, string | undefined], _, context) =>
    (await import('./commands/config.ts')).configSet(name, value, context),
  );
  const unset = addCommand(config, 'unset <setting>', 'remove a setting');
  act(unset, async ([name]: [string], _, context) =>
    (await import('./commands/config.ts')).configUnset(name, context),
  );
  const all = addCommand(config, 'list', 'print every setting and where it comes from');
  act(all, async (_, __, context) => (await import('./commands/config.ts')).configList(context));
}

function declareDoctor(program: Command, act: Act): void {
  const doctor = addCommand(program, 'doctor', 'check settings, connection, API key and journal');
  addExamples(doctor, [
    ['runctl doctor', 'it starts no run'],
    ['runctl doctor --profile eu', 'another one'],
  ]);
  act(doctor, async (_, __, context) => (await import('./commands/doctor.ts')).doctor(context));
}

function declareEmulator(program: Command, act: Act): void {
  const emulator = addCommand(
    program,
    'emulator [command...]',
    'run a local copy of the service until Ctrl-C, or for a command',
  )
    .addOption(
      new Option('--scenario <name>', 'what happens')
        .choices(Object.keys(scenarios))
        .default('happy'),
    )
    .option('--port <number>', 'the port to listen on (default: any free one)', parsePort)
    .option('--speed <factor>', 'let runs age this much faster (default: 1)', parseSpeed);
  emulator.usage('[flags] [-- command...]');
  emulator.addHelpText('after', () => {
    const helper = new Help();
    const rows = Object.entries(scenarios).map(([name, { description }]) =>
      helper.formatItem(name, 13, description, helper),
    );
    return `\nScenarios:\n${rows.join('\n')}`;
  });
  addExamples(emulator, [
    ['runctl emulator -- runctl trigger nightly --watch', 'no account needed'],
    ['runctl emulator --scenario bad-day --speed 600 -- ./nightly.sh', 'a bad day'],
  ]);
  act(emulator, async ([words]: [string[]], flags, context) =>
    (await import('./commands/emulator.ts')).emulator(words, flags, context),
  );
}

function declareCompletion(program: Command, act: Act): void {
  const completion = addCommand(program, 'completion <shell>', 'print a shell completion script');
  completion.registeredArguments[0]?.choices(shells);
  addExamples(completion, [
    ['source <(runctl completion bash)', 'in ~/.bashrc'],
    ['source <(runctl completion zsh)', 'in ~/.zshrc, after compinit'],
    ['runctl completion fish | source', 'in ~/.config/fish/config.fish'],
  ]);
  act(completion, async ([shell]: [Shell]) =>
    (await import('./commands/completion.ts')).completion(shell),
  );
}

function declareAgent(program: Command, act: Act): void {
  const agent = addCommand(program, 'agent', 'use the discontinued Agent endpoints');
  agent.usage('<command> [flags]');
  addExamples(agent, [
    ['runctl agent trigger $AGENT --message "hello"', 'what its endpoint answers'],
    ['runctl agent status $AGENT $EXECUTION', 'an old run'],
  ]);
  const trigger = addCommand(
    agent,
    'trigger <agentId>',
    "call an Agent's trigger, which starts no run any more",
  )
    .option('--message <text>', "the request's message")
    .option('--title <text>', "the request's title")
    .option('--idempotency-key <key>', "the request's key", parseKey);
  act(trigger, async ([agentId]: [string], flags, context) =>
    (await import('./commands/agent.ts')).agentTrigger(agentId, flags, context),
  );
  const status = addCommand(agent, 'status <agentId> <executionId>', "print a run's status");
  act(status, async ([agentId, executionId]: [string, string], _, context) =>
    (await import('./commands/agent.ts')).agentStatus(agentId, executionId, context),
  );
}

function declareHelp(program: Command, act: Act): void {
  const help = addCommand(
    program,
    'help [topic...]',
    'show help on a command, exit-codes or flags',
  );
  act(help, async ([topic]: [string[]]) =>
    (await import('./commands/help.ts')).help(topic, program),
  );
}

/** The name of a command without that of the program. */
function nameOf(command: Command): string {
  const { parent } = command;
  return parent?.parent ? `${nameOf(parent)} ${command.name()}` : command.name();
}

/** The values that help and the Tab key offer. Unlike `choices`, it leaves the parser as it is. */
const offering = (values: string[], option: Option) =>
  Object.assign(option, { argChoices: values });

/** The fields that scripts ask for most. */
const offeredFields = [
  'executionId',
  'status',
  'creditsCharged',
  'error.message',
  'output',
  'runctl.outcome',
  'runctl.exitCode',
  'runctl.trigger.started',
];

/** The heading of a command's own flags. */
const ownFlags = 'Flags:';

/** Those that every command takes. */
const commonFlags = [
  ['--json', 'print one JSON document a line'],
  ['--field <name>', 'print one value of it, such as status or runctl.outcome'],
  ['-q, --quiet', 'no progress and notes, and of watched runs only failures'],
  ['--debug', 'print heads of requests and responses, not the API key'],
  ['--no-color', 'no colors'],
  ['-p, --project <uuid>', 'the project of automations named without one'],
  ['--profile <name>', 'the profile with the settings'],
  ['--base-url <url>', "the service's address"],
  ['--api-key-file <path>', 'the file with the API key (-: stdin)'],
] as const;
// All commands share them: to make them takes longer than all else that is declared here.
const commonOptions = commonFlags.map(([flags, about]) => {
  const option = new Option(flags, about);
  return option.long === '--field' ? offering(offeredFields, option) : option;
});

/** Every command declares them, because commander reads `-wq` only if it knows both. */
function withCommonFlags(command: Command): Command {
  for (const option of commonOptions) command.addOption(option);
  return command
    .optionsGroup(ownFlags)
    .helpOption('-h, --help', 'show help')
    .addHelpText('after', '\nCommon flags, such as --json, --field and --quiet: runctl help flags');
}

/** The help of a command only points to the common flags. */
function formatHelp(command: Command, helper: Help): string {
  helper.minWidthToWrap = 20; // with the default of 40, terminals below 80 columns get no wrapping
  helper.visibleOptions = ({ options }) =>
    options.filter(({ helpGroupHeading }) => helpGroupHeading === ownFlags);
  return Help.prototype.formatHelp.call(helper, command, helper);
}

const watchFlag = ['-w, --watch', 'follow the runs, and exit with their code'] as const;

function addCommonWatchFlags(command: Command, patience = '10m'): void {
  command
    .option(
      '--timeout <duration>',
      'how long to wait and to follow (3h15m; 0: no limit)',
      parseTime,
    )
    .option('--interval <duration>', 'pause between polls (default: 3s to 15s)', parseInterval)
    .option(...giveUpFlag(patience));
}

const giveUpFlag = (patience: string) =>
  [
    '--give-up-after <duration>',
    `how long to keep retrying (default: ${patience})`,
    parseTime,
  ] as const;

/** What `<run>` may be. */
function addRunHelp(command: Command): void {
  command.addHelpText(
    'after',
    `
A run is an automation's name (its last run on this machine), @last, the
beginning of an id, or <projectId>/<name>/<executionId>, which works everywhere.`,
  );
}

/** The lines of a shell, each with a comment. */
function addExamples(command: Command, examples: [line: string, about: string][]): void {
  const rows = examples.map(([line, about]) => `  ${line.padEnd(44)}  # ${about}`);
  command.addHelpText('after', `\nExamples:\n${rows.join('\n')}`);
}
