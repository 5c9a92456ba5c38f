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
import type { RunOrTarget } from '../runs/events.ts';
import { reasonOf } from '../runs/fault.ts';
import type { JsonObject } from '../runs/json.ts';
import { isFinal, nameOf } from '../runs/run.ts';
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
    const recoveries: Recovery[] = [];
    const documents: JsonObject[] = [];
    for await (const recovery of recoverTriggers(options, session)) {
      recoveries.push(recovery);
      const document = documentOf(documentFactsOf(recovery, options, session), context);
      documents.push(document);
      context.reporter.observe({ event: 'run_done', ...aboutOf(recovery), document, pending: 0 });
      report(recovery, options, context);
    }
    const isNothing = recoveries.length === 0 && !options.quiet;
    return {
      documents,
      plural: true,
      note: isNothing ? 'Nothing to recover.' : undefined,
      exitNames: [exitNameOf(recoveries, options)],
    };
  },
});

function exitNameOf(recoveries: Recovery[], { dryRun }: RecoverOptions): ExitName {
  const problems = recoveries.flatMap((recovery) => problemOf(recovery) ?? []);
  const interruption = problems.find(({ facts }) => isInterruptName(facts.name));
  if (interruption) return interruption.facts.name;
  return problems.length > 0 && !dryRun ? 'outcome_unknown' : 'ok';
}

function problemOf(recovery: Recovery): Problem | undefined {
  if (recovery.kind === 'left') return inDoubtProblem({ message: sentenceOf(recovery) });
  return 'problem' in recovery ? recovery.problem : undefined;
}

function report(recovery: Recovery, options: RecoverOptions, context: Context): void {
  const { kind } = recovery;
  const problem = problemOf(recovery);
  if (problem) printProblem(problem.with({ message: sentenceOf(recovery) }), context);
  if (problem || wantsData(options)) return;
  if (kind === 'found') context.stdout.write(`${recovery.start.execution.executionId}\n`);
  if (kind === 'unresolved' || !options.quiet) printSentence(sentenceOf(recovery), context);
}

function sentenceOf(recovery: Recovery): string {
  const { target, at, reason } = recovery.trigger;
  const about = `the trigger of ${nameOf(target)} at ${at}`;
  switch (recovery.kind) {
    case 'found': {
      const { how, execution } = recovery.start;
      const { executionId, status } = execution;
      return how === 'recovered'
        ? `${about} had started run ${executionId}, which is ${status}`
        : `${about} had not arrived; it was sent again and started run ${executionId} now`;
    }
    case 'refused':
      return `${about} started no run: ${reasonOf(recovery.fault)}`;
    case 'superseded':
      return `${about} is not sent again: a later trigger of ${nameOf(target)} has a run`;
    case 'forgotten':
      return `${about} is no longer tracked; it may have started a run`;
    case 'left':
      return `${about} is left to the process that is sending it`;
    case 'unresolved':
      return `${about} has no known outcome${reason ? ` (${reason})` : ''}`;
    case 'too_old':
      return recovery.problem.message;
    default:
      return `${about} is unresolved: ${recovery.problem.message}`;
  }
}

function aboutOf({ trigger: { target }, ...recovery }: Recovery): RunOrTarget {
  if (recovery.kind !== 'found') return { target };
  return { run: { target, executionId: recovery.start.execution.executionId } };
}

/** A run that was found does not change the exit code, whatever its status. */
function documentFactsOf(recovery: Recovery, { dryRun }: RecoverOptions, session: Session): DocumentFacts {
  const { trigger, kind } = recovery;
  const { target, idempotencyKey, at, reason } = trigger;
  const report = { recover: { at, resolution: kind, reason: reason ?? null } };
  const facts = { idempotencyKey, safeToRepeat: true, reruns: [] };
  if (kind === 'found') {
    const { execution, how, started } = recovery.start;
    const run = { target, executionId: execution.executionId };
    const outcome = isFinal(target, execution.status) ? exitNameOfRun(run, execution.status) : 'ok';
    const argument = argumentOf(run, session);
    return { run, execution, outcome, exitName: 'ok', argument, report, trigger: { how, started, ...facts } };
  }
  if (kind === 'refused') {
    const problem = refusedTriggerProblem(recovery.fault, { target });
    return { target, problem, exitName: 'ok', report, trigger: { how: 'not_started', started: 'no', ...facts } };
  }
  const problem = problemOf(recovery);
  const exitName = dryRun ? 'ok' : undefined;
  return { target, problem, exitName, report, trigger: { how: 'unknown', started: 'unknown', ...facts } };
}
