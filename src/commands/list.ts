import { defineCommand, flag, type OptionValues, option } from '../cli/define-command.ts';
import { outputOptions, settingOptions } from '../cli/options.ts';
import { whole } from '../cli/values.ts';
import { requireBaseUrl, resolveSettings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import type { JournalRun } from '../journal/journal.ts';
import { exitNameOfRun } from '../problems/exit-codes.ts';
import { Problem } from '../problems/problem.ts';
import type { CommandResult } from '../render/command-result.ts';
import { documentOf, type Told } from '../render/document.ts';
import { defaults } from '../runs/defaults.ts';
import { nameOf } from '../runs/run.ts';
import { journalOf } from '../session/connect.ts';

const options = {
  limit: option('--limit <n>', `how many at the most (default: ${defaults.listLimit})`, whole(1, 1_000_000)),
  automation: option('-a, --automation <name>', 'only runs of this automation'),
  state: option('--state <state>', 'only runs last seen in this state'),
  allAddresses: flag('--all-addresses', 'runs of other base addresses too'),
  ...outputOptions,
  ...settingOptions,
};

type ListOptions = OptionValues<typeof options>;

export const list = defineCommand({
  name: 'list',
  about: 'list the runs this machine knows of, newest first',
  options,
  examples: [
    ['runctl list', 'the last twenty runs'],
    ['runctl list --state FAILED --automation nightly', 'those that failed'],
    ['runctl list --limit 1000 --json', 'for a script'],
  ],
  run: (_, options, context) => listRuns(options, context),
});

async function listRuns(options: ListOptions, context: Context): Promise<CommandResult> {
  const settings = await resolveSettings(options, context);
  const baseUrl = options.allAddresses ? undefined : requireBaseUrl(settings);
  const limit = options.limit ?? defaults.listLimit;
  const { automation, state } = options;
  const runs: JournalRun[] = [];
  if (limit > 0) {
    for (const run of journalOf(context, { needed: true }).runs({
      baseUrl,
      automation,
      projectId: options.project,
      state,
    })) {
      runs.push(run);
      if (runs.length >= limit) break;
    }
  }
  const documents = runs.map((run) => documentOf(toldOf(run), context));
  if (runs.length > 0) {
    const { runTable } = await import('../render/run-table.ts');
    const { clock, stdout } = context;
    return { documents, plural: true, text: (theme) => runTable(runs, clock.nowMs(), stdout.columns, theme) };
  }
  const filters = [automation && `of ${automation}`, state && `in the state ${state}`].filter(Boolean);
  const note =
    filters.length > 0
      ? `no run known here ${filters.join(' ')}; \`runctl list\` shows all`
      : 'no runs known here yet; start one with `runctl trigger <automation>`';
  return { documents, plural: true, note: options.quiet ? undefined : note };
}

/** What the journal has of a run or an unresolved trigger. The list does not judge. */
function toldOf({ target, executionId, baseUrl, at, idempotencyKey, ...record }: JournalRun): Told {
  const { status, startedAt, completedAt, creditsCharged } = record;
  const exitName = 'ok';
  const report = { list: { idempotencyKey, at, baseUrl } };
  const given = Object.entries({ status, startedAt, completedAt, creditsCharged }).filter(
    ([, value]) => value !== null,
  );
  const document = Object.fromEntries(given);
  const execution = {
    status: status ?? '',
    startedAt: startedAt ?? undefined,
    completedAt: completedAt ?? undefined,
    document,
  };
  if (executionId === null) {
    const name = 'outcome_unknown';
    const message = `it is not known whether this trigger of ${nameOf(target)} started a run`;
    const problem = new Problem({ name, message, hint: 'resolve it with `runctl recover`', started: 'unknown' });
    return { target, exitName, report, execution, problem };
  }
  const run = { target, executionId };
  if (status === null) {
    const problem = new Problem({ name: 'not_found', message: 'the service no longer knows this run' });
    return { run, exitName, report, execution, problem };
  }
  return { run, exitName, report, execution, outcome: exitNameOfRun(run, status), argument: executionId };
}
