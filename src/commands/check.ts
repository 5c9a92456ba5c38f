import { defineCommand, option } from '../cli/define-command.ts';
import { automationArguments, outputOptions, settingOptions } from '../cli/options.ts';
import { typedDuration } from '../cli/values.ts';
import { need, resolveWithoutApiKey } from '../config/settings.ts';
import { parseAutomationArgument } from '../connection/arguments.ts';
import { connect } from '../connection/connect.ts';
import type { Connection } from '../connection/connection.ts';
import { journalOf } from '../connection/open-journal.ts';
import { otherBaseUrl, useBaseUrl } from '../connection/other-base-url.ts';
import { pollRun } from '../connection/poll-once.ts';
import type { Journal, JournalRun } from '../journal/journal.ts';
import { isInterruptName } from '../problems/exit-codes.ts';
import type { Outcome } from '../problems/outcome.ts';
import { Problem, usageProblem } from '../problems/problem.ts';
import { automationArgumentOf } from '../problems/quote.ts';
import { documentOf } from '../render/document.ts';
import { defaults } from '../runs/defaults.ts';
import { type AutomationTarget, runLimitMs } from '../runs/run.ts';
import { didTheWork, lastStatusOf } from '../runs/statuses.ts';
import { exactAgo } from '../runs/time-text.ts';
import { sanitizeLine } from '../sanitize.ts';

const options = {
  within: option('--within <duration>', 'time within which a run must have completed (required)', typedDuration),
  ...outputOptions,
  ...settingOptions,
};

export const check = defineCommand({
  name: 'check',
  about: "check that every automation has completed recently; exit with 15 if one hasn't",
  arguments: { automations: automationArguments },
  options,
  examples: [
    ['runctl check nightly --within 26h', '0 if a run completed within 26 hours, else 15'],
    ['runctl check nightly weekly --within 8d --quiet', 'silent unless one is overdue; for cron'],
  ],
  /** Reads the journal; asks the service only about unfinished runs that may have completed in time. */
  async run({ automations: names }, options, context) {
    const { within } = options;
    if (within === undefined) throw usageProblem('`check` needs `--within`', 'for a daily run: `--within 26h`');
    const settings = resolveWithoutApiKey(options, context.env);
    const baseUrl = need('baseUrl', settings);
    const targets = names.map((name) => parseAutomationArgument(name, () => need('project', settings)));
    const journal = journalOf(context, { needed: true });
    const nowMs = context.clock.nowMs();
    const sinceMs = nowMs - within.ms;
    let connected: Promise<Connection> | undefined;
    // An API key from a pipe can be read only once.
    const connectOnce = () => {
      connected ??= connect(options, context);
      return connected;
    };
    const checks: Check[] = [];
    for (const target of targets) {
      let runs = lastRunsOf(journal, baseUrl, target, sinceMs);
      if (!isInTime(runs, sinceMs)) runs = await pollUnfinished(runs, connectOnce);
      const isOverdue = !isInTime(runs, sinceMs);
      const otherUrl = runs.last ? undefined : otherBaseUrl({ journal, baseUrl }, { target, hasRun: true });
      const isUnresolved = isOverdue && journal.unresolvedTriggers({ baseUrl, target }).length > 0;
      const facts = { within: within.text, nowMs, otherUrl, isUnresolved };
      checks.push({ target, runs, problem: isOverdue ? overdueProblem(target, runs, facts) : undefined });
    }
    const inTime = checks.filter(({ problem }) => !problem);
    return {
      exitNames: checks.map(({ problem }) => problem?.facts.name ?? 'ok'),
      documents: checks.map((each) => documentOf(outcomeOfCheck(each), context)),
      text: () => (options.quiet ? '' : inTime.map((each) => `${overdueSentence(each, nowMs)}\n`).join('')),
      problems: checks.flatMap(({ problem }) => (problem ? [{ problem }] : [])),
    };
  },
});

interface Check {
  target: AutomationTarget;
  runs: LastRuns;
  /** Set if the automation is overdue. */
  problem?: Problem;
}

const overdueSentence = ({ target, runs }: Check, nowMs: number) =>
  `${sanitizeLine(target.automationName)} completed ${runs.completed ? exactAgo(nowMs - finishedMsOf(runs.completed)) : ''}`;

/** `otherUrl` is a base URL for which the journal has the automation's runs, if it has none for the current one. */
function overdueProblem(
  target: AutomationTarget,
  runs: LastRuns,
  {
    within,
    nowMs,
    otherUrl,
    isUnresolved,
  }: { within: string; nowMs: number; otherUrl?: string; isUnresolved: boolean },
): Problem {
  const { last, completed, failedPoll } = runs;
  const agoOf = (run: typeof last) => run && exactAgo(nowMs - finishedMsOf(run));
  const place = otherUrl ? `for this base URL, but for ${otherUrl}` : 'on this machine';
  const known = last || isUnresolved ? 'no completed run is recorded on this machine' : `no runs are recorded ${place}`;
  const parts = [
    `${target.automationName} has not completed within ${within}: ${completed ? `it last completed ${agoOf(completed)}` : known}`,
    last && last !== completed && `its last run: ${lastStatusOf(last)} ${agoOf(last)}`,
    isUnresolved && 'a trigger has no recorded response and may have started a run',
    failedPoll && `run ${failedPoll.executionId} couldn't be polled: ${failedPoll.problem.message}`,
  ];
  const next = () => {
    if (isUnresolved) return '`runctl recover`';
    if (last) return `see its runs with \`runctl list ${automationArgumentOf(target)}\``;
    return otherUrl ? useBaseUrl(otherUrl) : 'check the name: `runctl list` shows the runs of this machine';
  };
  return new Problem({ name: 'overdue', message: parts.filter(Boolean).join('; '), hint: next() });
}

function outcomeOfCheck({ target, runs, problem }: Check): Outcome {
  const { completed, last } = runs;
  const executionId = completed?.executionId;
  const check = {
    isOverdue: problem !== undefined,
    lastCompletedAt: completed ? new Date(finishedMsOf(completed)).toISOString() : null,
    lastStatus: last ? lastStatusOf(last) : null,
  };
  return { target, run: executionId ? { target, executionId } : undefined, problem, report: { check } };
}

/** What the journal says about the last runs of an automation. */
interface LastRuns {
  last?: JournalRun;
  completed?: JournalRun;
  /** Runs that may have completed in time, but aren't recorded as finished; newest first. */
  unfinished: (JournalRun & { executionId: string })[];
  failedPoll?: { executionId: string; problem: Problem };
}

const mostRuns = 1000;

/** Reads back to the newest run that COMPLETED, but no further than a run could matter. */
function lastRunsOf(journal: Journal, baseUrl: string, target: AutomationTarget, sinceMs: number): LastRuns {
  const found: LastRuns = { unfinished: [] };
  let read = 0;
  for (const run of journal.runs({ baseUrl, target })) {
    const { executionId, status } = run;
    if (executionId === null) continue;
    found.last ??= run;
    const mayBeInTime = Date.parse(run.at) >= sinceMs - runLimitMs;
    if (!mayBeInTime && ++read > mostRuns) break;
    if (status !== null && run.isFinal) {
      if (!didTheWork(status)) continue;
      found.completed = run;
      break;
    }
    if (status !== null && mayBeInTime) found.unfinished.push({ ...run, executionId });
  }
  return found;
}

/** When a run finished or was last seen unfinished, in milliseconds since 1970. Times of a damaged record don't count. */
const finishedMsOf = ({ completedAt, startedAt, at }: JournalRun): number =>
  [completedAt, startedAt].map((time) => Date.parse(time ?? '')).find((ms) => !Number.isNaN(ms)) ?? Date.parse(at);

const isInTime = ({ completed }: LastRuns, sinceMs: number): boolean =>
  completed !== undefined && finishedMsOf(completed) >= sinceMs;

const mostPolls = 20;

/** Polls each unfinished run once, newest first, until one has COMPLETED or a poll fails. */
async function pollUnfinished(runs: LastRuns, connect: () => Promise<Connection>): Promise<LastRuns> {
  let { last } = runs;
  let connection: Connection | undefined;
  for (const run of runs.unfinished.slice(0, mostPolls)) {
    const { target, executionId } = run;
    try {
      connection ??= await connect();
      const { polled } = await pollRun({ target, executionId }, defaults.giveUpAfterMs, connection);
      if (polled.kind === 'failed') throw polled.problem;
      const { status, startedAt = null, completedAt = null } = polled.value;
      const seen = { ...run, status, startedAt, completedAt };
      if (last?.executionId === executionId) last = seen;
      if (didTheWork(status)) return { ...runs, last, completed: seen };
    } catch (error) {
      if (!(error instanceof Problem) || isInterruptName(error.facts.name)) throw error;
      return { ...runs, last, failedPoll: { executionId, problem: error } };
    }
  }
  return { ...runs, last };
}
