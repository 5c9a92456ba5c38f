import { define } from './cli/command.ts';
import { root } from './cli/options.ts';
import { agent } from './commands/agent.ts';
import { completion } from './commands/completion.ts';
import { config } from './commands/config.ts';
import { doctor } from './commands/doctor.ts';
import { emulator } from './commands/emulator.ts';
import { explain } from './commands/explain.ts';
import { help } from './commands/help.ts';
import { list } from './commands/list.ts';
import { recover } from './commands/recover.ts';
import { result } from './commands/result.ts';
import { status } from './commands/status.ts';
import { trigger } from './commands/trigger.ts';
import { versionCommand } from './commands/version.ts';
import { watch } from './commands/watch.ts';

root
  .description(
    'Start an Automation run, follow it until it finishes, and get an exit code you can trust.',
  )
  .commandsGroup('Start and watch runs:')
  .addCommand(trigger)
  .addCommand(status)
  .addCommand(result)
  .addCommand(watch)
  .commandsGroup('Runs on this machine:')
  .addCommand(list)
  .addCommand(recover)
  .commandsGroup('Set up:')
  .addCommand(config)
  .addCommand(doctor)
  .addCommand(completion)
  .commandsGroup('Try and learn:')
  .addCommand(emulator)
  .addCommand(explain)
  .addCommand(help)
  .addCommand(versionCommand)
  .commandsGroup('Discontinued:')
  .addCommand(agent);

export const program = define(root, {
  whenBare: async (context) => (await import('./commands/overview.ts')).showOverview(context),
  examples: [
    ['runctl config', 'set the base URL, API key and project'],
    ['runctl trigger nightly --watch', 'start a run and follow it to its end'],
    ['runctl watch @last', 'follow the last run again'],
    ['runctl result nightly --field output', 'print the last nightly output'],
  ],
});
