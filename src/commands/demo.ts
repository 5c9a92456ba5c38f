import { type CommandDefinition, defineCommand } from '../cli/define-command.ts';
import { runCli } from '../cli/run.ts';
import { type Context, variantOf } from '../context.ts';
import { findBuiltInScenario } from '../emulator/built-in-scenarios.ts';
import { printSentence, themeOf, wrapOptionsOf } from '../render/output.ts';
import { wrap } from '../render/wrap.ts';
import { list } from './list.ts';
import { result } from './result.ts';
import { trigger } from './trigger.ts';

const automation = 'nightly-report';

/** The part of the program that the demo uses. */
const demonstrated: CommandDefinition = { name: 'runctl', about: '', commands: [trigger, result, list] };

/** The demo touches neither the settings nor the journal of the user. */
export const demo = defineCommand({
  name: 'demo',
  about: 'show everything in half a minute, without an account',
  async run(_, __, context) {
    const { withScratchFolder } = await import('../emulator/rehearse.ts');
    return withScratchFolder((folder) => demonstrate(folder, context));
  },
});

async function demonstrate(folder: string, context: Context): Promise<number> {
  const { stderr, clock, random } = context;
  const theme = themeOf(stderr, context);
  const scenario = findBuiltInScenario('demo') ?? {};
  const { settingsFor } = await import('../emulator/rehearse.ts');
  const { startEmulator } = await import('../emulator/server.ts');
  const emulator = await startEmulator({ scenario, random, nowMs: clock.nowMs });
  // The rest of the environment is left out: the proxy, the profile and the API key of the user.
  const env = {
    ...settingsFor(emulator),
    RUNCTL_CONFIG_DIR: folder,
    RUNCTL_STATE_DIR: folder,
    TERM: context.env.TERM,
  };
  const rehearsal = variantOf(context, { env });
  const type = (about: string, command: string) => {
    const comment = theme.dim(wrap(`# ${about}`.split(' '), wrapOptionsOf(stderr)));
    stderr.write(`\n${comment}\n${theme.dim('$')} ${theme.strong(`runctl ${command}`)}\n`);
    return runCli(command.split(' '), demonstrated, rehearsal);
  };
  try {
    printSentence(
      `This demo uses the built-in emulator at ${emulator.url}. It needs no account and keeps nothing.`,
      context,
    );
    const code = await type(
      'start a run and watch it; the service fails once on the way',
      `trigger ${automation} --watch`,
    );
    if (context.signal.aborted) return code;
    await type('print any field of the result, for a script', 'result --field summary.succeededSteps --field output');
    await type('list the runs that were started here', 'list');
    stderr.write('\n');
    printSentence('Test your own scripts against it: `runctl emulator --help`', context);
    return code;
  } finally {
    await emulator.close();
  }
}
