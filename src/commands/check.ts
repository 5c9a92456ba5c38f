import { argument, defineCommand, type OptionValues, option } from '../cli/define-command.ts';
import { outputOptions, settingOptions } from '../cli/options.ts';
import { positiveDuration } from '../cli/values.ts';
import { requireBaseUrl, requireProject, resolveSettings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { Problem, usageProblem } from '../problems/problem.ts';
import { shellWord } from '../problems/quote.ts';
import type { CommandResult } from '../render/command-result.ts';
import { type DocumentFacts, documentOf } from '../render/document.ts';
import { cleanLine } from '../render/sanitize.ts';
import { formatAge, formatDuration } from '../runs/duration.ts';
import { type AutomationTarget, lastStatusOf } from '../runs/run.ts';
import { parseAutomationArgument } from '../session/arguments.ts';
import { connect, journalOf } from '../session/connect.ts';
import { endMsOf, isInTime, type LastRuns, lastRunsOf, pollUnfinished } from '../session/last-runs.ts';

const options = {
  withinMs: option('--within <duration>', 'how long ago a run may have completed (required)', positiveDuration),
  ...outputOptions,
  ...settingOptions,
};

type CheckOptions = OptionValues<typeof options>;

export const check = defineCommand({
  name: 'check',
  about: 'has each automation completed lately? ends with 15 where one has not',
  arguments: { automations: argument('<automation...>', 'name, or <projectId>/<name>') },
  options,
  examples: [
    ['runctl check nightly --within 26h', '0 if a run completed within 26 hours, else 15'],
    ['runctl check nightly weekly --within 8d --quiet', 'silent unless one is overdue, for cron'],
  ],
  run: ({ automations }, options, context) => checkAutomations(automations, options, context),
});

/** Reads the journal; asks the service only about unfinished runs that may have completed in time. */
async function checkAutomations(names: string[], options: CheckOptions, context: Context): Promise<CommandResult> {
  const { withinMs } = options;
  if (withinMs === undefined) throw usageProblem('`check` needs `--within`', 'for a daily run: `--within 26h`');
  const settings = await resolveSettings(options, context);
  const baseUrl = requireBaseUrl(settings);
  const targets = names.map((name) => parseAutomationArgument(name, () => requireProject(settings)));
  const journal = journalOf(context, { needed: true });
  const nowMs = context.clock.nowMs();
  const sinceMs = nowMs - withinMs;
  const checks: Check[] = [];
  for (const target of targets) {
    let runs = lastRunsOf(journal, baseUrl, target, sinceMs);
    if (!isInTime(runs, sinceMs)) runs = await pollUnfinished(runs, () => connect(options, context));
    const isOverdue = !isInTime(runs, sinceMs);
    checks.push({ target, runs, problem: isOverdue ? overdueProblem(target, runs, { withinMs, nowMs }) : undefined });
  }
  const inTime = checks.filter(({ problem }) => !problem);
  return {
    exitNames: checks.map(({ problem }) => problem?.facts.name ?? 'ok'),
    documents: checks.map((each) => documentOf(documentFactsOf(each), context)),
    plural: true,
    text: () => (options.quiet ? '' : inTime.map((each) => `${sentenceOf(each, nowMs)}\n`).join('')),
    problems: checks.flatMap(({ problem }) => (problem ? [{ problem }] : [])),
  };
}

interface Check {
  target: AutomationTarget;
  runs: LastRuns;
  /** Where it is overdue. */
  problem?: Problem;
}

const sentenceOf = ({ target, runs }: Check, nowMs: number) =>
  `${cleanLine(target.automationName)} completed ${runs.completed ? formatAge(nowMs - endMsOf(runs.completed)) : ''} ago`;

interface Limits {
  withinMs: number;
  nowMs: number;
}

function overdueProblem({ automationName }: AutomationTarget, runs: LastRuns, { withinMs, nowMs }: Limits): Problem {
  const { last, completed, failedPoll } = runs;
  const agoOf = (run: typeof last) => run && `${formatAge(nowMs - endMsOf(run))} ago`;
  const never = last ? 'not completed, as far as this machine knows' : 'no known run on this machine';
  const parts = [
    `${automationName} has ${completed ? `completed ${agoOf(completed)}` : never}; ${formatDuration(withinMs)} are allowed`,
    last && last !== completed && `its last run was ${lastStatusOf(last)} ${agoOf(last)}`,
    failedPoll && `run ${failedPoll.executionId} could not be polled: ${failedPoll.problem.message}`,
  ];
  const hint = `see its runs with \`runctl list --automation ${shellWord(automationName)}\``;
  return new Problem({ name: 'overdue', message: parts.filter(Boolean).join('; '), hint });
}

function documentFactsOf({ target, runs, problem }: Check): DocumentFacts {
  const { completed, last } = runs;
  const executionId = completed?.executionId;
  const check = {
    isOverdue: problem !== undefined,
    lastCompletedAt: completed ? new Date(endMsOf(completed)).toISOString() : null,
    lastStatus: last ? lastStatusOf(last) : null,
  };
  return { target, run: executionId ? { target, executionId } : undefined, problem, report: { check } };
}
