import { type Recovery, recoverTriggers } from '../actions/recover-triggers.ts';
import { defineCommand, flag, type OptionValues, option } from '../cli/define-command.ts';
import { asTyped, eventOptions, outputOptions, settingOptions, triggerGiveUpOptions } from '../cli/options.ts';
import { durationUpTo } from '../cli/values.ts';
import type { Context } from '../context.ts';
import { type ExitName, exitNameOfRun, isInterruptName } from '../problems/exit-codes.ts';
import { inDoubtProblem, type Problem } from '../problems/problem.ts';
import { refusedTriggerProblem } from '../problems/trigger-problems.ts';
import { type DocumentFacts, documentOf } from '../render/document.ts';
import { printProblem, printSentence, wantsData } from '../render/output.ts';
import { defaults } from '../runs/defaults.ts';
import { reasonOf } from '../runs/fault.ts';
import type { JsonObject } from '../runs/json.ts';
import { isFinal, nameOf, type Run } from '../runs/run.ts';
import { connect } from '../session/connect.ts';
import { argumentOf } from '../session/known-run.ts';
import type { Session } from '../session/session.ts';

const options = {
  dryRun: flag('--dry-run', 'list unresolved triggers, and send nothing'),
  maxAgeMs: option(
    '--max-age <duration>',
    `do not send older triggers again (default: ${asTyped(defaults.recoverMaxAgeMs)}; ${asTyped(defaults.keyRetentionMs)} at most)`,
    durationUpTo(defaults.keyRetentionMs),
  ),
  forget: flag('--forget', 'stop tracking triggers that are too old'),
  ...triggerGiveUpOptions,
  ...outputOptions,
  ...eventOptions,
  ...settingOptions,
};

type RecoverOptions = OptionValues<typeof options>;

export const recover = defineCommand({
  name: 'recover',
  about: 'resolve triggers whose answer was lost: finds the run, or starts it if the request never arrived',
  options,
  examples: [
    ['runctl recover --dry-run', 'lists unresolved triggers'],
    ['runctl recover', 'resolves them'],
  ],
  /** Reports each trigger as soon as it is resolved. Ends with 0 when nothing is left unresolved. */
  async run(_, options, context) {
    const session = await connect(options, context, { needed: true });
    const problems: Problem[] = [];
    const documents: JsonObject[] = [];
    for await (const recovery of recoverTriggers(options, session)) {
      const report = reportOf(recovery, options, session);
      const { run, problem, facts } = report;
      const document = documentOf(facts, context);
      documents.push(document);
      if (problem) problems.push(problem);
      const about = run ? { run } : { target: recovery.trigger.target };
      context.reporter.observe({ event: 'run_done', ...about, document, pending: 0 });
      print(report, recovery.kind === 'unresolved', options, context);
    }
    const isNothing = documents.length === 0 && !options.quiet;
    return {
      documents,
      note: isNothing ? 'Nothing to recover.' : undefined,
      exitNames: [exitNameOf(problems, options)],
    };
  },
});

function exitNameOf(problems: Problem[], { dryRun }: RecoverOptions): ExitName {
  const interruption = problems.find(({ facts }) => isInterruptName(facts.name));
  if (interruption) return interruption.facts.name;
  return problems.length > 0 && !dryRun ? 'outcome_unknown' : 'ok';
}

/** What became of a trigger, for people and for programs. */
interface Report {
  sentence: string;
  run?: Run;
  problem?: Problem; // if the trigger stays unresolved
  facts: DocumentFacts;
}

function print({ sentence, run, problem }: Report, isUrgent: boolean, options: RecoverOptions, context: Context): void {
  if (problem) printProblem(problem.with({ message: sentence }), context);
  if (problem || wantsData(options)) return;
  if (run) context.stdout.write(`${run.executionId}\n`);
  if (isUrgent || !options.quiet) printSentence(sentence, context);
}

/** A run that was found does not change the exit code, whatever its status. */
function reportOf(recovery: Recovery, { dryRun }: RecoverOptions, session: Session): Report {
  const { target, idempotencyKey, at, reason } = recovery.trigger;
  const about = `the trigger of ${nameOf(target)} at ${at}`;
  const report = { recover: { at, resolution: recovery.kind, reason: reason ?? null } };
  const facts = { idempotencyKey, safeToRepeat: true, reruns: [] };
  const withoutRun = (sentence: string, problem?: Problem): Report => {
    const trigger = { how: 'unknown', started: 'unknown', ...facts } as const;
    return { sentence, problem, facts: { target, problem, exitName: dryRun ? 'ok' : undefined, report, trigger } };
  };
  switch (recovery.kind) {
    case 'found': {
      const { execution, how, started } = recovery.start;
      const { executionId, status } = execution;
      const run = { target, executionId };
      const sentence =
        how === 'recovered'
          ? `${about} had started run ${executionId}, which is ${status}`
          : `${about} was sent again and started run ${executionId}`;
      const outcome = isFinal(target, status) ? exitNameOfRun(run, status) : 'ok';
      const trigger = { how, started, ...facts };
      const argument = argumentOf(run, session);
      return { sentence, run, facts: { run, execution, outcome, exitName: 'ok', argument, report, trigger } };
    }
    case 'refused': {
      const sentence = `${about} started no run: ${reasonOf(recovery.fault)}`;
      const problem = refusedTriggerProblem(recovery.fault, { target });
      const trigger = { how: 'not_started', started: 'no', ...facts } as const;
      return { sentence, facts: { target, problem, exitName: 'ok', report, trigger } };
    }
    case 'superseded':
      return withoutRun(`${about} is not sent again: a later trigger of ${nameOf(target)} has a run`);
    case 'forgotten':
      return withoutRun(`${about} is no longer tracked; it may have started a run`);
    case 'unresolved':
      return withoutRun(`${about} has no known outcome${reason ? ` (${reason})` : ''}`);
    case 'left': {
      const message = `${about} is left to the process that is sending it`;
      return withoutRun(message, inDoubtProblem({ message }));
    }
    case 'too_old':
      return withoutRun(recovery.problem.message, recovery.problem);
    default:
      return withoutRun(`${about} is unresolved: ${recovery.problem.message}`, recovery.problem);
  }
}
