import { defineCommand, type OptionValues } from '../cli/define-command.ts';
import { exitStatus, giveUpOptions, outputOptions, runArgument, runOptions, settingOptions } from '../cli/options.ts';
import { type ExitName, exitNameOfStatus } from '../problems/exit-codes.ts';
import type { CommandResult } from '../render/command-result.ts';
import { documentOf } from '../render/document.ts';
import { statusFields } from '../render/fields.ts';
import { isFinal, type Run } from '../runs/run.ts';
import { parseRunArgument } from '../session/arguments.ts';
import { connect } from '../session/connect.ts';
import { findRun, type KnownRun } from '../session/find-run.ts';
import { pollOnce } from '../session/poll-once.ts';
import type { Session } from '../session/session.ts';

const options = { exitStatus, ...runOptions, ...giveUpOptions, ...outputOptions, ...settingOptions };

export type StatusOptions = OptionValues<typeof options>;

export const status = defineCommand({
  name: 'status',
  about: 'look at a run once',
  arguments: { run: runArgument },
  options,
  examples: [
    ['runctl status', 'of the last run'],
    ['runctl status nightly@last --field status', 'the bare state, for a script'],
    ['runctl status --exit-status', 'ends with the code of the run, 124 while it is going'],
  ],
  async run({ run = '@last' }, options, context) {
    const named = parseRunArgument(run);
    const session = await connect(options, context, { needed: named.kind === 'last' });
    return showStatus(findRun(named, options, session), options, session);
  },
});

/** Polls a run and prints its status. Throws a `Problem` where that fails. */
export async function showStatus(known: KnownRun, options: StatusOptions, session: Session): Promise<CommandResult> {
  const { context, journal, baseUrl } = session;
  const polled = await pollOnce('status', known, options, session);
  if (polled.kind === 'failed') throw polled.problem;
  const execution = polled.value;
  journal.recordStatus(baseUrl, known.run, execution);
  const exitName = options.exitStatus ? exitNameOfRun(known.run, execution.status) : 'ok';
  return {
    exitNames: [exitName],
    documents: [documentOf({ ...known, execution })],
    text: (theme, lines) =>
      options.quiet && exitName === 'ok' ? '' : statusFields(known.run, execution, context.clock.nowMs(), theme, lines),
  };
}

/** `--exit-status`: the run's own code, and 124 for a run that has not finished. */
export function exitNameOfRun({ target }: Run, status: string): ExitName {
  return isFinal(target, status) ? exitNameOfStatus(status) : 'watch_timeout';
}
