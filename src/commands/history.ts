import { defineCommand } from '../cli/define-command.ts';
import { outputOptions, periodOptions, selectedAutomations, settingOptions } from '../cli/options.ts';
import { periodOf } from '../cli/values.ts';
import { valueIfGiven } from '../config/setting-table.ts';
import { resolveWithoutApiKey } from '../config/settings.ts';
import { parseAutomationNames } from '../connection/arguments.ts';
import { journalOf } from '../connection/open-journal.ts';
import { nothingRecorded } from '../connection/other-base-url.ts';
import { openMs } from '../journal/journal.ts';
import type { Outcome } from '../problems/outcome.ts';
import { documentOf } from '../render/document.ts';
import type { HistoryEvent } from '../runs/history-event.ts';
import { unknownNote } from './list-notes.ts';

const usualPeriodMs = 86_400_000;

const options = {
  ...periodOptions('only what happened', ' (default: 24h)'),
  ...outputOptions,
  ...settingOptions,
};

export const history = defineCommand({
  name: 'history',
  about: 'show the journal, oldest first: triggers, responses, finished runs and hooks',
  arguments: { automations: selectedAutomations },
  options,
  examples: [
    ['runctl history', 'the last 24 hours'],
    ['runctl history nightly --since 7d', 'one automation in the last week'],
    ['runctl history --json', 'one JSON document per line, for a script'],
  ],
  /** Sends nothing, and needs no setting: without a base URL, what was done at every base URL is shown. */
  async run({ automations: names }, { since, until, quiet, ...flags }, context) {
    const settings = resolveWithoutApiKey(flags, context.env);
    const baseUrl = valueIfGiven(settings.baseUrl);
    const automations = parseAutomationNames(names, valueIfGiven(settings.project));
    const nowMs = context.clock.nowMs();
    const { sinceMs, untilMs, when } = periodOf({ since, until }, nowMs, usualPeriodMs);
    const journal = journalOf(context, { needed: true });
    const events = journal.history({ baseUrl, automations, sinceMs, untilMs });
    if (events.length === 0) {
      const filter = { automations, sinceMs };
      const nothing = nothingRecorded('history', { names, when: when() }, { journal, baseUrl, context }, filter);
      return { documents: [], omission: quiet ? undefined : nothing };
    }
    const runs = [...journal.runs({ baseUrl, automations, sinceMs: Math.min(sinceMs, nowMs - openMs) })];
    const { historyTable } = await import('../render/history-table.ts');
    return {
      documents: events.map((event) => documentOf(outcomeOfEvent(event), context)),
      note: quiet ? undefined : unknownNote(runs, nowMs, journal),
      text: (theme, { columns }) => historyTable(events, theme, { columns, hasHeading: !quiet }),
    };
  },
});

/** The run of a refusal is another's: it is named apart. */
function outcomeOfEvent({ target, executionId, ...event }: HistoryEvent): Outcome {
  const { by = null, process = null, idempotencyKey = null, what } = event;
  const isOther = ['refused', 'repeat_refused', 'response_lost'].includes(what);
  const run = executionId === undefined || isOther ? undefined : { target, executionId };
  const activeExecutionId = isOther ? executionId : undefined;
  return { target, run, activeExecutionId, report: { history: { ...event, by, process, idempotencyKey } } };
}
