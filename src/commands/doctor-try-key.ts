import { parseAutomationArgument } from '../connection/arguments.ts';
import { connect } from '../connection/connect.ts';
import type { CommandContext } from '../context.ts';
import { type CommandResult, type OutputOptions, wantsData } from '../output/command-result.ts';
import { printSentence } from '../output/print-message.ts';
import { defaults } from '../run/limits.ts';
import type { Outcome } from '../run/outcome.ts';
import { usageProblem } from '../run/problem.ts';
import { quotedName } from '../run/quote.ts';
import { requiredValue, type SettingFlags } from '../settings/resolve.ts';
import { renderFindings, reportOf } from './doctor-finding.ts';
import { findingsOf } from './doctor-key-findings.ts';
import { tryKey } from './doctor-key-trial.ts';

/**
 * Runs `runctl doctor --try-key`. It exits with 0 if the trial has shown what the service does with
 * idempotency keys, else with 12.
 */
export async function runKeyTrial(
  automation: string,
  options: SettingFlags & OutputOptions & { yes?: boolean },
  context: CommandContext,
): Promise<CommandResult> {
  const connection = await connect({ ...options, timeout: defaults.timeoutMs }, context);
  const target = parseAutomationArgument(automation, () =>
    requiredValue('project', connection.settings),
  );
  const isAllowed = options.yes || (await isConfirmed(quotedName(target), context));
  if (!isAllowed) return { forPeople: { note: 'Nothing was sent.' } };
  const report = (sentence: string) => {
    if (!options.quiet && !wantsData(options)) printSentence(sentence, context);
  };
  const trial = await tryKey(target, report, connection);
  const { started, problem } = trial;
  const findings = findingsOf(trial, connection.settings);
  // The finding that failed is printed as the problem of the outcome, so the list leaves it out.
  const shown = findings.filter(({ result }) => result !== 'failed');
  const subject = started ? { run: { target, executionId: started.executionId } } : { target };
  const fields = { doctor: reportOf(findings) };
  const outcome: Outcome = problem
    ? { kind: 'problem', problem, ...subject, fields }
    : { kind: 'info', ...subject, fields };
  return {
    outcomes: [outcome],
    forPeople: { text: (theme, lines) => renderFindings(shown, theme, lines) },
  };
}

/** Asks on the terminal. Throws a usage problem if there is none. */
async function isConfirmed(name: string, context: CommandContext): Promise<boolean> {
  const consequence = `one run of ${name}, or two if the service ignores idempotency keys`;
  if (!context.stdin().isTTY || !context.stderr.isTTY) {
    throw usageProblem(`this starts ${consequence}`, 'add `--yes` to allow it');
  }
  const { askLine } = await import('../settings/prompts.ts');
  const answer = await askLine(`This starts ${consequence}. Continue? [y/N] `, context);
  return /^y(es)?$/i.test(answer.trim());
}
