import { recoverTriggers } from '../actions/recover-triggers.ts';
import { type RecoveryReport, reportOfRecovery } from '../actions/recovery-report.ts';
import { argument, defineCommand, flag, type OptionValues, option } from '../cli/define-command.ts';
import { asTyped, eventOptions, outputOptions, settingOptions, triggerGiveUpOptions } from '../cli/options.ts';
import { durationUpTo } from '../cli/values.ts';
import { valueIfGiven } from '../config/setting.ts';
import type { Context } from '../context.ts';
import { type ExitName, isInterruptName } from '../problems/exit-codes.ts';
import type { Problem } from '../problems/problem.ts';
import { documentOf } from '../render/document.ts';
import { printProblem, printSentence, wantsData } from '../render/output.ts';
import { defaults } from '../runs/defaults.ts';
import type { JsonObject } from '../runs/json.ts';
import type { Target } from '../runs/run.ts';
import { parseAutomationName } from '../session/arguments.ts';
import { connect } from '../session/connect.ts';

const options = {
  dryRun: flag('--dry-run', 'list unresolved triggers, and send nothing'),
  maxAgeMs: option(
    '--max-age <duration>',
    `do not send older triggers again (default: ${asTyped(defaults.recoverMaxAgeMs)}; ${asTyped(defaults.keyRetentionMs)} at most)`,
    durationUpTo(defaults.keyRetentionMs),
  ),
  resend: flag('--resend', 'send triggers again even if that may start a second run'),
  ...triggerGiveUpOptions,
  ...outputOptions,
  ...eventOptions,
  ...settingOptions,
};

type RecoverOptions = OptionValues<typeof options>;

export const recover = defineCommand({
  name: 'recover',
  about: 'resolve triggers whose response was lost: find the run, or start it if the request never arrived',
  arguments: { automations: argument('[automation...]', 'name, or <projectId>/<name> (default: all)') },
  options,
  examples: [
    ['runctl recover --dry-run', 'lists unresolved triggers, and says which would be sent'],
    ['runctl recover', 'resolves them'],
    ['runctl recover nightly', 'resolves those of one automation'],
  ],
  /** Reports each trigger as soon as it is resolved. Ends with 0 when nothing is left unresolved. */
  async run({ automations }, options, context) {
    const names = automations.map((name) => parseAutomationName(name));
    const session = await connect(options, context, { needed: true });
    const project = valueIfGiven(session.settings.project);
    const isMeant = (target: Target) =>
      names.length === 0 || names.some((name) => isNamed(target, { projectId: project, ...name }));
    const problems: Problem[] = [];
    const documents: JsonObject[] = [];
    for await (const recovery of recoverTriggers(options, session, isMeant)) {
      const report = reportOfRecovery(recovery, options, session);
      const { run, problem, facts } = report;
      const document = documentOf(facts, context);
      documents.push(document);
      if (problem) problems.push(problem);
      const about = run ? { run } : { target: recovery.trigger.target };
      context.reporter.observe({ event: 'run_done', ...about, document, pending: 0 });
      print(report, options, context);
    }
    const isNothing = documents.length === 0 && !options.quiet;
    return {
      documents,
      note: isNothing ? nothingFor(automations, session.baseUrl) : undefined,
      exitNames: [exitNameOf(problems, options)],
    };
  },
});

function exitNameOf(problems: Problem[], { dryRun }: RecoverOptions): ExitName {
  const interruption = problems.find(({ facts }) => isInterruptName(facts.name));
  if (interruption) return interruption.facts.name;
  return problems.length > 0 && !dryRun ? 'outcome_unknown' : 'ok';
}

/** Without a project, the automation of this name in any project. */
function isNamed(target: Target, { projectId, automationName }: { projectId?: string; automationName: string }) {
  if (target.family === 'agent' || target.automationName !== automationName) return false;
  return projectId === undefined || target.projectId === projectId;
}

function nothingFor(automations: readonly string[], baseUrl: string): string {
  const whose = automations.length === 0 ? '' : ` for ${automations.join(', ')}`;
  return `Nothing to recover${whose} at ${baseUrl}.`;
}

function print(report: RecoveryReport, options: RecoverOptions, context: Context): void {
  const { sentence, run, problem } = report;
  if (problem) printProblem(problem.with({ message: sentence }), context);
  if (problem || wantsData(options)) return;
  if (run) context.stdout.write(`${run.executionId}\n`);
  if (options.dryRun || !options.quiet) printSentence(sentence, context);
}
