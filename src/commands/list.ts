import { defineCommand, flag, type OptionValues, option } from '../cli/define-command.ts';
import { outputOptions, settingOptions } from '../cli/options.ts';
import { whole } from '../cli/values.ts';
import { requireBaseUrl, resolveSettings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import type { JournalRun } from '../journal/journal.ts';
import type { CommandResult } from '../render/command-result.ts';
import { identityOf } from '../render/document.ts';
import { defaults } from '../runs/defaults.ts';
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
  const documents = runs.map(documentOfRecord);
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

function documentOfRecord({ target, ...run }: JournalRun) {
  const { executionId, status, startedAt, completedAt, creditsCharged, idempotencyKey } = run;
  return { executionId, ...identityOf(target), status, startedAt, completedAt, creditsCharged, idempotencyKey };
}
