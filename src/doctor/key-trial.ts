import { createFollowing } from '../actions/following.ts';
import { requireProject, type SettingFlags } from '../config/settings.ts';
import { parseAutomationArgument } from '../connection/arguments.ts';
import { connect } from '../connection/connect.ts';
import type { Context } from '../context.ts';
import { usageProblem } from '../problems/problem.ts';
import { documentOf } from '../render/document.ts';
import type { OutputOptions } from '../render/output.ts';
import { type CommandResult, printSentence, wantsData } from '../render/output.ts';
import { nameOf } from '../runs/run.ts';
import type { KeyTreatment } from '../runs/service.ts';
import { honored, ignored } from './check-keys.ts';
import { type Finding, failed } from './finding.ts';
import { findingLine } from './finding-line.ts';
import { type KeyTrial, tryKey } from './try-key.ts';

type TrialOptions = SettingFlags & OutputOptions & { yes?: boolean };

/** Tries an idempotency key, and exits with 0 if it could be seen what the service does with it, else with 12. */
export async function showKeyTrial(
  automation: string,
  options: TrialOptions,
  context: Context,
): Promise<CommandResult> {
  const connection = await connect(options, context);
  const target = parseAutomationArgument(automation, () => requireProject(connection.settings));
  if (!options.yes && !(await isConfirmed(nameOf(target), context))) return { note: 'Nothing was sent.' };
  const say = (sentence: string) => {
    if (!options.quiet && !wantsData(options)) printSentence(sentence, context);
  };
  const trial = await tryKey(target, say, createFollowing(connection, {}, 1));
  const finding = findingOf(trial);
  const problem = trial.kind === 'unclear' ? trial.problem : undefined;
  const [run] = trial.runs;
  const { exitName: _, advice = null, ...shown } = finding;
  return {
    exitNames: [problem?.facts.name ?? 'ok'],
    documents: [documentOf({ target, run, problem, report: { doctor: [{ ...shown, advice }] } }, context)],
    problems: problem && [{ problem }],
    text: (theme, lines) => (problem ? '' : findingLine(finding, theme, lines)),
    note: trial.kind === 'seen' && !options.quiet ? settingNote(trial.treatment) : undefined,
  };
}

/** The line that says the same on machines whose journal doesn't last. */
const settingNote = (treatment: KeyTreatment) =>
  `This machine's journal has it now. In CI and in containers, where the journal doesn't last, set RUNCTL_IDEMPOTENCY_KEYS=${treatment}, or run \`runctl config set idempotencyKeys ${treatment}\`.`;

async function isConfirmed(name: string, context: Context): Promise<boolean> {
  const what = `this starts one run of ${name}, or two if the service ignores idempotency keys`;
  if (!context.stdin.isTTY || !context.stderr.isTTY) throw usageProblem(what, 'add `--yes` to allow it');
  const { askLine } = await import('../config/prompts.ts');
  const answer = await askLine(`${what[0]?.toUpperCase()}${what.slice(1)}. Continue? [y/N] `, context);
  return /^y(es)?$/i.test(answer.trim());
}

function findingOf(trial: KeyTrial): Finding {
  if (trial.kind === 'unclear') return failed('idempotency_keys', trial.problem);
  const [first, second] = trial.runs.map(({ executionId }) => executionId);
  if (trial.treatment === 'honored') return honored(`honored: the repeated trigger returned the same run (${first})`);
  return ignored(`ignored: the repeated trigger started a second run (${first}, then ${second})`);
}
