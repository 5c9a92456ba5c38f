import { Argument, Command, CommanderError, Option } from 'commander';
import { version } from '../package.json';
import { addHelp, scenarioHelp } from './cli-help.ts';
import { createOption, duration, names, positive, whole, withOptions } from './cli-options.ts';
import { shells } from './completion/shell-line.ts';
import { settingKeys } from './config/setting-table.ts';
import type { Context } from './context.ts';
import { failWith } from './render/failure.ts';
import { errorTypes } from './runs/next-step.ts';
import { usageProblem } from './runs/problem.ts';

/** Runs one command line and returns the exit code. Never rejects: every way out of a command ends here. */
export async function runCli(argv: readonly string[], context: Context): Promise<number> {
  let code = 0;
  const done = async (exit: Promise<number>) => {
    code = await exit;
  };
  const asked = (argv[0] === 'help' ? argv[1] : argv[0]) ?? '';
  const program = createProgram(done, context, asked);
  // The help of a command that does not exist is no help.
  const isUnknown =
    /^[^-]/.test(asked) && !['help', ...program.commands.map((command) => command.name())].includes(asked);
  try {
    await program.parseAsync(isUnknown ? [asked] : argv.length === 0 ? ['help'] : argv, { from: 'user' });
    return code;
  } catch (error) {
    if (!(error instanceof CommanderError)) return failWith(error, argv, context);
    if (argv.length === 0) return await welcome(context);
    if (error.exitCode === 0) return 0;
    const command = program.commands.find((candidate) => candidate.name() === argv[0]);
    return failWith(wrongUsage(error, command), argv, context);
  }
}

/** `runctl` alone: after the help, where to begin. */
async function welcome(context: Context): Promise<number> {
  const { resolveSettings } = await import('./config/settings.ts');
  const { baseUrl } = await resolveSettings({}, context);
  if (baseUrl === undefined) {
    const { printNextStep } = await import('./render/output.ts');
    await printNextStep('it is not set up yet: `runctl config` asks for the address, the key and the project', context);
  }
  return 0;
}

function wrongUsage({ code, message }: CommanderError, command: Command | undefined) {
  const help = `see \`runctl ${command ? `${command.name()} ` : ''}--help\``;
  if (code === 'commander.help' && command) {
    const names = command.commands.map((sub) => sub.name()).join(', ');
    return usageProblem(`runctl ${command.name()} needs one of: ${names}`, help);
  }
  // What follows the = of an option that does not exist may be a key.
  const told = message
    .replace(/^error: /, '')
    .replace(/^command-argument value /, '')
    .replace(/(unknown option '[^=']*)=.*'$/m, "$1'")
    .replace(/ is invalid(?: for argument '(\w+)')?\. /, (_, name) => (name ? ` is no ${name}: ` : ' is invalid: '))
    .replace('Allowed choices are', 'it is one of');
  const [first = '', suggestion] = told.split('\n');
  const [, meant] = /Did you mean (.*)\?/.exec(suggestion ?? '') ?? [];
  return usageProblem(first.replace(/\.$/, ''), meant ? `did you mean \`${meant}\`?` : help);
}

type Done = (exit: Promise<number>) => Promise<void>;

/**
 * Every command and flag. Each action imports its command when it is called. Where one command is `asked` for, the
 * options of the others are left out: there are 150 of them, and to make them takes a tenth of a short command's time.
 */
export function createProgram(done: Done, context: Context, asked?: string): Command {
  const { stdout } = context;
  const isAsked = (name: string) => asked === undefined || asked === name;
  const withAsked: typeof withOptions = (command, ...groups) =>
    isAsked(command.name()) ? withOptions(command, ...groups) : command;
  const program = new Command('runctl')
    .description(
      'Starts runs of remote Automations exactly once, follows them to their end and tells the truth about it.',
    )
    .version(version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      // What commander refuses is told like every other problem.
      writeErr: () => {},
      getOutHelpWidth: () => stdout.columns,
      getOutHasColors: () => false,
    })
    .helpOption('-h, --help', 'show this help')
    .configureHelp({ subcommandTerm: nameAndArguments })
    // `config --profile x set` and `config set --profile x` mean the same.
    .enablePositionalOptions()
    .showHelpAfterError(false)
    .commandsGroup('Start and follow:');

  withAsked(program.command('trigger'), 'starting', 'following', 'download', 'output', 'events', 'settings')
    .description('start a run now; with --watch, follow it to its end')
    .argument('<automation...>', 'name, or <projectId>/<name>')
    .option('-w, --watch', 'follow the run to its end, then print its summary')
    .addOption(
      new Option(
        '--if-active <what>',
        'where a run is active: fail with 5, skip with 0, wait for its end and then start, or attach to it',
      )
        .choices(['fail', 'skip', 'wait', 'attach'])
        .default('fail')
        .helpGroup('Starting:'),
    )
    .addOption(
      createOption([
        '--rerun-on <types>',
        `with --watch: start again after these error types (${errorTypes.join(', ')})`,
        names,
      ]).helpGroup('Starting:'),
    )
    .addOption(
      createOption(['--max-reruns <n>', 'how often at the most (default: 1)', whole(0, 1000)]).helpGroup('Starting:'),
    )
    .action(async (automations, options) => {
      const { trigger } = await import('./commands/trigger.ts');
      await done(trigger(automations, checked(options), context));
    });

  withAsked(program.command('status'), 'run', 'patience', 'output', 'settings')
    .description('look at a run once')
    .argument('[run]', 'execution id, <projectId>/<name>/<id>, @last or <name>@last', '@last')
    .option('--exit-status', 'end with the code of the run, 124 while it is going')
    .action(async (run, options) => {
      const { status } = await import('./commands/status.ts');
      await done(status(run, checked(options), context));
    });

  withAsked(program.command('result'), 'run', 'patience', 'download', 'output', 'settings')
    .description("print a run's output, step summary and error")
    .argument('[run]', 'execution id, <projectId>/<name>/<id>, @last or <name>@last', '@last')
    .option('--exit-status', 'end with the code of the run, 124 while it is going')
    .action(async (run, options) => {
      const { result } = await import('./commands/result.ts');
      await done(result(run, checked(options), context));
    });

  withAsked(program.command('watch'), 'run', 'following', 'download', 'output', 'events', 'settings')
    .description('follow runs until every one has ended, then print their summaries')
    .argument('[run...]', 'runs as for status; - reads them from standard input, one a line')
    .option('--all', 'every run of the journal that has not ended')
    .option('--fail-fast', 'stop watching once a run did not complete, and end with its code')
    .action(async (runs, options) => {
      const { watch } = await import('./commands/watch.ts');
      await done(watch(runs, checked(options), context));
    });

  program.commandsGroup('Look back:');
  withAsked(program.command('list'), 'output', 'settings')
    .description('list the runs this machine knows of, newest first')
    .addOption(createOption(['--limit <n>', 'how many at the most (default: 20)', whole(1, 1_000_000)]))
    .option('-a, --automation <name>', 'only runs of this automation')
    .option('--state <state>', 'only runs last seen in this state')
    .option('--all-addresses', 'runs of other base addresses too')
    .action(async (options) => {
      const { list } = await import('./commands/list.ts');
      await done(list(checked(options), context));
    });

  withAsked(program.command('recover'), 'patience', 'output', 'settings')
    .description('settle triggers whose outcome is unknown, without starting a second run')
    .option('--dry-run', 'only list them')
    .addOption(
      createOption(['--max-age <duration>', 'older ones are not asked for again (default: 24h)', duration, 'maxAgeMs']),
    )
    .option('--forget', 'close those that are too old')
    .action(async (options) => {
      const { recover } = await import('./commands/recover.ts');
      await done(recover(checked(options), context));
    });

  program.commandsGroup('Set up:');
  const config = program.command('config').description('ask for the settings; or read and write them one by one');
  if (isAsked('config')) addConfigCommands(config, done, context);

  program
    .command('completion')
    .description('print the completion script of a shell')
    .addArgument(new Argument('<shell>').choices(shells))
    .action(async (shell) => {
      const { completion } = await import('./commands/completion.ts');
      await done(completion(shell, context));
    });

  program
    .commandsGroup('Try and learn:')
    .command('emulator')
    .description('the service itself on loopback, for rehearsing scripts and cron lines')
    .addOption(createOption(['--port <n>', 'port (default: 0, any that is free)', whole(0, 65_535)]))
    .option('--host <address>', 'loopback address to listen on')
    .option('--scenario <name|file>', 'a built-in one, or a JSON file', 'happy')
    .addOption(createOption(['--speed <factor>', "how much faster than real time the service's clock goes", positive]))
    .option('-q, --quiet', 'do not print the requests')
    .argument('[command...]', 'after --: run this against it, then end with its exit code')
    .addHelpText('after', () => scenarioHelp(stdout.columns))
    .action(async (command, options) => {
      const { emulator } = await import('./commands/emulator.ts');
      await done(emulator(command, options, context));
    });

  program
    .command('demo')
    .description('the whole tour in one command: emulator, trigger, watch, result')
    .action(async () => {
      const { demo } = await import('./commands/demo.ts');
      await done(demo(context));
    });

  program
    .command('explain')
    .description('what an exit code means and what to do')
    .argument('[code]', 'number or name')
    .option('--json', 'print one JSON document')
    .action(async (code, options) => {
      const { explain } = await import('./commands/explain.ts');
      await done(explain(code, options, context));
    });

  program.addHelpCommand(new Command('help').argument('[command]').description('show the help of a command'));
  program.commandsGroup('Discontinued:');
  const agent = program.command('agent').description('the Agent endpoints, which `runctl trigger` replaces');
  if (isAsked('agent')) addAgentCommands(agent, done, context);
  addHelp(program, () => stdout.columns);
  return program;
}

function nameAndArguments(command: Command): string {
  const words = command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? '…' : ''}`;
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  return [command.name(), ...words].join(' ');
}

function addAgentCommands(agent: Command, done: Done, context: Context): void {
  withOptions(agent.command('trigger'), 'starting', 'following', 'download', 'output', 'events', 'settings')
    .description('trigger an agent (discontinued: `runctl trigger` replaces it)')
    .argument('<agentId>', 'UUID')
    .option('--title <text>', 'title of the run')
    .option('--message <text>', 'message to the agent')
    .option('-w, --watch', 'follow the run to its end')
    .action(async (agentId, options) => {
      const { agentTrigger } = await import('./commands/agent.ts');
      await done(agentTrigger(agentId, checked(options), context));
    });
  withOptions(agent.command('status'), 'patience', 'output', 'settings')
    .description('look at an agent run once')
    .argument('<agentId>', 'UUID')
    .argument('<executionId>', 'UUID')
    .option('--exit-status', 'end with the code of the run, 124 while it is going')
    .action(async (agentId, executionId, options) => {
      const { agentStatus } = await import('./commands/agent.ts');
      await done(agentStatus(agentId, executionId, checked(options), context));
    });
  withOptions(agent.command('watch'), 'following', 'download', 'output', 'events', 'settings')
    .description('follow an agent run to its end')
    .argument('<agentId>', 'UUID')
    .argument('<executionId>', 'UUID')
    .action(async (agentId, executionId, options) => {
      const { agentWatch } = await import('./commands/agent.ts');
      await done(agentWatch(agentId, executionId, checked(options), context));
    });
}

function addConfigCommands(config: Command, done: Done, context: Context): void {
  const profile = () => new Option('--profile <name>', 'profile to read or write');
  config
    .addOption(profile())
    .helpCommand('help [command]', 'show the help of a command')
    .allowExcessArguments()
    .action(async (options, { args: [unknown] }) => {
      if (unknown !== undefined)
        throw usageProblem(`unknown command 'config ${unknown}'`, 'see `runctl config --help`');
      const { configGuide } = await import('./commands/config-guide.ts');
      await done(configGuide(options, context));
    });
  const json = () => new Option('--json', 'print one JSON document');
  config
    .command('get')
    .argument('<key>', settingKeys.join(', '))
    .description('print a setting')
    .addOption(profile())
    .addOption(json())
    .action(async (key, _, command) => {
      const { configGet } = await import('./commands/config.ts');
      await done(configGet(key, command.optsWithGlobals(), context));
    });
  config
    .command('set')
    .argument('<key>', settingKeys.join(', '))
    .argument('[value]')
    .description('store a setting; `set apiKey` asks for it, or reads it from a pipe')
    .addOption(profile())
    .action(async (key, value, _, command) => {
      const { configSet } = await import('./commands/config.ts');
      await done(configSet(key, value, command.optsWithGlobals(), context));
    });
  config
    .command('unset')
    .argument('<key>', settingKeys.join(', '))
    .description('remove a stored setting')
    .addOption(profile())
    .action(async (key, _, command) => {
      const { configUnset } = await import('./commands/config.ts');
      await done(configUnset(key, command.optsWithGlobals(), context));
    });
  withOptions(config.command('list'), 'settings')
    .description('show every setting in force and where it comes from')
    .addOption(json())
    .action(async (_, command) => {
      const { configList } = await import('./commands/config.ts');
      await done(configList(command.optsWithGlobals(), context));
    });
  config
    .command('path')
    .description('print the path of the config file')
    .addOption(json())
    .action(async (_, command) => {
      const { configPath } = await import('./commands/config.ts');
      await done(configPath(command.optsWithGlobals(), context));
    });
}

interface OutputChoice {
  json?: boolean;
  field?: string[];
  events?: boolean;
}

/** Options that contradict each other are refused before anything is sent. */
function checked<T extends OutputChoice>(options: T): T {
  const chosen = [options.json && '--json', options.field && '--field', options.events && '--events'].filter(Boolean);
  if (chosen.length > 1) throw usageProblem(`${chosen.join(' and ')} do not go together`);
  return options;
}
