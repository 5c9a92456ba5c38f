import { defineCommand, type OptionValues } from '../cli/define-command.ts';
import {
  exitStatus,
  giveUpOptions,
  outputOptions,
  resultOptions,
  runArgument,
  runOptions,
  settingOptions,
} from '../cli/options.ts';
import type { Context } from '../context.ts';
import { usageProblem } from '../problems/problem.ts';
import type { CommandResult } from '../render/command-result.ts';
import { documentOf } from '../render/document.ts';
import { wantsData } from '../render/output.ts';
import { summary } from '../render/summary.ts';
import { isFinal } from '../runs/run.ts';
import { parseRunArgument } from '../session/arguments.ts';
import { connect } from '../session/connect.ts';
import { findRun } from '../session/find-run.ts';
import { pollOnce } from '../session/poll-once.ts';
import { exitNameOfRun } from './status.ts';

const options = {
  exitStatus,
  ...runOptions,
  ...giveUpOptions,
  ...resultOptions,
  ...outputOptions,
  ...settingOptions,
};

type ResultOptions = OptionValues<typeof options>;

export const result = defineCommand({
  name: 'result',
  about: "print a run's output, step summary and error",
  arguments: { run: runArgument },
  options,
  examples: [
    ['runctl result', 'of the last run'],
    ['runctl result nightly@last --field output > report.txt', 'the output, byte for byte'],
    ['runctl result --json', 'all that the service said'],
  ],
  run: ({ run = '@last' }, options, context) => printResult(run, options, context),
});

async function printResult(runArgument: string, options: ResultOptions, context: Context): Promise<CommandResult> {
  const named = parseRunArgument(runArgument);
  const session = await connect(options, context, { needed: named.kind === 'last' });
  const known = findRun(named, options, session);
  const { run } = known;
  if (run.target.family === 'agent') {
    throw usageProblem(
      'an agent run has no result, only a state',
      `\`runctl agent status ${run.target.agentId} ${run.executionId}\``,
    );
  }
  const polled = await pollOnce('result', known, options, session);
  if (polled.kind === 'failed') throw polled.problem;
  const found = polled.value;
  const isFinished = isFinal(run.target, found.status);
  if (isFinished) session.journal.recordStatus(session.baseUrl, run, found);
  const exitName = options.exitStatus ? exitNameOfRun(run, found.status) : 'ok';
  const answer = { exitNames: [exitName], documents: [documentOf({ run, result: found })] };
  if (wantsData(options) || (options.quiet && exitName === 'ok')) return answer;
  // Duration and credits stand in the status alone; a summary without them is better than none.
  await session.limiter.take(context.signal);
  const polledStatus = await session.service.status(run, context.signal);
  const execution = polledStatus.kind === 'ok' ? polledStatus.value : undefined;
  return {
    ...answer,
    text: (theme, lines) => summary({ run, execution, result: found }, theme, lines),
    note: isFinished ? undefined : `the run is still going: follow it with \`runctl watch ${run.executionId}\``,
  };
}
