import { Argument, Command } from 'commander';
import { version } from '../../package.json';
import { shells } from '../completion/shell-line.ts';
import { wireAgent } from './agent-commands.ts';
import { wireConfig } from './config-commands.ts';
import { addHelp, formatItem } from './help.ts';
import { wireCompletion, wireDemo, wireEmulator, wireExplain } from './learning-commands.ts';
import { wireList, wireRecover, wireResult, wireStatus, wireTrigger, wireWatch } from './run-commands.ts';
import type { Wire, Wiring } from './wiring.ts';

/**
 * The command line: every command by its group. Where one command is `asked` for, the options of the others are left
 * out: there are 150 of them, and to make them takes a tenth of a short command's time.
 */
export function createProgram(wiring: Wiring, asked?: string): Command {
  const { stdout } = wiring.context;
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
    .configureHelp({ subcommandTerm: nameAndArguments, formatItem })
    // `config --profile x set` and `config set --profile x` mean the same.
    .enablePositionalOptions()
    .showHelpAfterError(false);

  const add = (name: string, about: string, wire: Wire, ...words: Argument[]) => {
    const command = program.command(name).description(about);
    for (const word of words) command.addArgument(word);
    if (asked === undefined || asked === name) wire(command, wiring);
  };
  const run = () =>
    new Argument('[run]', 'execution id, <projectId>/<name>/<id>, @last or <name>@last').default('@last');

  program.commandsGroup('Start and follow:');
  add(
    'trigger',
    'start a run now; with --watch, follow it to its end',
    wireTrigger,
    new Argument('<automation...>', 'name, or <projectId>/<name>'),
  );
  add('status', 'look at a run once', wireStatus, run());
  add('result', "print a run's output, step summary and error", wireResult, run());
  add(
    'watch',
    'follow runs until every one has ended, then print their summaries',
    wireWatch,
    new Argument('[run...]', 'runs as for status; - reads them from standard input, one a line'),
  );

  program.commandsGroup('Look back:');
  add('list', 'list the runs this machine knows of, newest first', wireList);
  add('recover', 'settle triggers whose outcome is unknown, without starting a second run', wireRecover);

  program.commandsGroup('Set up:');
  add('config', 'ask for the settings; or read and write them one by one', wireConfig);
  add('completion', 'print the completion script of a shell', wireCompletion, new Argument('<shell>').choices(shells));

  program.commandsGroup('Try and learn:');
  add(
    'emulator',
    'the service itself on loopback, for rehearsing scripts and cron lines',
    wireEmulator,
    new Argument('[command...]', 'after --: run this against it, then end with its exit code'),
  );
  add('demo', 'the whole tour in one command: emulator, trigger, watch, result', wireDemo);
  add('explain', 'what an exit code means and what to do', wireExplain, new Argument('[code]', 'number or name'));
  program.addHelpCommand(new Command('help').argument('[command]').description('show the help of a command'));

  program.commandsGroup('Discontinued:');
  add('agent', 'the Agent endpoints, which `runctl trigger` replaces', wireAgent);
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
