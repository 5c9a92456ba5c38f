import { version } from '../package.json';
import type { CommandDefinition } from './cli/define-command.ts';
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

const under = (heading: string, commands: readonly CommandDefinition[]) =>
  commands.map((command) => ({ ...command, heading }));

export const program: CommandDefinition = {
  name: 'runctl',
  about: 'Start an Automation run, follow it until it finishes, and get an exit code you can trust.',
  version,
  whenBare: async (context) => (await import('./commands/overview.ts')).showOverview(context),
  examples: [
    ['runctl config', 'set the base URL, API key and project'],
    ['runctl trigger nightly --watch', 'start a run and follow it to its end'],
    ['runctl watch', 'follow the last run again'],
    ['runctl result nightly --field output', 'print the last nightly output'],
  ],
  commands: [
    ...under('Start and watch runs:', [trigger, status, result, watch]),
    ...under('Runs on this machine:', [list, recover]),
    ...under('Set up:', [config, doctor, completion]),
    ...under('Try and learn:', [emulator, explain, help, versionCommand]),
    ...under('Discontinued:', [agent]),
  ],
};
