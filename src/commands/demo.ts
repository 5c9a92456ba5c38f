import { defineCommand } from '../cli/define-command.ts';
import { type Context, variantOf } from '../context.ts';
import { findBuiltInScenario } from '../emulator/built-in-scenarios.ts';
import { linesOf, printSentence, themeOf } from '../render/output.ts';
import { wrap } from '../render/wrap.ts';
import { list } from './list.ts';
import { result } from './result.ts';
import { trigger } from './trigger.ts';

const automation = 'nightly-report';

/** Touches no settings and no journal of the user. */
export const demo = defineCommand({
  name: 'demo',
  about: 'the whole tour in one command: emulator, trigger, watch, result',
  async run(_, __, context) {
    const { withScratchFolder } = await import('../emulator/rehearse.ts');
    return withScratchFolder((folder) => play(folder, context));
  },
});

async function play(folder: string, context: Context): Promise<number> {
  const { stderr, clock, random } = context;
  const theme = await themeOf(stderr, context);
  const scenario = findBuiltInScenario('demo') ?? {};
  const { settingsFor } = await import('../emulator/rehearse.ts');
  const { startEmulator } = await import('../emulator/server.ts');
  const emulator = await startEmulator({ scenario, random, nowMs: clock.nowMs });
  // Nothing else of the environment: no proxy, no profile, no key of the user's.
  const env = {
    ...settingsFor(emulator),
    RUNCTL_CONFIG_DIR: folder,
    RUNCTL_STATE_DIR: folder,
    TERM: context.env.TERM,
  };
  const rehearsal = variantOf(context, { env });
  const type = (about: string, command: string) =>
    stderr.write(
      `\n${theme.dim(wrap(`# ${about}`.split(' '), linesOf(stderr)))}\n${theme.dim('$')} ${theme.strong(`runctl ${command}`)}\n`,
    );
  try {
    await printSentence(
      `The service is played by the built-in emulator at ${emulator.url}: no account, nothing is kept.`,
      context,
    );
    type('start a run and follow it to its end; the service stumbles once on the way', `trigger ${automation} --watch`);
    const code = await trigger.run({ automations: [automation] }, { watch: true }, rehearsal);
    if (context.signal.aborted) return code;
    type('data for scripts: any field of the result', 'result --field summary.succeededSteps --field output');
    await result.run({ run: '@last' }, { field: ['summary.succeededSteps', 'output'] }, rehearsal);
    type('what this machine has started', 'list');
    await list.run({}, {}, rehearsal);
    stderr.write(
      `\n${theme.dim('Rehearse your own scripts against it:')} ${theme.command('runctl emulator --help')}\n`,
    );
    return code;
  } finally {
    await emulator.close();
  }
}
