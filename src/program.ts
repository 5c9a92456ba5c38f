import { version } from '../package.json';
import type { CommandDefinition } from './cli/define-command.ts';
import { helpCommand } from './cli/help.ts';
import { agent } from './commands/agent.ts';
import { check } from './commands/check.ts';
import { completion } from './commands/completion.ts';
import { config } from './commands/config.ts';
import { demo } from './commands/demo.ts';
import { emulator } from './commands/emulator.ts';
import { explain } from './commands/explain.ts';
import { list } from './commands/list.ts';
import { recover } from './commands/recover.ts';
import { result } from './commands/result.ts';
import { schema } from './commands/schema.ts';
import { stats } from './commands/stats.ts';
import { status } from './commands/status.ts';
import { trigger } from './commands/trigger.ts';
import { watch } from './commands/watch.ts';

const under = (heading: string, commands: readonly CommandDefinition[]) =>
  commands.map((command) => ({ ...command, heading }));

/** Every command, in the order of the help. */
export const program: CommandDefinition = {
  name: 'runctl',
  about: 'Starts runs of remote Automations exactly once, follows them to their end and tells the truth about it.',
  version,
  examples: [
    ['runctl config', 'asks for the address, the key and the project'],
    ['runctl trigger nightly --watch', 'starts a run and follows it to its end'],
    ['runctl watch', 'follows the last run, also after Ctrl-C'],
    ['runctl result --field output', 'what it said, for a script'],
  ],
  commands: [
    ...under('Start and follow:', [trigger, status, result, watch]),
    ...under('Look back:', [list, recover, stats, check]),
    ...under('Set up:', [config, completion]),
    ...under('Try and learn:', [emulator, demo, explain, schema, helpCommand]),
    ...under('Discontinued:', [agent]),
  ],
};
