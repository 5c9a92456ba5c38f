import { requireBaseUrl, resolveSettings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import type { JournalRun } from '../journal/journal.ts';
import { identityOf } from '../render/document.ts';
import { type OutputOptions, printDocuments, printSentence, themeOf, wantsData } from '../render/output.ts';
import { runTable } from '../render/run-table.ts';
import { defaults } from '../runs/defaults.ts';
import { type ConnectOptions, journalOf } from '../session/connect.ts';

export interface ListOptions extends ConnectOptions, OutputOptions {
  limit?: number;
  automation?: string;
  state?: string;
  allAddresses?: boolean;
}

/** `runctl list`: the runs this machine knows of, newest first, from the journal. */
export async function list(options: ListOptions, context: Context): Promise<number> {
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
  if (wantsData(options)) {
    printDocuments(runs.map(documentOfRecord), { ...options, plural: true }, context);
  } else if (runs.length > 0) {
    const theme = await themeOf(context.stdout, context);
    context.stdout.write(runTable(runs, context.clock.nowMs(), context.stdout.columns, theme));
  } else if (!options.quiet) {
    const filters = [automation && `of ${automation}`, state && `in the state ${state}`].filter(Boolean);
    await printSentence(
      filters.length > 0
        ? `no run known here ${filters.join(' ')}; \`runctl list\` shows all`
        : 'no runs known here yet; start one with `runctl trigger <automation>`',
      context,
    );
  }
  return 0;
}

function documentOfRecord({ target, ...run }: JournalRun) {
  const { executionId, status, startedAt, completedAt, creditsCharged, idempotencyKey } = run;
  return { executionId, ...identityOf(target), status, startedAt, completedAt, creditsCharged, idempotencyKey };
}
