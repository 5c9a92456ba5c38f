import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { version } from '../package.json';
import type { CommandResult } from './commands/command.ts';
import type { Shell } from './commands/completion.ts';
import type { CommonFlags, Context } from './context.ts';
import { type ScenarioName, scenarios } from './emulator/scenarios.ts';
import { Problem } from './run/report.ts';
import { parseDuration } from './text/duration.ts';
import { nearWord } from './text/near-word.ts';

/** Runs a command that was typed. `name` is its name, such as `config set`. */
export type Execute = (
  name: string,
  flags: CommonFlags,
  action: (context: Context) => Promise<CommandResult>,
) => Promise<void>;

/** The whole command line: every command, argument and flag with its help. */
export function createProgram(execute: Execute): Command {
  const program = withCommonFlags(new Command('runctl'))
    .description(
      'Start runs of Automations, follow them until they finish, and trust the exit code.',
    )
    .version(version, '--version', 'print the version')
    .enablePositionalOptions()
    .helpCommand(false)
    .addHelpText(
      'after',
      `
Try it without an account:  runctl emulator -- runctl trigger nightly --watch
Exit codes:                 runctl help exit-codes`,
    );
  const act: Act = (command, action) => {
    command.action((...words: unknown[]) => {
      const args = words.slice(0, command.registeredArguments.length);
      const flags = command.optsWithGlobals();
      return execute(nameOf(command), flags, (context) =>
        action(args as never, flags as never, context),
      );
    });
  };
  declareTrigger(program, act);
  declareStatus(program, act);
  declareWatch(program, act);
  declareResult(program, act);
  declareList(program, act);
  declareRecover(program, act);
  declareConfig(program, act);
  declareDoctor(program, act);
  declareEmulator(program, act);
  declareCompletion(program, act);
  declareAgent(program, act);
  declareHelp(program, act);
  return program;
}

/** The action of a command gets its arguments, its flags and the context. */
type Act = <Args extends unknown[], Flags>(
  command: Command,
  action: (args: Args, flags: Flags, context: Context) => Promise<CommandResult>,
) => void;

/** Declares a command. `parent` is the program, or a command with commands of its own. */
function addCommand(parent: Command, usage: string, description: string): Command {
  const command = parent.command(usage).description(description);
  return withCommonFlags(command.copyInheritedSettings(parent).allowExcessArguments(false));
}

function declareTrigger(program: Command, act: Act): void {
  const trigger = addCommand(program, 'trigger <automation...>', 'start a run of each automation')
    .option('-w, --watch', 'follow the runs until they finish, and exit with their code')
    .addOption(
      new Option(
        '--if-active <action>',
        'if a run is active already: fail, skip, or wait for it to finish',
      )
        .choices(['fail', 'skip', 'wait'])
        .default('fail'),
    )
    .option('--idempotency-key <key>', 'start one run at most with this key, within 24h', parseKey)
    .option('--dry-run', 'check arguments and settings, and send nothing');
  addFollowFlags(trigger);
  addExamples(trigger, [
    ['runctl trigger nightly --watch', 'start a run and follow it'],
    ['runctl trigger nightly --if-active wait', 'start it once the active run has finished'],
    ['runctl trigger nightly --idempotency-key "nightly-$(date +%F)"', 'one run a day at most'],
  ]);
  act(trigger, async ([names]: [string[]], flags: TriggerTyped, context) =>
    (await import('./commands/trigger.ts')).trigger(names, following(flags), context),
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
  act(status, async ([run]: [string], flags: StatusTyped, context) =>
    (await import('./commands/status.ts')).status(
      run,
      { ...flags, giveUpAfterMs: flags.giveUpAfter },
      context,
    ),
  );
}

function declareWatch(program: Command, act: Act): void {
  const watch = addCommand(program, 'watch [run...]', 'follow runs until they finish').option(
    '--all',
    'every unfinished run of the last 24h that this machine knows',
  );
  addFollowFlags(watch);
  addExamples(watch, [
    ['runctl watch nightly', 'its last run'],
    ['runctl watch --all', 'every unfinished run, for example after a reboot'],
  ]);
  act(watch, async ([names]: [string[]], flags: FollowTyped & { all?: boolean }, context) =>
    (await import('./commands/watch.ts')).watch(names, following(flags), context),
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
  act(result, async ([run]: [string], { giveUpAfter }: StatusTyped, context) =>
    (await import('./commands/result.ts')).result(run, { giveUpAfterMs: giveUpAfter }, context),
  );
}

function declareList(program: Command, act: Act): void {
  const list = addCommand(
    program,
    'list [automation]',
    'list triggers and runs of this machine, newest first',
  )
    .alias('ls')
    .option('-n, --limit <count>', 'how many (default: 20, all with --since)', parseCount)
    .option(
      '--status <list>',
      `only these, separated by commas: ${listedStatuses.join(', ')}`,
      parseStatuses,
    )
    .option('--since <time>', 'only what started since a duration (2d), date or time', parseSince)
    .option('--latest', 'one of each automation: its unfinished run, or the newest')
    .option('--offline', 'ask the service nothing')
    .option(...giveUpFlag('5s'));
  addExamples(list, [
    ['runctl list nightly', 'its runs'],
    ['runctl list --since 1d --status FAILED,UNKNOWN', 'what went wrong today'],
  ]);
  act(list, async ([name]: [string | undefined], flags: ListTyped, context) => {
    const { limit, status: statuses, latest, offline, since, giveUpAfter: giveUpAfterMs } = flags;
    const sinceMs = since?.(context.clock.nowMs());
    const listFlags = { limit, statuses, latest, offline, sinceMs, giveUpAfterMs };
    return (await import('./commands/list.ts')).list(name, listFlags, context);
  });
}

function declareRecover(program: Command, act: Act): void {
  const recover = addCommand(
    program,
    'recover [automation]',
    'resolve triggers whose response was lost: find the run, or start it if the request never arrived',
  ).option('-w, --watch', 'follow the runs until they finish, and exit with their code');
  addFollowFlags(recover, '30s to resolve, 10m to follow');
  addExamples(recover, [
    ['runctl recover', 'every trigger that is unknown'],
    ['runctl recover nightly --watch', 'and follow its run'],
  ]);
  act(recover, async ([name]: [string | undefined], flags: FollowTyped, context) =>
    (await import('./commands/recover.ts')).recover(name, following(flags), context),
  );
}

function declareConfig(program: Command, act: Act): void {
  const config = addCommand(
    program,
    'config',
    'ask for base URL, API key and project, check and store them',
  );
  // commander takes a wrong command for an argument, because `config` alone is a command, too.
  config.allowExcessArguments();
  act(config, async (_, __, context) => {
    const [word] = config.args;
    if (word === undefined) return (await import('./commands/config.ts')).config(context);
    const names = config.commands.map((command) => command.name());
    const near = nearWord(word, names);
    const hint = near ? `did you mean ${near}?` : `there are ${names.join(', ')}`;
    // The word isn't repeated, because it may be an API key.
    throw new Problem(`config has no such command: ${hint}`);
  });
  addExamples(config, [
    ['runctl config', 'set up the default profile'],
    ['runctl config set baseUrl https://api.example.com', 'store one setting'],
    ['runctl config set apiKey < key.txt', 'the API key is never an argument'],
    ['runctl config set project <uuid> --profile eu', 'store it in another profile'],
  ]);
  const get = addCommand(config, 'get <setting>', "print a setting's value");
  act(get, async ([name]: [string], _, context) =>
    (await import('./commands/config.ts')).configGet(name, context),
  );
  const set = addCommand(
    config,
    'set <setting> [value]',
    'store a setting (apiKey: asks, or reads a pipe)',
  );
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
  act(doctor, async (_, __, context) => (await import('./commands/doctor.ts')).doctor(context));
}

function declareEmulator(program: Command, act: Act): void {
  const emulator = addCommand(
    program,
    'emulator [command...]',
    'run a local copy of the service, to try scripts',
  )
    .addOption(
      new Option('--scenario <name>', 'what happens')
        .choices(Object.keys(scenarios))
        .default('happy'),
    )
    .option('--port <number>', 'the port to listen on (default: any free one)', parsePort)
    .option('--speed <factor>', 'how much faster than real time its clock runs', parseSpeed);
  const rows = Object.entries(scenarios).map(
    ([name, { description }]) => `  ${name.padEnd(14)} ${description}`,
  );
  emulator.addHelpText('after', `\nScenarios:\n${rows.join('\n')}`);
  addExamples(emulator, [
    ['runctl emulator -- runctl trigger nightly --watch', 'try runctl without an account'],
    ['runctl emulator --scenario bad-day --speed 600 -- ./nightly.sh', 'try a script on a bad day'],
  ]);
  act(emulator, async ([words]: [string[]], flags: EmulatorTyped, context) =>
    (await import('./commands/emulator.ts')).emulator(words, flags, context),
  );
}

function declareCompletion(program: Command, act: Act): void {
  const completion = addCommand(
    program,
    'completion',
    'print a shell completion script',
  ).addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish']));
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
  const start = addCommand(
    agent,
    'trigger <agentId>',
    'trigger an Agent (calls no longer start a run)',
  )
    .option('--message <text>', 'the message of the request')
    .option('--title <text>', 'the title of the request')
    .option('--idempotency-key <key>', 'the key of the request', parseKey);
  act(start, async ([agentId]: [string], flags: AgentTyped, context) =>
    (await import('./commands/agent.ts')).agentTrigger(agentId, flags, context),
  );
  const agentStatus = addCommand(
    agent,
    'status <agentId> <executionId>',
    "print an Agent execution's status",
  );
  act(agentStatus, async ([agentId, executionId]: [string, string], _, context) =>
    (await import('./commands/agent.ts')).agentStatus(agentId, executionId, context),
  );
}

function declareHelp(program: Command, act: Act): void {
  const help = addCommand(
    program,
    'help [topic...]',
    'show the help of a command, or of exit-codes',
  );
  act(help, async ([topic]: [string[]]) =>
    (await import('./commands/help.ts')).help(topic, program),
  );
}

/** Statuses as `list --status` takes them. */
const listedStatuses = [
  'RUNNING',
  'COMPLETED',
  'FAILED',
  'TIMED_OUT',
  'CANCELLED',
  'UNKNOWN',
  'NOT_STARTED',
  'NOT_FOUND',
];

interface FollowTyped extends CommonFlags {
  timeout?: number;
  interval?: number;
  giveUpAfter?: number;
  watch?: boolean;
}
interface TriggerTyped extends FollowTyped {
  ifActive: 'fail' | 'skip' | 'wait';
  idempotencyKey?: string;
  dryRun?: boolean;
}
interface StatusTyped extends CommonFlags {
  exitStatus?: boolean;
  giveUpAfter?: number;
}
interface ListTyped extends CommonFlags {
  limit?: number;
  status?: string[];
  since?: (nowMs: number) => number;
  latest?: boolean;
  offline?: boolean;
  giveUpAfter?: number;
}
interface EmulatorTyped extends CommonFlags {
  scenario: ScenarioName;
  port?: number;
  speed?: number;
}
interface AgentTyped extends CommonFlags {
  message?: string;
  title?: string;
  idempotencyKey?: string;
}

const following = <Flags extends FollowTyped>(flags: Flags) => ({
  ...flags,
  timeoutMs: flags.timeout,
  intervalMs: flags.interval,
  giveUpAfterMs: flags.giveUpAfter,
});

/** The name of a command without that of the program. */
function nameOf(command: Command): string {
  const { parent } = command;
  return parent?.parent ? `${nameOf(parent)} ${command.name()}` : command.name();
}

/** Every command declares them, because commander reads `-wq` only if it knows both. */
function withCommonFlags(command: Command): Command {
  return command
    .option('--json', 'print one JSON document a line')
    .option('--field <path>', 'print one value of the document, such as status or runctl.outcome')
    .option('-q, --quiet', 'no progress, no notes, no summaries of runs that completed')
    .option('--debug', 'print every request and response (without the API key)')
    .option('--no-color', 'no colors')
    .option('-p, --project <uuid>', 'the project of a name')
    .option('--profile <name>', 'the profile with the settings')
    .option('--base-url <url>', "the service's address")
    .option('--api-key-file <path>', 'the file with the API key (-: stdin)')
    .helpOption('-h, --help', 'show help');
}

function addFollowFlags(command: Command, patience = '10m'): void {
  command
    .option(
      '--timeout <duration>',
      'stop following after this long (default: 3h15m, 0: never)',
      parseTime,
    )
    .option(
      '--interval <duration>',
      'the pause between polls (default: 3s to 15s, by age)',
      parseInterval,
    )
    .option(...giveUpFlag(patience));
}

const giveUpFlag = (patience: string) =>
  [
    '--give-up-after <duration>',
    `how long to go on without a valid response (default: ${patience})`,
    parseTime,
  ] as const;

function addExamples(command: Command, examples: [line: string, about: string][]): void {
  const rows = examples.map(([line, about]) => `  ${line}\n      ${about}`);
  command.addHelpText('after', `\nExamples:\n${rows.join('\n')}`);
}

function parseTime(text: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined) return ms;
  const isNumber = /^\d+$/.test(text);
  throw new InvalidArgumentError(
    isNumber
      ? `Give a unit: ${text}s or ${text}m?`
      : 'Use a duration like 500ms, 30s, 1h30m or 2d (24d at most).',
  );
}

function parseInterval(text: string): number {
  const ms = parseTime(text);
  if (ms < 1000) throw new InvalidArgumentError('Use 1s or more.');
  return ms;
}

function parseKey(text: string): string {
  if (/^[\x21-\x7e]{1,255}$/.test(text)) return text;
  throw new InvalidArgumentError('Use 1 to 255 visible ASCII characters.');
}

const wholeNumber = (min: number, max: number) => (text: string) => {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= min && value <= max) return value;
  throw new InvalidArgumentError(`Use a number from ${min} to ${max}.`);
};
const parseCount = wholeNumber(1, 1_000_000);
const parsePort = wholeNumber(0, 65_535);

function parseSpeed(text: string): number {
  const value = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && value > 0 && value <= 100_000) return value;
  throw new InvalidArgumentError('Use a number above 0.');
}

function parseStatuses(text: string): string[] {
  const words = text.split(',').map((word) => word.trim().toUpperCase());
  const wrong = words.find((word) => !listedStatuses.includes(word));
  if (wrong === undefined) return words;
  throw new InvalidArgumentError(`Use ${listedStatuses.join(', ')}, separated by commas.`);
}

/** A duration, or a local date or time. */
function parseSince(text: string): (nowMs: number) => number {
  const ms = parseDuration(text, { isUnlimited: true });
  if (ms !== undefined) return (nowMs) => nowMs - ms;
  const [, hours, minutes] = /^(\d|[01]\d|2[0-3]):([0-5]\d)$/.exec(text) ?? [];
  if (hours) return (nowMs) => new Date(nowMs).setHours(Number(hours), Number(minutes), 0, 0);
  const [, day] = /^\d{4}-\d{2}-(\d{2})([T ]\d{2}:\d{2}(:\d{2})?)?$/.exec(text) ?? [];
  const date = new Date(text.length === 10 ? `${text}T00:00` : text);
  // 30 February would be 2 March.
  if (day && date.getDate() === Number(day)) return () => date.getTime();
  throw new InvalidArgumentError('Use a duration (2d), a date (2026-11-28) or a time (07:30).');
}
